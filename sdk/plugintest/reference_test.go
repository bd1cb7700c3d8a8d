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
	const text = `{"events": ["search"], "metrics": [
		{"path": "searches", "kind": "int", "range": [0, 1000], "aggregation": "sum", "noData": "always"},
		{"path": "limit", "kind": "int", "range": [0, 100], "aggregation": "max", "noData": "always"}]}`
	if err := os.WriteFile(manifest, []byte(text), 0o644); err != nil {
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
