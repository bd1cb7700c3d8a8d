package metric_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/metric"
)

// TestReadBy reads metrics with a label: a value for each of its values, and
// nothing that its manifest does not bound.
func TestReadBy(t *testing.T) {
	metrics := []abi.Metric{
		{Path: "ended", Kind: abi.MetricInt, Range: []int64{0, 9}, NoData: abi.NoDataOmit, By: abi.By{Label: "how", Values: []string{"well", "badly"}}},
		{Path: "took", Kind: abi.MetricNumber, Range: []int64{0, 9}, NoData: abi.NoDataOmit, By: abi.By{Label: "source", Vocabulary: "source"}},
		{Path: "plain", Kind: abi.MetricInt, Range: []int64{0, 9}, NoData: abi.NoDataOmit},
	}
	texts := func(vocabulary string, h uint64) (string, bool) {
		s, ok := map[uint64]string{3: "openAi", 4: "mistral"}[h]
		return s, ok && vocabulary == "source"
	}
	const intBy, ratioBy = abi.TagInt | abi.TagBy, abi.TagRatio | abi.TagBy
	for _, tt := range []struct {
		name  string
		at    uint16
		pairs []any // tag, words, and so on
		want  any   // of that metric; nil: it has no value
		wrong string
	}{
		{"one of a list", 0, []any{intBy, []uint64{2, 7}}, map[string]any{"badly": int64(7)}, ""},
		{"both", 0, []any{intBy, []uint64{2, 7}, intBy, []uint64{1, 0}}, map[string]any{"badly": int64(7), "well": int64(0)}, ""},
		{"of handles", 1, []any{ratioBy, []uint64{3, 7, 2}, intBy, []uint64{4, 1}}, map[string]any{"openAi": 3.5, "mistral": 1.0}, ""},
		{"beyond the list", 0, []any{intBy, []uint64{3, 7}}, nil, "metric ended: its label how has no value 3"},
		{"no value", 0, []any{intBy, []uint64{0, 7}}, nil, "has no value 0"},
		{"a handle that is none", 1, []any{intBy, []uint64{5, 1}}, nil, "its label source has no value 5"},
		{"beyond the range", 0, []any{intBy, []uint64{1, 10}}, nil, "10 is not within 0 to 9"},
		{"twice", 0, []any{intBy, []uint64{1, 1}, intBy, []uint64{1, 2}}, nil, "metric ended comes twice with the how well"},
		{"three times, and another", 0, []any{intBy, []uint64{1, 1}, intBy, []uint64{1, 2}, intBy, []uint64{1, 3}, intBy, []uint64{2, 4}}, map[string]any{"badly": int64(4)}, "comes twice"},
		{"without the label", 0, []any{abi.TagInt, []uint64{1}}, nil, "it lacks the value of its label how"},
		{"without a word", 0, []any{intBy, []uint64{}}, nil, "it lacks the value of its label how"},
		{"the label alone", 0, []any{intBy, []uint64{1}}, nil, "tag 3 has 0 words and must have 1"},
		{"a label where there is none", 2, []any{intBy, []uint64{1, 1}}, nil, "metric plain: it has a label, for which its manifest has no member by"},
		{"a tag of a later version", 0, []any{abi.TagBy | 0x70, []uint64{1, 1}}, nil, ""},
	} {
		var records []byte
		for i := 0; i < len(tt.pairs); i += 2 {
			records = abi.AppendMetric(records, tt.at, tt.pairs[i].(abi.MetricTag), tt.pairs[i+1].([]uint64)...)
		}
		got := metric.Read(metrics, records, texts)
		if tt.wrong == "" && got.Wrong > 0 || !strings.Contains(strings.Join(got.Problems, "; "), tt.wrong) {
			t.Errorf("%s: problems %q, want %q", tt.name, got.Problems, tt.wrong)
		}
		var value any
		if got.Given[tt.at] {
			value = got.Values[tt.at]
		}
		if !reflect.DeepEqual(value, tt.want) {
			t.Errorf("%s: value %v, want %v", tt.name, value, tt.want)
		}
	}
}

// TestReadProblems tells the first few of many, and counts all.
func TestReadProblems(t *testing.T) {
	var records []byte
	for range 100 {
		records = abi.AppendMetric(records, 7, abi.TagInt, 1)
	}
	if got := metric.Read(nil, append(records, 1), nil); got.Wrong != 101 || len(got.Problems) != 8 || !strings.Contains(fmt.Sprint(got.Problems), "metric 7 is not in the manifest, which has 0") {
		t.Errorf("Read of a hundred metrics that there are not: %d wrong, %q", got.Wrong, got.Problems)
	}
}
