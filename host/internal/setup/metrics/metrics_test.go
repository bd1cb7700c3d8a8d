package metrics_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/setup/metrics"
)

func TestRender(t *testing.T) {
	r := metrics.New()
	r.Add(func() []metrics.Family {
		return []metrics.Family{
			{Name: "parley_b", Help: "How many are there.", Kind: metrics.Gauge, Samples: []metrics.Sample{{Value: 2.5}}},
			{Name: "parley_a_total", Help: "How often.", Labels: []string{"plugin", "version"}, Samples: []metrics.Sample{
				{Labels: []string{"one", "1.0.0"}, Value: 7},
				{Labels: []string{"one", "2.0.0\n\""}, Value: 8},
			}},
			{Name: "parley_c", Help: "Spread.", Kind: metrics.Summary, Samples: []metrics.Sample{{Value: 100, Count: 4, Quantiles: map[float64]float64{0.5: 20, 0.99: 40}}}},
			{Name: "parley_none_total", Help: "Not shown."},
		}
	})
	var b strings.Builder
	if err := r.Render(&b); err != nil {
		t.Fatal(err)
	}
	_, ours, _ := strings.Cut(b.String(), "# HELP parley")
	ours, _, _ = strings.Cut("# HELP parley"+ours, "# HELP process_")
	want := `# HELP parley_a_total How often.
# TYPE parley_a_total counter
parley_a_total{plugin="one",version="1.0.0"} 7
parley_a_total{plugin="one",version="2.0.0\n\""} 8
# HELP parley_b How many are there.
# TYPE parley_b gauge
parley_b 2.5
# HELP parley_c Spread.
# TYPE parley_c summary
parley_c{quantile="0.5"} 20
parley_c{quantile="0.99"} 40
parley_c_sum 100
parley_c_count 4
`
	if ours != want {
		t.Errorf("Render wrote\n%s\nwant\n%s", ours, want)
	}
	for _, name := range []string{"go_goroutines", "process_start_time_seconds"} {
		if !strings.Contains(b.String(), "\n"+name+" ") {
			t.Errorf("no %s", name)
		}
	}
}

// TestRenderFails shows that figures which contradict each other are an error,
// not half an answer.
func TestRenderFails(t *testing.T) {
	for name, samples := range map[string][]metrics.Sample{
		"twice":      {{Labels: []string{"x"}, Value: 1}, {Labels: []string{"x"}, Value: 2}},
		"few labels": {{Value: 1}},
	} {
		r := metrics.New()
		r.Add(func() []metrics.Family {
			return []metrics.Family{{Name: "parley_a_total", Help: "How often.", Labels: []string{"l"}, Samples: samples}}
		})
		var b strings.Builder
		if err := r.Render(&b); err == nil || b.Len() > 0 {
			t.Errorf("%s: Render wrote %d bytes, error %v", name, b.Len(), err)
		}
	}
}
