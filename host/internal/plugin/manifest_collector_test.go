package plugin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// collectorManifest is a right one, as its parts.
func collectorManifest() (m map[string]any, metric map[string]any) {
	metric = map[string]any{
		"path": "chats.total", "kind": "int", "meaning": "Chats.", "events": []string{"chat"},
		"aggregation": "sum", "noData": "omit", "range": []int64{0, 1 << 40},
	}
	return map[string]any{
		"abi": 1, "kind": "collector", "name": "chats", "version": "1.0.0",
		"events": []string{"chat", "launch", "from_a_newer_host"}, "metrics": []any{metric},
	}, metric
}

// readCollector reads the manifest m out of a module.
func readCollector(t *testing.T, m map[string]any) (*abi.Manifest, error) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	module, err := abi.WithSection(guest(t, "good"), abi.SectionManifest, b)
	if err != nil {
		t.Fatal(err)
	}
	return plugin.ReadManifest(module)
}

func TestReadCollectorManifest(t *testing.T) {
	m, _ := collectorManifest()
	m["message"] = "identify"
	m["metrics"] = append(m["metrics"].([]any),
		map[string]any{"path": "99th", "kind": "string", "format": "millis", "range": []int{0, 9}, "meaning": "x", "events": []string{"chat"}, "aggregation": "p99", "noData": "omit"},
		map[string]any{"path": "rules", "kind": "string", "format": "list", "labels": []string{"a", "b"}, "meaning": "x", "events": []string{"chat"}, "aggregation": "last", "noData": "null", "nullable": true},
		map[string]any{"path": "agents", "kind": "array<string>", "vocabulary": "user_agent", "maxItems": 64, "meaning": "x", "events": []string{"chat"}, "aggregation": "set", "noData": "omit"},
		map[string]any{"path": "ratio", "kind": "number", "range": []int{-1, 1}, "meaning": "x", "events": []string{"chat"}, "aggregation": "avg", "noData": "omit"},
		map[string]any{"path": "by_source", "kind": "string", "format": "millis", "range": []int{0, 9}, "by": map[string]any{"label": "source", "vocabulary": "source"}, "meaning": "x", "events": []string{"chat"}, "aggregation": "avg", "noData": "omit"},
		map[string]any{"path": "by_end", "kind": "bool", "by": map[string]any{"label": "how", "values": []string{"a", "b"}}, "meaning": "x", "events": []string{"chat"}, "aggregation": "any", "noData": "omit"},
		map[string]any{"path": "gpu", "kind": "bool", "constant": false, "meaning": "x", "aggregation": "constant", "noData": "always"},
		map[string]any{"path": "gpu_name", "kind": "string", "constant": "none", "meaning": "x", "aggregation": "constant", "noData": "always"},
		map[string]any{"path": "gpu_share", "kind": "number", "range": []int{0, 1}, "constant": 0.5, "meaning": "x", "aggregation": "constant", "noData": "always"},
		map[string]any{"path": "gpus", "kind": "array<string>", "constant": []string{"a"}, "meaning": "x", "aggregation": "constant", "noData": "always"},
	)
	got, err := readCollector(t, m)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Metrics) != 11 || got.Message != abi.MessageIdentify || got.Metrics[0].Range[1] != 1<<40 || string(got.Metrics[7].Constant) != "false" || got.Metrics[5].By.Vocabulary != "source" || len(got.Metrics[6].By.Values) != 2 {
		t.Errorf("ReadManifest = %+v, want what was written", got)
	}
}

