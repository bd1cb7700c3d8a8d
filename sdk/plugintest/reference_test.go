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

// dividedManifest is that of [divided].
const dividedManifest = `{"abi": 2, "kind": "collector", "name": "divided", "version": "1.0.0", "events": ["chat"], "metrics": [
		{"path": "took", "kind": "number", "meaning": "m", "events": ["chat"], "range": [0, 9007199254740991], "aggregation": "avg", "noData": "omit", "by": {"label": "source", "vocabulary": "source"}},
		{"path": "ended", "kind": "int", "meaning": "m", "events": ["chat"], "range": [0, 1000], "aggregation": "sum", "noData": "omit", "by": {"label": "how", "values": ["answered", "tool_calls", "refused", "failed", "left"]}}]}`

// divided has metrics with labels, one of a vocabulary and one of a list; it can
// leave one source out.
type divided struct {
	Took      collector.By[collector.Mean]
	Ended     collector.By[collector.Sum]
	Forgets   uint64
	Forgotten uint64
}

func (d *divided) Observe(e collector.Event) {
	chat := e.Chat()
	if chat == nil {
		return
	}
	if d.Forgotten == 0 {
		d.Forgotten = uint64(chat.SourceName)
	}
	d.Took.At(uint64(chat.SourceName)).Add(uint64(chat.Latency))
	d.Ended.At(collector.Known(chat.Outcome)).Add(1)
}

func (d *divided) Flush(m *collector.Metrics) {
	for source, took := range d.Took.All() {
		if d.Forgets == 0 || source != d.Forgotten {
			m.For(source).Mean(0, *took)
		}
	}
	for how, n := range d.Ended.All() {
		m.For(how).Count(1, uint64(*n))
	}
}

// forgetful is divided with one source left out.
type forgetful struct{ divided }

func (f *forgetful) Observe(e collector.Event) { f.Forgets = 1; f.divided.Observe(e) }

// TestCompareLabels compares metrics by each value of their label.
func TestCompareLabels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(file, []byte(dividedManifest), 0o644); err != nil {
		t.Fatal(err)
	}
	// Ordinals of a newer host have no label here, and are not counted.
	reference := func(d *plugintest.CollectorDriver, field string) plugintest.Reference {
		return plugintest.Reference{"took": d.SaysAt("Chat.SourceName", field), "ended": func(e any) any {
			if how, ok := d.Says("Chat.Outcome")(e).(string); ok {
				return plugintest.At{Value: how, Said: true}
			}
			return nil
		}}
	}
	f := &failures{recorder{TB: t}}
	d := plugintest.NewCollector(f, &divided{}, file)
	d.Compare(reference(d, "Chat.Latency"))
	if len(f.said) > 0 {
		t.Errorf("the comparison with what is right fails with %.300q", f.said)
	}
	d.Compare(reference(d, "Chat.Rounds"))
	if said := strings.Join(f.said, "\n"); !strings.Contains(said, "took = ") || !strings.Contains(said, " for source text-") {
		t.Errorf("the comparison with another field fails with %.300q, want took for a source", f.said)
	}
	f.said = nil
	d.Compare(plugintest.Reference{"took": d.Says("Chat.Latency"), "ended": reference(d, "Chat.Latency")["ended"]})
	if said := strings.Join(f.said, "\n"); !strings.Contains(said, "a metric with a label wants an At") {
		t.Errorf("the comparison with a rule without a label fails with %.300q", f.said)
	}
	f.said = nil
	d = plugintest.NewCollector(f, &forgetful{}, file)
	d.Compare(reference(d, "Chat.Latency"))
	if said := strings.Join(f.said, "\n"); !strings.Contains(said, "took = (nothing) for source text-") {
		t.Errorf("the comparison of what forgets a source fails with %.300q", f.said)
	}
}
