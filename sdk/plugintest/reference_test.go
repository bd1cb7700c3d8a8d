package plugintest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/sdk/collector"
	"github.com/parley-search/parley/sdk/plugintest"
)

// hitsManifest is that of [hits].
const hitsManifest = `{"abi": 1, "kind": "collector", "name": "hits", "version": "1.0.0", "events": ["search"], "metrics": [
		{"path": "searches", "kind": "int", "meaning": "m", "events": ["search"], "range": [0, 1000], "aggregation": "sum", "noData": "always"},
		{"path": "limit", "kind": "int", "meaning": "m", "events": ["search"], "range": [0, 100], "aggregation": "max", "noData": "always"}]}`

// hits counts searches in a way that may be wrong.
type hits struct{ Searches, Limit uint64 }

func (h *hits) Observe(e collector.Event) {
	if s := e.Search(); s != nil {
		h.Searches++
		h.Limit = max(h.Limit, uint64(s.Limit))
	}
}

func (h *hits) Flush(m *collector.Metrics) {
	m.Count(0, h.Searches)
	m.UpTo(1, h.Limit, 100)
}

// failures keeps what a comparison fails with.
type failures struct {
	recorder
}

func (f *failures) Errorf(format string, a ...any) {
	f.said = append(f.said, fmt.Sprintf(format, a...))
}

// TestCompare finds a collector that differs from its reference.
func TestCompare(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(manifest, []byte(hitsManifest), 0o644); err != nil {
		t.Fatal(err)
	}
	once := func(any) any { return true }
	for _, tt := range []struct {
		name, limit string
		want        string
	}{
		{"another field", "Search.Offset", "limit ="},
		{"the same", "Search.Limit", ""},
	} {
		f := &failures{recorder{TB: t}}
		d := plugintest.NewCollector(f, &hits{}, manifest)
		d.Compare(plugintest.Reference{"searches": once, "limit": d.Says(tt.limit)})
		if said := strings.Join(f.said, "\n"); !strings.Contains(said, tt.want) || tt.want == "" && said != "" {
			t.Errorf("%s: the comparison fails with %.200q, want %q", tt.name, f.said, tt.want)
		}
	}
}

// TestCompareWithoutRule has a metric without a rule fail, and the others compared.
func TestCompareWithoutRule(t *testing.T) {
	file := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(file, []byte(hitsManifest), 0o644); err != nil {
		t.Fatal(err)
	}
	f := &failures{recorder{TB: t}}
	d := plugintest.NewCollector(f, &hits{}, file)
	d.Compare(plugintest.Reference{"limit": d.Says("Search.Offset")})
	if said := strings.Join(f.said, "\n"); len(f.said) != 2 || !strings.Contains(said, "searches has no rule") || !strings.Contains(said, "limit =") {
		t.Errorf("the comparison fails with %q, want the rule that is missing, and limit", f.said)
	}
	// One whose rule and aggregation do not agree spoils nothing either.
	f.said = nil
	d.Compare(plugintest.Reference{"searches": func(any) any { return "text" }, "limit": d.Says("Search.Limit")})
	if len(f.said) != 1 || !strings.Contains(f.said[0], "metric searches: its rule says") {
		t.Errorf("the comparison fails with %q, want one of searches", f.said)
	}
}
