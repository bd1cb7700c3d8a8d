package plugintest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
	"github.com/parley-search/parley/sdk/plugintest"
)

// spread is a collector of how latencies are spread, in all and by source.
type spread struct {
	words    collector.Histogram
	bySource collector.By[sourceSpread]
	empty    collector.Sum
	searches collector.Sum
}

type sourceSpread struct {
	words  collector.Histogram
	sketch collector.Sketch
}

var spreadBounds = collector.Bounds{50, 200, 1000}

func (s *spread) Observe(e collector.Event) {
	c := e.Chat()
	if c == nil {
		return
	}
	n := uint64(c.First)
	s.words.Add(spreadBounds, n)
	by := s.bySource.At(uint64(c.SourceName))
	by.words.Add(spreadBounds, n)
	by.sketch.Add(n)
	s.empty.Add(uint64(c.EmptySearches))
	s.searches.Add(uint64(c.Searches))
}

func (s *spread) Flush(m *collector.Metrics) {
	m.Histogram(0, spreadBounds, &s.words)
	for source, by := range s.bySource.All() {
		m.For(source).Histogram(1, spreadBounds, &by.words)
		if n, ok := by.sketch.Percentile(95); ok {
			m.For(source).UpTo(2, n, 3600000)
		}
	}
	m.Ratio(3, uint64(s.empty), uint64(s.searches))
}

const spreadManifest = `{"abi":2,"kind":"collector","name":"spread","version":"1.0.0","features":["histogram","share"],"events":["chat"],"metrics":[
{"path":"words","kind":"histogram","buckets":[50,200,1000],"aggregation":"buckets","noData":"omit","events":["chat"],"meaning":"Milliseconds."},
{"path":"words_by_source","kind":"histogram","buckets":[50,200,1000],"aggregation":"buckets","noData":"omit","events":["chat"],"meaning":"Milliseconds.","by":{"label":"source","vocabulary":"source"}},
{"path":"p95_by_source","kind":"int","range":[0,3600000],"aggregation":"p95","noData":"omit","events":["chat"],"meaning":"Milliseconds.","by":{"label":"source","vocabulary":"source"}},
{"path":"empty","kind":"number","range":[0,9007199254740991],"aggregation":"share","noData":"omit","events":["chat"],"meaning":"Of searches."}]}`

// TestHistograms compares histograms, percentiles by source and shares with plain Go.
func TestHistograms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(file, []byte(spreadManifest), 0o644); err != nil {
		t.Fatal(err)
	}
	d := plugintest.NewCollector(t, &spread{}, file)
	h := d.Handle("source", "ollama")
	if d.Text(h) != "ollama" || d.Text(0) != "" || d.Text(99) != "" {
		t.Errorf("Text = %q, %q", d.Text(h), d.Text(99))
	}
	for _, n := range []event.Count{50, 51, 4000} {
		plugintest.Emit(d, event.Chat{First: n, SourceName: h})
	}
	got := d.End()
	if s := fmt.Sprintf("%+v %+v", got["words"], got["words_by_source"]); s != "{Sum:4101 Count:3 Bounds:[50 200 1000] Below:[1 2 2]} map[ollama:{Sum:4101 Count:3 Bounds:[50 200 1000] Below:[1 2 2]}]" {
		t.Errorf("histograms = %s", s)
	}
	reference := plugintest.Reference{
		"words":           d.Says("Chat.First"),
		"words_by_source": d.SaysAt("Chat.SourceName", "Chat.First"),
		"p95_by_source": func(e any) any {
			at, ok := d.SaysAt("Chat.SourceName", "Chat.First")(e).(plugintest.At)
			if !ok {
				return nil
			}
			return plugintest.At{Value: at.Value, Said: min(at.Said.(uint64), 1<<22-1, 3600000)}
		},
		"empty": func(e any) any {
			c := e.(event.Chat)
			return plugintest.Share{Part: uint64(c.EmptySearches), Whole: uint64(c.Searches)}
		},
	}
	d.Compare(reference)
	f := &failures{recorder{TB: t}}
	d = plugintest.NewCollector(f, &spread{}, file)
	reference["words"] = d.Says("Chat.Latency")
	d.Compare(reference)
	if said := strings.Join(f.said, "\n"); !strings.Contains(said, "words = ") {
		t.Errorf("the comparison with another field fails with %.300q", said)
	}
}
