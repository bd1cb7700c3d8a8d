package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/cmd/parley/bench"
	"github.com/parley-search/parley/host/cli/internal/benchmark"
	"github.com/parley-search/parley/host/e2e/apart"
)

// TestBench measures a little of everything: each subject answers, whole, and
// its cost is told.
func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("builds plugins and starts six processes")
	}
	if apart.Run(t) {
		return
	}
	t.Setenv(reexec, "parley") // for the processes that it starts
	settings, sources := []string{"std"}, []string{"gemini"}
	if os.Getenv(longVariable) != "" {
		settings, sources = []string{"lean", "std"}, []string{"vLlm", "gemini", "anthropic"}
	}
	var out, progress bytes.Buffer
	code := run(t.Context(), []string{
		"bench", "--json", "--rounds", "1", "--streams", "8", "--chunks", "16", "--pause", "1",
		"--source", strings.Join(sources, ","), "--setting", strings.Join(settings, ","), "--part", "streams,plain,open", "--open", "32",
	}, &out, &progress)
	if code != exitOK {
		t.Fatalf("bench ended with %d: %s", code, progress.String())
	}
	var got benchmark.Figures
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	var names []string
	for _, r := range got.Rows {
		names = append(names, r.Setting+" "+r.Source)
		if r.Failed != 0 || r.PerSecond <= 0 || r.ChunkP50 <= 0 || r.WordP50 < r.ChunkP50 || r.WordP99 < r.WordP50 {
			t.Errorf("row %+v, want answers that are whole, and figures", r)
		}
		if _, _, ok := bench.RSS(os.Getpid()); ok && r.Setting != "direct" && r.RSS <= 0 {
			t.Errorf("row %+v, want memory", r)
		}
	}
	want := []string{"direct ", "floor "}
	for _, setting := range settings {
		for _, source := range append(slices.Clone(sources), "search") {
			want = append(want, setting+" "+source)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("rows = %q, want %q\n%s", names, want, progress.String())
	}
	plain := []string{"floor "}
	for _, setting := range settings {
		plain = append(plain, setting+" workspaces", setting+" settings")
	}
	for i, part := range plain {
		if len(got.Plain) != len(plain) || got.Plain[i].Setting+" "+got.Plain[i].Part != part || got.Plain[i].Failed != 0 || got.Plain[i].PerSecond <= 0 {
			t.Fatalf("not streamed: %+v\n%s", got.Plain, progress.String())
		}
	}
	for i, setting := range settings {
		if len(got.Open) != len(settings) || got.Open[i].Setting != setting || got.Open[i].Most < 1 || got.Open[i].Most > 32 || got.Open[i].Failed != 0 {
			t.Fatalf("open: %+v\n%s", got.Open, progress.String())
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"bench", "--rounds", "0"},
		{"bench", "--source", "extract"},
		{"bench", "--setting", "fast"},
		{"bench", "--streams", "1000000"},
		{"bench", "--part", "all"},
		{"bench", "--open", "0"},
	} {
		var out, progress bytes.Buffer
		if code := run(t.Context(), args, &out, &progress); code != exitUsage || progress.Len() == 0 {
			t.Errorf("%v ended with %d: %s; want %d and a reason", args, code, progress.String(), exitUsage)
		}
	}
}
