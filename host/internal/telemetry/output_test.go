package telemetry

import (
	"fmt"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestConstants writes those of a manifest: some always, some where there is
// something else to say.
func TestConstants(t *testing.T) {
	constant := func(path, noData string) abi.Metric {
		return abi.Metric{Path: path, Kind: abi.MetricBool, Constant: abi.RawJSON("false"), Aggregation: abi.AggregationConstant, NoData: noData}
	}
	n := abi.Metric{Path: "n", Kind: abi.MetricInt, Range: []int64{0, 9}, NoData: abi.NoDataOmit}
	for _, tt := range []struct {
		metrics []abi.Metric
		records []byte
		want    string
	}{
		{[]abi.Metric{n, constant("c", abi.NoDataAlways)}, nil, "[c]"},
		{[]abi.Metric{n, constant("c", abi.NoDataOmit)}, nil, "[]"},
		{[]abi.Metric{n, constant("c", abi.NoDataOmit)}, abi.AppendMetric(nil, 0, abi.TagInt, 3), "[n c]"},
	} {
		values, problems, _ := read(&abi.Manifest{Metrics: tt.metrics}, tt.records, nil)
		paths := []string{}
		for _, v := range values {
			paths = append(paths, v.Metric.Path)
		}
		if got := fmt.Sprint(paths); got != tt.want || len(problems) > 0 {
			t.Errorf("read of %x = %s with problems %q, want %s", tt.records, got, problems, tt.want)
		}
	}
}
