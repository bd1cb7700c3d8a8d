package framing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// corpus returns the folder of recorded provider responses. It is not a part of
// the repository: without it the test is skipped.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CORPUS")
	if dir == "" {
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				break
			}
			if root == filepath.Dir(root) {
				t.Fatal("no go.mod above the test's folder")
			}
			root = filepath.Dir(root)
		}
		dir = filepath.Join(root, "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	return dir
}

// TestRecordedStreams cuts every recorded stream in two, with each of the three
// line ends: the events are always the same. LONG=1 cuts long ones at every byte
// offset, too; else it takes some hundred offsets of those, spread evenly.
func TestRecordedStreams(t *testing.T) {
	dir := corpus(t)
	streams := 0
	for _, group := range []string{"openAi", "vLlm", "other"} {
		bodies, err := filepath.Glob(filepath.Join(dir, group, "*", "response.body"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range bodies {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(body), "data:") {
				continue // an error, not a stream
			}
			streams++
			t.Run(group+"/"+filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				t.Parallel()
				recorded(t, string(body))
			})
		}
	}
	if streams < 40 {
		t.Errorf("%d recorded streams, want at least 40", streams)
	}
}

// mostCut bounds the bytes that a stream with one line end is read of in all its
// cuts, where time counts: the time to cut it everywhere grows with the square of
// its length.
const mostCut = 3 << 20

func recorded(t *testing.T, body string) {
	lf := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body)
	o := Options{Framing: abi.FramingAuto, ContentType: "text/event-stream"}
	want, err := cut(o, lf)
	if err != nil || len(want) == 0 {
		t.Fatalf("whole: %d events, error %v; want some and none", len(want), err)
	}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		in := []byte(strings.ReplaceAll(lf, "\n", end))
		c := comparer{want: want}
		c.check(t, fmt.Sprintf("%q by 1 byte", end), o, in, 1)
		step := 1
		if os.Getenv("LONG") == "" {
			step = 1 + len(in)*len(in)/mostCut
		}
		for i := 0; i < len(in); i += step {
			c.check(t, fmt.Sprintf("%q split at %d", end, i), o, in, i)
			if t.Failed() {
				return
			}
		}
	}
}

// A comparer compares events without copying them, since there are many runs.
type comparer struct{ want []event }

// check frames in, in chunks of one byte or split in two at the offset at.
func (c *comparer) check(t *testing.T, how string, o Options, in []byte, at int) {
	t.Helper()
	f := New(o)
	n := 0
	take := func(events []abi.Event, err error) {
		if err != nil {
			t.Errorf("%s: error %v after %d events, want none", how, err, n)
		}
		for _, e := range events {
			if n >= len(c.want) || e.Type != c.want[n].typ || string(e.Data) != c.want[n].data {
				t.Errorf("%s: event %d is %q, want another", how, n, e.Data)
				return
			}
			n++
		}
	}
	if strings.HasSuffix(how, "1 byte") {
		for i := range in {
			take(f.Feed(in[i : i+1]))
		}
	} else {
		take(f.Feed(in[:at]))
		take(f.Feed(in[at:]))
	}
	take(f.End())
	if n != len(c.want) {
		t.Errorf("%s: %d events, want %d", how, n, len(c.want))
	}
}