func TestReadCollectorManifestRefuses(t *testing.T) {
	set := func(key string, value any) func(m, metric map[string]any) {
		return func(m, _ map[string]any) { m[key] = value }
	}
	metric := func(pairs ...any) func(m, metric map[string]any) {
		return func(_, metric map[string]any) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i+1] == nil {
					delete(metric, pairs[i].(string))
				} else {
					metric[pairs[i].(string)] = pairs[i+1]
				}
			}
		}
	}
	by := func(label string, values []string, vocabulary string) func(m, metric map[string]any) {
		return metric("by", map[string]any{"label": label, "values": values, "vocabulary": vocabulary})
	}
	paths := func(paths ...string) func(m, metric map[string]any) {
		return func(m, metric map[string]any) {
			var all []any
			for _, p := range paths {
				one := map[string]any{}
				for k, v := range metric {
					one[k] = v
				}
				one["path"] = p
				all = append(all, one)
			}
			m["metrics"] = all
		}
	}
	tests := []struct {
		change func(m, metric map[string]any)
		want   string
	}{
		{set("source", "openAi"), "source, settings and grants belong to providers"},
		{set("grants", map[string]any{"http": []string{"https://example.com"}}), "a collector reaches nothing"},
		{set("events", []string{}), "events is empty"},
		{set("events", []string{"chat", "Bad Name"}), `events has "Bad Name"`},
		{set("events", []string{"chat", "chat"}), `events has "chat" twice`},
		{set("message", "page"), `message is "page" and must be track or identify`},
		{set("metrics", []any{}), "metrics has 0 entries"},
		{paths("a.b", "a.b"), `the path "a.b" twice`},
		{paths("a.b.c", "a.b"), `"a.b.c" leads through "a.b"`},
		{paths("a", "a.b.c"), `"a.b.c" leads through "a"`},
		{metric("path", "a..b"), "the path must be"},
		{metric("path", "a.b.c.d.e.f"), "the path must be"},
		{metric("path", "süß"), "the path must be"},
		{metric("path", strings.Repeat("a.", 4)+strings.Repeat("b", 63)+strings.Repeat("c", 64)), "the path must be"},
		{metric("path", "context.ip"), "only context.app is a collector's"},
		{metric("path", "context"), "only context.app is a collector's"},
		{metric("kind", "float"), `kind is "float" and must be one of: bool`},
		{metric("meaning", nil), "meaning must be a sentence"},
		{metric("aggregation", "median"), `aggregation is "median"`},
		{metric("noData", nil), `noData is ""`},
		{metric("noData", "null"), "nullable must be true"},
		{metric("events", []string{"search"}), `events has "search", which the collector's own events lack`},
		{metric("events", nil), "events is empty: name the events that it is computed from"},
		{metric("range", nil), "range must be [least, most]"},
		{metric("range", []int{2, 1}), "range must be"},
		{metric("range", []int{1}), "range must be"},
		{metric("range", []int64{0, 1 << 53}), "range must be"},
		{metric("labels", []string{"a"}), "are for string and array<string>"},
		{metric("kind", "bool"), "range is for int"},
		{metric("kind", "string", "range", nil), "needs labels or a vocabulary"},
		{metric("kind", "string", "range", nil, "labels", []string{"a"}, "vocabulary", "kernel"), "one of them"},
		{metric("kind", "string", "range", nil, "labels", []string{"a", "a"}), `labels has "a" twice`},
		{metric("kind", "string", "range", nil, "labels", []string{"<b>"}), "a label is 1 to 64"},
		{metric("kind", "string", "range", nil, "labels", make([]string, 300)), "labels has 300 entries"},
		{metric("kind", "string", "range", nil, "vocabulary", "free_text"), `vocabulary is "free_text" and must be one of: version`},
		{metric("kind", "string", "range", nil, "format", "list"), "format list is for a string with labels"},
		{metric("kind", "array<string>", "range", nil, "labels", []string{"a"}, "format", "list"), "format list is for a string"},
		{metric("kind", "string", "format", "millis", "labels", []string{"a"}), "format millis is for a string without labels"},
		{metric("kind", "string", "range", nil, "format", "hex"), `format is "hex"`},
		{metric("kind", "array<string>", "range", nil, "labels", []string{"a"}, "maxItems", 65), "maxItems is 65"},
		{metric("maxItems", 3), "maxItems is 3: it is for array<string>"},
		{by("source", nil, ""), "by needs values or a vocabulary, one of them"},
		{by("source", []string{"a"}, "source"), "by needs values or a vocabulary, one of them"},
		{by("", []string{"a"}, ""), `by.label is "" and must be`},
		{by("Source", []string{"a"}, ""), `by.label is "Source" and must be`},
		{by("path", []string{"a"}, ""), "none of: collector, instance"},
		{by("agent", nil, "user_agent"), `by.vocabulary is "user_agent" and must be one with few texts: source`},
		{by("how", make([]string, 65), ""), "by.values has 65 entries and may have 64"},
		{by("how", []string{"a", "a"}, ""), `by.values has "a" twice`},
		{by("how", []string{"<b>"}, ""), `by.values has "<b>"`},
		{metric("by", map[string]any{"label": "how", "values": []string{"a"}}, "noData", "always"), "a metric with by needs noData omit"},
		{metric("by", map[string]any{"label": "how", "values": []string{"a"}}, "nullable", true), "neither nullable nor constant"},
		{metric("by", map[string]any{"label": "how", "values": []string{"a"}}, "kind", "string", "range", nil, "labels", []string{"a"}), "by is for bool, int, number"},
		{metric("constant", 1), "come together"},
		{metric("aggregation", "constant"), "come together"},
		{metric("aggregation", "constant", "nullable", true, "noData", "null", "constant", 1), "noData of a constant must be always"},
		{metric("aggregation", "constant", "noData", "always", "constant", "x"), "is not a value of kind int"},
		{metric("aggregation", "constant", "noData", "always", "constant", -1), "is not a value of kind int"},
		{metric("aggregation", "constant", "noData", "always", "constant", 0.5), "is not a value of kind int"},
	}
	for i, tt := range tests {
		m, one := collectorManifest()
		tt.change(m, one)
		if _, err := readCollector(t, m); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d: ReadManifest of a manifest that is wrong: %v, want %q", i, err, tt.want)
		}
	}
	if _, err := plugin.ReadManifest(packed(t, "good", map[string]any{"events": []string{"chat"}})); err == nil || !strings.Contains(err.Error(), "belong to collectors") {
		t.Errorf("ReadManifest of a provider with events: %v, want a refusal", err)
	}
}

// TestCollectorExports checks what a collector must offer, and that a
// collector is no provider.
func TestCollectorExports(t *testing.T) {
	m, _ := collectorManifest()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plugin.Pack(guest(t, "good"), b); err == nil || !strings.Contains(err.Error(), "lacks the export parley_observe (i32) -> i32, which a collector must have") {
		t.Errorf("Pack a provider's module as a collector: %v, want what it lacks", err)
	}
	if _, err := plugin.Pack(guest(t, "collector-half"), b); err == nil || !strings.Contains(err.Error(), "both or neither") {
		t.Errorf("Pack a collector that saves and does not load: %v, want a refusal", err)
	}
}
