package metric

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// A Histogram is the value of a metric of that kind. As JSON it is {"count", "sum",
// "buckets": {"100": 7, "+Inf": 9}}: of each upper bound, how many numbers are not above
// it.
type Histogram struct {
	Sum    uint64
	Count  uint64
	Bounds []int64  // those of the manifest
	Below  []uint64 // for each of them
}

// MarshalJSON implements [json.Marshaler].
func (h Histogram) MarshalJSON() ([]byte, error) {
	buckets := map[string]uint64{"+Inf": h.Count}
	for i, b := range h.Bounds {
		buckets[strconv.FormatInt(b, 10)] = h.Below[i]
	}
	return json.Marshal(map[string]any{"count": h.Count, "sum": h.Sum, "buckets": buckets})
}

// histogramValue reads the words of a histogram.
func histogramValue(m *abi.Metric, r abi.MetricRecord) (any, error) {
	if m.Kind != abi.MetricHistogram {
		return nil, fmt.Errorf("it is a histogram and its kind is %s", m.Kind)
	}
	if want := len(m.Buckets) + 2; r.Len() != want {
		return nil, fmt.Errorf("it has %d words and must have %d: a sum, a number for each bucket, and one for what is above the last", r.Len(), want)
	}
	h := Histogram{Sum: r.Word(0), Bounds: m.Buckets}
	for i := range len(m.Buckets) + 1 {
		n := r.Word(i + 1)
		if n > event.MaxCount || h.Sum > event.MaxCount {
			return nil, fmt.Errorf("a number in it is above %d", uint64(event.MaxCount))
		}
		if h.Count += n; i < len(m.Buckets) {
			h.Below = append(h.Below, h.Count)
		}
	}
	if h.Count == 0 {
		return nil, fmt.Errorf("it has counted nothing: leave it out")
	}
	return h, nil
}
