package metric_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/metric"
)

func TestMetricValue(t *testing.T) {
	texts := func(vocabulary string, h uint64) (string, bool) {
		s, ok := map[uint64]string{1: "other", 7: "curl/8.0"}[h]
		return s, ok && vocabulary == "user_agent"
	}
	yes := abi.Metric{Kind: abi.MetricBool}
	whole := abi.Metric{Kind: abi.MetricInt, Range: []int64{0, 100}}
	maybe := abi.Metric{Kind: abi.MetricInt, Range: []int64{0, 100}, Nullable: true}
	number := abi.Metric{Kind: abi.MetricNumber, Range: []int64{-1, 10}}
	label := abi.Metric{Kind: abi.MetricString, Labels: []string{"b", "a"}}
	list := abi.Metric{Kind: abi.MetricString, Labels: []string{"b", "a"}, Format: abi.FormatList}
	millis := abi.Metric{Kind: abi.MetricString, Range: []int64{0, 9_999_999}, Format: abi.FormatMillis}
	labels := abi.Metric{Kind: abi.MetricArray, Labels: []string{"b", "a"}}
	agents := abi.Metric{Kind: abi.MetricArray, Vocabulary: "user_agent", MaxItems: 2}
	agent := abi.Metric{Kind: abi.MetricString, Vocabulary: "user_agent"}
	kernel := abi.Metric{Kind: abi.MetricString, Vocabulary: "kernel"}
	constant := abi.Metric{Kind: abi.MetricBool, Constant: abi.RawJSON("false")}
	buckets := abi.Metric{Kind: abi.MetricHistogram, Buckets: []int64{10, 20}}
	nan := math.Float64bits(math.NaN())

	tests := []struct {
		name   string
		metric abi.Metric
		tag    abi.MetricTag
		words  []uint64
		want   any
		wrong  string
	}{
		{"yes", yes, abi.TagBool, []uint64{1}, true, ""},
		{"no", yes, abi.TagBool, []uint64{0}, false, ""},
		{"a bool of 2", yes, abi.TagBool, []uint64{2}, nil, "no room"},
		{"a bool of two words", yes, abi.TagBool, []uint64{1, 1}, nil, "has 2 words and must have 1"},
		{"an int for a bool", yes, abi.TagInt, []uint64{1}, nil, "it is an int"},
		{"int", whole, abi.TagInt, []uint64{100}, int64(100), ""},
		{"over its range", whole, abi.TagInt, []uint64{101}, nil, "101 is not within 0 to 100"},
		{"below its range", whole, abi.TagInt, []uint64{math.MaxUint64}, nil, "-1 is not within"},
		{"bits of NaN", whole, abi.TagInt, []uint64{nan}, nil, "is not within"},
		{"null", maybe, abi.TagNull, nil, nil, ""},
		{"null that may not be", whole, abi.TagNull, nil, nil, "may not be"},
		{"null with a word", maybe, abi.TagNull, []uint64{1}, nil, "has 1 words"},
		{"ratio", number, abi.TagRatio, []uint64{7, 2}, 3.5, ""},
		{"negative ratio", number, abi.TagRatio, []uint64{math.MaxUint64, 4}, -0.25, ""},
		{"ratio by 0", number, abi.TagRatio, []uint64{1, 0}, nil, "by 0"},
		{"ratio over its range", number, abi.TagRatio, []uint64{11, 1}, nil, "11 is not within -1 to 10"},
		{"ratio of bits of NaN", number, abi.TagRatio, []uint64{nan, nan}, 1.0, ""},
		{"ratio for an int", whole, abi.TagRatio, []uint64{1, 1}, nil, "it is a ratio"},
		{"int for a number", number, abi.TagInt, []uint64{3}, 3.0, ""},
		{"no label for milliseconds", millis, abi.TagLabels, nil, nil, "its kind string millis has no room"},
		{"no handle for an int", whole, abi.TagHandles, nil, nil, "its kind int has no room"},
		{"label", label, abi.TagLabels, []uint64{2}, "a", ""},
		{"label 0", label, abi.TagLabels, []uint64{0}, nil, "no text for 0"},
		{"label past the last", label, abi.TagLabels, []uint64{3}, nil, "no text for 3"},
		{"no label", label, abi.TagLabels, nil, nil, "it has 0 texts"},
		{"two labels", label, abi.TagLabels, []uint64{1, 2}, nil, "2 texts and may have 1"},
		{"handle for a label", label, abi.TagHandles, []uint64{7}, nil, "no text for 7"},
		{"list", list, abi.TagLabels, []uint64{2, 1}, "a, b", ""},
		{"empty list", list, abi.TagLabels, nil, "", ""},
		{"list with one twice", list, abi.TagLabels, []uint64{2, 2}, nil, "it has 2 twice"},
		{"millis", millis, abi.TagInt, []uint64{57}, "57ms", ""},
		{"millis out of range", millis, abi.TagInt, []uint64{10_000_000}, nil, "is not within"},
		{"labels in order", labels, abi.TagLabels, []uint64{1, 2}, []string{"a", "b"}, ""},
		{"no entries", labels, abi.TagLabels, nil, []string(nil), ""},
		{"handles", agents, abi.TagHandles, []uint64{1, 7}, []string{"curl/8.0", "other"}, ""},
		{"too many handles", agents, abi.TagHandles, []uint64{1, 7, 8}, nil, "3 texts and may have 2"},
		{"an unknown handle", agents, abi.TagHandles, []uint64{9}, nil, "no text for 9"},
		{"a handle", agent, abi.TagHandles, []uint64{7}, "curl/8.0", ""},
		{"a handle of another vocabulary", kernel, abi.TagHandles, []uint64{7}, nil, "no text for 7"},
		{"a label where handles are", agent, abi.TagLabels, []uint64{1}, nil, "no text for 1"},
		{"a constant", constant, abi.TagBool, []uint64{0}, nil, "constant"},
		{"an unknown tag", yes, 77, []uint64{1}, nil, "tag 77"},
		{"histogram", buckets, abi.TagHistogram, []uint64{57, 1, 2, 4}, metric.Histogram{Sum: 57, Count: 7, Bounds: []int64{10, 20}, Below: []uint64{1, 3}}, ""},
		{"histogram of nothing", buckets, abi.TagHistogram, []uint64{0, 0, 0, 0}, nil, "counted nothing"},
		{"histogram of other buckets", buckets, abi.TagHistogram, []uint64{57, 1, 2}, nil, "has 3 words and must have 4"},
		{"histogram without words", buckets, abi.TagHistogram, nil, nil, "has 0 words"},
		{"histogram of too much", buckets, abi.TagHistogram, []uint64{57, 1, 1 << 53, 0}, nil, "above 9007199254740991"},
		{"histogram for an int", whole, abi.TagHistogram, []uint64{1, 1, 1}, nil, "its kind is int"},
		{"an int for a histogram", buckets, abi.TagInt, []uint64{1}, nil, "its kind is histogram"},
		{"a thousand entries", labels, abi.TagLabels, make([]uint64, 1000), nil, "1000 entries"},
	}
	for _, tt := range tests {
		r, _, _, err := abi.NextMetric(abi.AppendMetric(nil, 0, tt.tag, tt.words...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := metric.Value(&tt.metric, r, texts)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: Value = %v, %v, want an error with %q", tt.name, got, err, tt.wrong)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: Value = %#v, %v, want %#v", tt.name, got, err, tt.want)
		}
	}
}
