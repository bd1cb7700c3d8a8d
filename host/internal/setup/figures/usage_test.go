package figures

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// rendered is what GET /metrics shows of a window.
func rendered(t *testing.T, w telemetry.Window, manifests map[string]*abi.Manifest) string {
	t.Helper()
	r := metrics.New()
	r.Add(func() []metrics.Family { return usageFamilies(w, manifests) })
	var b strings.Builder
	if err := r.Render(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sealedAs is a message of properties, by path.
func sealedAs(t *testing.T, collector string, values map[string]any) telemetry.Message {
	t.Helper()
	tree := map[string]any{}
	for path, v := range values {
		at, parts := tree, strings.Split(path, ".")
		for _, p := range parts[:len(parts)-1] {
			next, ok := at[p].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[p] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = v
	}
	context, _ := tree["context"].(map[string]any)
	delete(tree, "context")
	b, err := json.Marshal(map[string]any{"type": "track", "context": context, "properties": tree})
	if err != nil {
		t.Fatal(err)
	}
	return telemetry.Message{Collector: collector, Window: 1, Body: b}
}

// TestUsageDashboard has a window in which all shipped collectors say all that
// they can: each expression of the dashboard finds its figures in GET /metrics.
func TestUsageDashboard(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	files, err := filepath.Glob(filepath.Join(root, "plugins", "collector", "*", "manifest.json"))
	if err != nil || len(files) != 7 {
		t.Fatalf("%d manifests, %v, want 7", len(files), err)
	}
	manifests := map[string]*abi.Manifest{}
	w := telemetry.Window{Number: 1, Sealed: time.Unix(1_000_000, 0)}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		manifests[m.Name] = m
		values := map[string]any{}
		for i := range m.Metrics {
			one := &m.Metrics[i]
			switch {
			case one.Format == abi.FormatMillis:
				values[one.Path] = "57ms"
			case one.Kind == abi.MetricBool:
				values[one.Path] = true
			case one.Kind == abi.MetricString:
				values[one.Path] = "a text"
			case one.Kind == abi.MetricArray:
				values[one.Path] = []string{"a", "b"}
			default:
				values[one.Path] = 7
			}
		}
		w.Messages = append(w.Messages, sealedAs(t, m.Name, values))
	}
	shown := rendered(t, w, manifests)
	b, err := os.ReadFile(filepath.Join(root, "examples", "grafana", "telemetry.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	drawn := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			family, _, _ := strings.Cut(target.Expr, "{")
			if drawn++; !strings.Contains(shown, "\n"+family+"{") {
				t.Errorf("panel %q asks for %s, which GET /metrics does not have", p.Title, family)
			}
		}
	}
	if drawn < 100 {
		t.Errorf("%d expressions, want most of 169", drawn)
	}
	if want := `parley_usage_search_requests_99th_response_time_seconds{collector="search",path="requests.99th_response_time",text=""} 0.057`; !strings.Contains(shown, want) {
		t.Errorf("GET /metrics has no %s", want)
	}
}

// TestUsageNames: collectors whose names and paths meet in Prometheus's spelling
// do not break GET /metrics, and none of their figures gets lost.
func TestUsageNames(t *testing.T) {
	collector := func(name string, paths ...string) *abi.Manifest {
		m := &abi.Manifest{Name: name}
		for _, p := range paths {
			m.Metrics = append(m.Metrics, abi.Metric{Path: p, Kind: abi.MetricInt, Meaning: "Of " + name + ": " + p})
		}
		return m
	}
	text := collector("a-b", "c_d")
	text.Metrics = append(text.Metrics, abi.Metric{Path: "names", Kind: abi.MetricArray, Meaning: "Names."})
	w := telemetry.Window{Number: 1, Messages: []telemetry.Message{
		sealedAs(t, "a", map[string]any{"b.c.d": 1, "b.c_d": 2}),
		sealedAs(t, "a-b", map[string]any{"c_d": 3, "names": []string{"x", "x", "quote\"\n"}, "unknown": 9}),
		sealedAs(t, "gone", map[string]any{"n": 4}),
		{Collector: "a", Window: 1, Body: []byte("not JSON")},
	}}
	shown := rendered(t, w, map[string]*abi.Manifest{"a": collector("a", "b.c.d", "b.c_d", "none"), "a-b": text})
	for _, want := range []string{
		`parley_usage_a_b_c_d{collector="a",path="b.c.d",text=""} 1`, `parley_usage_a_b_c_d{collector="a",path="b.c_d",text=""} 2`,
		`parley_usage_a_b_c_d{collector="a-b",path="c_d",text=""} 3`, `parley_usage_a_b_names{collector="a-b",path="names",text="quote\"\n"} 1`,
	} {
		if !strings.Contains(shown, want+"\n") {
			t.Errorf("GET /metrics has no %s", want)
		}
	}
	if got := strings.Count(shown, "\nparley_usage_"); got != 5 {
		t.Errorf("%d figures, want 5:\n%s", got, shown)
	}
}

// TestUsageLabels gives metrics that are divided a label of Prometheus's, beside others
// of the same family that are not.
func TestUsageLabels(t *testing.T) {
	by := abi.By{Label: "source", Vocabulary: "source"}
	m := &abi.Manifest{Name: "a", Metrics: []abi.Metric{
		{Path: "chats.n", Kind: abi.MetricInt, Meaning: "Chats.", By: by},
		{Path: "chats_n", Kind: abi.MetricInt, Meaning: "All."},
		{Path: "took", Kind: abi.MetricString, Format: abi.FormatMillis, Meaning: "Time.", By: abi.By{Label: "how", Values: []string{"p.q", "well"}}},
	}}
	w := telemetry.Window{Number: 1, Messages: []telemetry.Message{
		{Collector: "a", Window: 1, Body: []byte(`{"properties":{"chats":{"n":{"openAi":3,"mistral":2}},"chats_n":5,"took":{"p.q":"57ms","well":"8ms"}}}`)},
	}}
	shown := rendered(t, w, map[string]*abi.Manifest{"a": m})
	for _, want := range []string{
		`parley_usage_a_chats_n{collector="a",path="chats.n",source="openAi",text=""} 3`, `parley_usage_a_chats_n{collector="a",path="chats.n",source="mistral",text=""} 2`,
		`parley_usage_a_chats_n{collector="a",path="chats_n",source="",text=""} 5`,
		`parley_usage_a_took_seconds{collector="a",how="p.q",path="took",text=""} 0.057`, `parley_usage_a_took_seconds{collector="a",how="well",path="took",text=""} 0.008`,
	} {
		if !strings.Contains(shown, want+"\n") {
			t.Errorf("GET /metrics has no %s:\n%s", want, shown)
		}
	}
	if got := strings.Count(shown, "\nparley_usage_"); got != 5 {
		t.Errorf("%d figures, want 5:\n%s", got, shown)
	}
}

// TestUsageHistogram renders a histogram in all and by a label whose values have dots in
// them, and the name of a collector once.
func TestUsageHistogram(t *testing.T) {
	m := &abi.Manifest{Name: "lens", Metrics: []abi.Metric{
		{Path: "lens.words", Kind: abi.MetricHistogram, Buckets: []int64{50, 200}, Meaning: "Milliseconds."},
		{Path: "lens.by_model", Kind: abi.MetricHistogram, Buckets: []int64{50}, Meaning: "Milliseconds.", By: abi.By{Label: "model"}},
	}}
	said := map[string]any{
		"lens": map[string]any{
			"words": map[string]any{"count": 3, "sum": 4101, "buckets": map[string]any{"50": 1, "200": 2, "+Inf": 3}},
			"by_model": map[string]any{
				"gpt-4.1": map[string]any{"count": 2, "sum": 7, "buckets": map[string]any{"50": 2, "+Inf": 2}},
				"sum":     map[string]any{"count": 1, "sum": 60, "buckets": map[string]any{"50": 0, "+Inf": 1}},
			},
		},
	}
	w := telemetry.Window{Number: 1, Sealed: time.Unix(1_000_000, 0), Messages: []telemetry.Message{sealedAs(t, "lens", said)}}
	got := rendered(t, w, map[string]*abi.Manifest{"lens": m})
	for _, want := range []string{
		"# TYPE parley_usage_lens_words histogram",
		`parley_usage_lens_words_bucket{collector="lens",path="lens.words",text="",le="200"} 2`,
		`parley_usage_lens_words_bucket{collector="lens",path="lens.words",text="",le="+Inf"} 3`,
		`parley_usage_lens_words_sum{collector="lens",path="lens.words",text=""} 4101`,
		`parley_usage_lens_by_model_bucket{collector="lens",model="gpt-4.1",path="lens.by_model",text="",le="50"} 2`,
		`parley_usage_lens_by_model_count{collector="lens",model="sum",path="lens.by_model",text=""} 1`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("GET /metrics has\n%s\nwithout %s", got, want)
		}
	}
}
