package figures

import (
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/setup/metrics"
)

func TestWorkspaceNamesAreBounded(t *testing.T) {
	var n names
	for i := range maxNamed {
		if name := strconv.Itoa(i); n.of(name) != name {
			t.Errorf("name %d became %q", i, n.of(name))
		}
	}
	if got := n.of("one more"); got != "other" {
		t.Errorf("a name too many became %q, want other", got)
	}
	if got := n.of("7"); got != "7" {
		t.Errorf("a name known before became %q", got)
	}
}

// full is figures of as many series as a large deployment has, and of what a
// request adds to them.
func full() (*metrics.Registry, *Figures, *httpapi.Served) {
	r := metrics.New()
	f := New(r)
	outcome := chat.Outcome{Source: "openAi", Rounds: 2, Searches: 1, Finish: "stop", Usage: abi.Usage{Prompt: 100, Completion: 20}}
	served := &httpapi.Served{Method: "POST", Status: 200, Took: time.Second, Chat: &outcome, First: time.Second / 2}
	for i := range 2 * maxNamed {
		outcome.Workspace, served.Route = fmt.Sprint("workspace", i), fmt.Sprint("/route", i/2)
		f.Served(served)
	}
	return r, f, served
}

// BenchmarkCount is what counting adds to an answer, the request included.
func BenchmarkCount(b *testing.B) {
	_, f, served := full()
	b.ReportAllocs()
	for b.Loop() {
		f.Served(served)
	}
}

// BenchmarkScrape is one rendering of the figures of a hundred routes and a
// hundred workspaces.
func BenchmarkScrape(b *testing.B) {
	r, _, _ := full()
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Render(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
