package plugintest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

type metricOf = abi.Metric

// nothing is the value of a metric without one.
const nothing = "(nothing)"

// aggregate makes of what the events say what the manifest promises. It is
// written to be read, not to be fast.
func aggregate(m *abi.Metric, rule Rule, events []any) any {
	var said []any
	for _, e := range events {
		if v := rule(e); v != nil {
			said = append(said, v)
		}
	}
	if len(said) == 0 {
		return none(m)
	}
	switch m.Aggregation {
	case abi.AggregationLast:
		return last(m, said[len(said)-1])
	case abi.AggregationAny:
		return slices.Contains(said, any(true))
	case abi.AggregationSum, abi.AggregationMax:
		total := uint64(0)
		for _, n := range whole(said) {
			if m.Aggregation == abi.AggregationSum {
				total += n
			} else {
				total = max(total, n)
			}
		}
		return clamp(m, total)
	case abi.AggregationAverage:
		total := int64(0)
		for _, n := range whole(said) {
			total += clamp(m, n)
		}
		return float64(total) / float64(len(said))
	case abi.AggregationP99:
		all := whole(said)
		slices.Sort(all)
		return clamp(m, all[(99*len(all)+99)/100-1])
	case abi.AggregationMostUsed:
		return mostUsed(said)
	case abi.AggregationSet:
		return set(m, said)
	}
	panic("plugintest: aggregation " + m.Aggregation)
}

// none is the metric of a window in which nothing was said of it.
func none(m *abi.Metric) any {
	switch {
	case m.NoData == abi.NoDataAlways && m.Aggregation == abi.AggregationAny:
		return false
	case m.NoData == abi.NoDataAlways && (m.Aggregation == abi.AggregationSum || m.Aggregation == abi.AggregationMax):
		return clamp(m, 0)
	}
	return nothing
}

func whole(said []any) []uint64 {
	all := make([]uint64, len(said))
	for i, v := range said {
		switch v := v.(type) {
		case uint64:
			all[i] = v
		case bool:
			if v {
				all[i] = 1
			}
		}
	}
	return all
}

func clamp(m *abi.Metric, n uint64) int64 {
	return max(int64(min(n, uint64(m.Range[1]))), m.Range[0])
}

func last(m *abi.Metric, v any) any {
	switch v := v.(type) {
	case Null:
		return nil
	case Nothing:
		return nothing
	case uint64:
		return clamp(m, v)
	case []string:
		return strings.Join(v, ", ")
	}
	return v
}

func mostUsed(said []any) any {
	counts := map[string]int{}
	for _, v := range said {
		counts[v.(string)]++
	}
	best := ""
	for label, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && label < best {
			best = label
		}
	}
	return best
}

func set(m *abi.Metric, said []any) any {
	var all []string
	for _, v := range said {
		list, ok := v.([]string)
		if !ok {
			list = []string{v.(string)}
		}
		for _, s := range list {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	if len(all) == 0 {
		return nothing
	}
	if len(m.Labels) > 0 {
		slices.SortFunc(all, func(a, b string) int { return slices.Index(m.Labels, a) - slices.Index(m.Labels, b) })
	}
	most := m.MaxItems
	if most == 0 {
		most = abi.DefaultItems
	}
	all = all[:min(len(all), most)]
	slices.Sort(all)
	return all
}

// alike compares a value with that of the reference. A percentile may be up to
// one part in 64 too much from 1024 on.
func alike(m *abi.Metric, have, want any) bool {
	exact, ok := want.(int64)
	if m.Aggregation != abi.AggregationP99 || !ok {
		return fmt.Sprintf("%T %v", have, have) == fmt.Sprintf("%T %v", want, want)
	}
	var got int64
	if _, err := fmt.Sscanf(fmt.Sprint(have), "%dms", &got); err != nil {
		return false
	}
	return got == exact || exact >= 1024 && got > exact && got <= exact+exact/64
}
