package telemetry

import (
	"encoding/json"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// FuzzRead reads metric records as a hostile collector may flush them: what
// comes of them is within the manifest, each metric once, and makes a message.
func FuzzRead(f *testing.F) {
	m := collectorOf("a", "1.0.0").manifest
	m.Metrics = append(
		m.Metrics,
		abi.Metric{Path: "a.mean", Kind: abi.MetricNumber, Range: []int64{0, 10}, NoData: abi.NoDataNull, Nullable: true},
		abi.Metric{Path: "a.order", Kind: abi.MetricString, Format: abi.FormatList, Labels: []string{"x", "y"}, NoData: abi.NoDataOmit},
		abi.Metric{Path: "a.ended", Kind: abi.MetricInt, Range: []int64{0, 100}, NoData: abi.NoDataOmit, By: abi.By{Label: "how", Values: []string{"well", "badly"}}},
		abi.Metric{Path: "a.took", Kind: abi.MetricString, Format: abi.FormatMillis, Range: []int64{0, 100}, NoData: abi.NoDataOmit},
	)
	texts := func(vocabulary string, handle uint64) (string, bool) {
		return "curl", vocabulary == event.VocabularyUserAgent && handle == 1
	}
	f.Add(abi.AppendMetric(abi.AppendMetric(nil, 0, abi.TagInt, 3), 1, abi.TagHandles, 1, 1))
	f.Add(abi.AppendMetric(abi.AppendMetric(nil, 3, abi.TagRatio, 1, 3), 4, abi.TagLabels, 2, 1))
	f.Add(abi.AppendMetric(abi.AppendMetric(nil, 3, abi.TagNull), 6, abi.TagInt, 99))
	f.Add(abi.AppendMetric(abi.AppendMetric(nil, 5, abi.TagInt|abi.TagBy, 1, 7), 5, abi.TagInt|abi.TagBy, 1, 8))
	f.Add([]byte{0, 0, 3, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, records []byte) {
		values, problems, wrong := read(m, records, texts)
		if len(problems) > 8 || wrong < len(problems) {
			t.Errorf("%d problems told of %d", len(problems), wrong)
		}
		at := -1
		for _, v := range values {
			i := 0
			for i < len(m.Metrics) && &m.Metrics[i] != v.Metric {
				i++
			}
			if i <= at || i == len(m.Metrics) {
				t.Fatalf("metric %s comes twice, or out of order", v.Metric.Path)
			}
			at = i
			b, err := json.Marshal(v.Value)
			if err != nil || len(b) > 100 {
				t.Errorf("%s is %.200s, %v", v.Metric.Path, b, err)
			}
		}
	})
}

// FuzzState opens an engine on what a disk may have made of its state, and
// works with it.
func FuzzState(f *testing.F) {
	f.Add([]byte(`{"window":7,"began":"2026-11-21T08:00:00Z","elapsed":60000000000,"handles":[{"handle":1,"vocabulary":"user_agent","text":"curl/8.5"}],"collectors":{"a":{"version":"1.0.0","state":"AAAAAAAAAAA="}},"kinds":{"a.n":"int"}}`))
	f.Add([]byte(`{"handles":[{"handle":1,"vocabulary":"user_agent","text":"jane@example.com"}],"early":[{}]}`))
	f.Add([]byte(`{"window": 7, "began`))
	f.Fuzz(func(t *testing.T, kept []byte) {
		spool := newSpool()
		spool.state = kept
		r := newRig(t, spool, collectorOf("a", "1.0.0"))
		r.emit(1)
		for _, s := range r.engine.Handles().save() {
			if parsers[s.Vocabulary](s.Text) != s.Text {
				t.Errorf("the text %q of %s came in, which no parser lets in", s.Text, s.Vocabulary)
			}
		}
		r.engine.Preview()
		r.engine.Tick(t.Context())
	})
}
