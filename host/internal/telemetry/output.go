package telemetry

import (
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/metric"
)

// A Value is one metric of one window: nil, bool, int64, float64, string or
// []string.
type Value struct {
	Metric *abi.Metric
	Value  any
}

// maxProblems bounds what is told of one window.
const maxProblems = 8

// read holds metric records to manifest m. Values are in the order of the
// manifest, with its constants, and null where it says so; problems are
// sentences, and count all that is wrong.
func read(m *abi.Manifest, records []byte, texts metric.Texts) (values []Value, problems []string, wrong int) {
	found := make([]any, len(m.Metrics))
	given := make([]bool, len(m.Metrics))
	problem := func(format string, args ...any) {
		if wrong++; len(problems) < maxProblems {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	seen := make([]bool, len(m.Metrics))
	for {
		r, rest, ok, err := abi.NextMetric(records)
		if err != nil {
			problem("flush answers bytes that are no metric records")
			break
		}
		if !ok {
			break
		}
		records = rest
		if !metric.Known(r.Tag) {
			continue
		}
		if int(r.Metric) >= len(m.Metrics) {
			problem("metric %d is not in the manifest, which has %d", r.Metric, len(m.Metrics))
			continue
		}
		one := &m.Metrics[r.Metric]
		if seen[r.Metric] {
			problem("metric %s comes twice", one.Path)
			given[r.Metric] = false
			continue
		}
		seen[r.Metric] = true
		v, err := metric.Value(one, r, texts)
		if err != nil {
			problem("metric %s: %v", one.Path, err)
			continue
		}
		if list, ok := v.([]string); ok && len(list) == 0 {
			continue
		}
		found[r.Metric], given[r.Metric] = v, true
	}
	for i := range m.Metrics {
		one := &m.Metrics[i]
		switch {
		case len(one.Constant) > 0 && (one.NoData == abi.NoDataAlways || slices.Contains(given, true)):
			values = append(values, Value{one, one.Constant})
		case given[i]:
			values = append(values, Value{one, found[i]})
		case one.NoData == abi.NoDataNull:
			values = append(values, Value{one, nil})
		case one.NoData == abi.NoDataAlways && !seen[i]:
			problem("metric %s has no value, and the manifest promises one always", one.Path)
		}
	}
	return values, problems, wrong
}
