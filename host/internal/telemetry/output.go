package telemetry

import (
	"fmt"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/metric"
)

// A Value is one metric of one window: nil, bool, int64, float64, string or
// []string; of a metric with a label, a map[string]any of these by the label's
// values.
type Value struct {
	Metric *abi.Metric
	Value  any
}

// read holds metric records to manifest m. Values are in the order of the
// manifest, with its constants, and null where it says so; problems are
// sentences, of which the first are told, and wrong counts all.
func read(m *abi.Manifest, records []byte, texts metric.Texts) (values []Value, problems []string, wrong int) {
	said := metric.Read(m.Metrics, records, texts)
	problems, wrong = said.Problems, said.Wrong
	for i := range m.Metrics {
		one := &m.Metrics[i]
		switch {
		case len(one.Constant) > 0 && (one.NoData == abi.NoDataAlways || slices.Contains(said.Given, true)):
			values = append(values, Value{one, one.Constant})
		case said.Given[i]:
			values = append(values, Value{one, said.Values[i]})
		case one.NoData == abi.NoDataNull:
			values = append(values, Value{one, nil})
		case one.NoData == abi.NoDataAlways && !said.Seen[i]:
			if wrong++; len(problems) == 0 {
				problems = append(problems, fmt.Sprintf("metric %s has no value, and the manifest promises one always", one.Path))
			}
		}
	}
	return values, problems, wrong
}
