package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/setup/trial"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestReplayCorpus runs every recording through the built module of its source
// and prints a table of source and kind. Each stream is run three times: whole,
// with CRLF byte by byte, and with CR in pieces; and after each call the instance
// is reset, as if the next one were of another answer.
//
//	go test ./host/e2e -run TestReplayCorpus -v
func TestReplayCorpus(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	manifests, err := filepath.Glob(filepath.Join(house.Repository(t), "plugins", "provider", "*", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "source\trecordings\tstream\terror")
	ran := 0
	for _, name := range manifests {
		var m abi.Manifest
		b, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(b, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, corpus := range []string{m.Source, "other"} {
			if corpus == "other" && m.Source != "vLlm" && m.Source != "openAi" {
				continue
			}
			cases, err := plugintest.ReadCorpus(corpus)
			if err != nil {
				t.Logf("%s: recordings are not here: %v", corpus, err)
				continue
			}
			ran++
			passed, total := map[string]int{}, map[string]int{}
			r := replayerOf(t, filepath.Base(filepath.Dir(name)), m.Source)
			r.Strict = true
			for _, c := range cases {
				total[c.Kind]++
				if t.Run(m.Source+"/"+c.Name, func(t *testing.T) { replayCase(t, r, c) }) {
					passed[c.Kind]++
				}
			}
			fmt.Fprintf(w, "%s\t%s\t%d/%d\t%d/%d\n", m.Source, corpus, passed["stream"], total["stream"], passed["error"], total["error"])
		}
	}
	if ran == 0 {
		t.Skip("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set")
	}
	w.Flush()
	t.Logf("\n%s", table.String())
}

// replayerOf loads the built module of the plugin in the folder name.
func replayerOf(t testing.TB, name, source string) *trial.Replayer {
	t.Helper()
	cache := house.CompiledModules(t)
	r, err := trial.OpenReplayer(t.Context(), source, trial.Options{CacheDir: cache}, house.Shipped(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func replayCase(t *testing.T, r *trial.Replayer, c response.Case) {
	rec := trial.Recording{Status: c.Status, Header: http.Header{}, Body: c.Body}
	for name, value := range c.Headers {
		rec.Header.Set(name, value)
	}
	whole := replayed(t, r, rec)
	var want map[string]any
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	for key, value := range want {
		if value == nil && key == "message" {
			continue // the provider gave none; ours is a sentence
		}
		if !same(whole[key], value) {
			t.Errorf("%s = %.300v, want %.300v", key, whole[key], value)
		}
	}
	if c.Kind == "error" {
		return
	}
	for _, end := range []string{"\r\n", "\r"} {
		other := rec
		other.Body = plugintest.LineEnds(c.Body, end)
		other.Rechunk = 1
		if end == "\r" {
			other.Rechunk, other.Seed = 40, uint64(len(c.Body))
		}
		if got := replayed(t, r, other); !reflect.DeepEqual(got, whole) {
			t.Errorf("in pieces of %d with line ends %q: %.300v, want %.300v", other.Rechunk, end, got, whole)
		}
	}
}

func replayed(t *testing.T, r *trial.Replayer, rec trial.Recording) (got map[string]any) {
	t.Helper()
	a, err := r.Aggregate(t.Context(), rec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(a)
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// same compares a value with what was recorded: no text is an empty one, and an
// error is compared by the members that the recording has.
func same(got, want any) bool {
	if want == nil {
		return got == nil || got == ""
	}
	w, ok := want.(map[string]any)
	g, ok2 := got.(map[string]any)
	if ok && ok2 && len(w) == 0 {
		return len(g) > 0 // any error is right
	}
	if !ok || !ok2 || w["message"] == nil {
		return reflect.DeepEqual(got, want)
	}
	for key, value := range w {
		if !same(g[key], value) {
			return false
		}
	}
	return true
}
