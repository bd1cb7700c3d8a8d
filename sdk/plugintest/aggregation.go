package plugintest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/abi/metric"
)

// nothing is the value of a metric without one.
const nothing = "(nothing)"

// aggregateSaid makes of what the events say what the manifest promises: a value as
// a message has it, or several of which any is right. It is written to be read,
// not to be fast. An error says what rule and metric do not agree in.
func aggregateSaid(m *abi.Metric, rule Rule, events []any) (right []any, err error) {
	var said []any
	for _, e := range events {
		v := rule(e)
		switch v.(type) {
		case nil:
			continue
		case Null, Nothing:
			if m.Aggregation != abi.AggregationLast {
				continue // there is nothing to count in
			}
		}
		said = append(said, v)
	}
	if len(said) == 0 {
		return []any{emptyMetric(m)}, nil
	}
	if m.Aggregation == abi.AggregationLast {
		v, err := lastOf(m, said[len(said)-1])
		return []any{v}, err
	}
	if m.Aggregation == abi.AggregationMostUsed {
		return mostUsed(m, said)
	}
	if m.Aggregation == abi.AggregationSet {
		v, err := setOf(m, said)
		return []any{v}, err
	}
	if m.Aggregation == abi.AggregationShare {
		return shareOf(said)
	}
	all, err := wholeNumbers(said)
	if err != nil {
		return nil, err
	}
	if m.Aggregation == abi.AggregationAny {
		return []any{slices.ContainsFunc(all, func(n uint64) bool { return n > 0 })}, nil
	}
	if m.Aggregation == abi.AggregationAverage {
		return meanOf(m, all)
	}
	if m.Aggregation == abi.AggregationBuckets {
		return []any{histogramOf(m, all)}, nil
	}
	n := slices.Max(all)
	if perMille, ok := abi.Percentile(m.Aggregation); ok {
		slices.Sort(all)
		n = all[(perMille*uint64(len(all))+999)/1000-1]
	}
	if m.Aggregation == abi.AggregationSum {
		n = 0
		for _, v := range all {
			n = min(n+v, 1<<62) // beyond any range
		}
	}
	v, err := inKind(m, clampRange(m, n))
	return []any{v}, err
}

// emptyMetric returns the metric of a window in which nothing was said of it.
func emptyMetric(m *abi.Metric) any {
	if m.NoData != abi.NoDataAlways {
		return nothing
	}
	if m.Kind == abi.MetricBool {
		return false
	}
	if v, err := inKind(m, clampRange(m, 0)); err == nil {
		return v
	}
	return nothing
}

// inKind is n as the metric's kind has it.
func inKind(m *abi.Metric, n int64) (any, error) {
	switch {
	case m.Format == abi.FormatMillis:
		return fmt.Sprintf("%dms", n), nil
	case m.Kind == abi.MetricInt:
		return n, nil
	case m.Kind == abi.MetricNumber:
		return float64(n), nil
	}
	return nil, fmt.Errorf("%s gives a number, and its kind is %s", m.Aggregation, m.Kind)
}

// wholeNumbers returns the numbers that were said; a bool counts as 0 or 1.
func wholeNumbers(said []any) ([]uint64, error) {
	all := make([]uint64, len(said))
	for i, v := range said {
		switch v := v.(type) {
		case uint64:
			all[i] = v
		case bool:
			if v {
				all[i] = 1
			}
		default:
			return nil, fmt.Errorf("its rule says %q, and its aggregation wants a number or a bool", v)
		}
	}
	return all, nil
}

// clampRange returns n within the range; one without a range has all of it.
func clampRange(m *abi.Metric, n uint64) int64 {
	if len(m.Range) < 2 {
		return int64(min(n, 1<<62))
	}
	return max(int64(min(n, uint64(max(m.Range[1], 0)))), m.Range[0])
}

// meanOf returns the average; a metric of whole numbers may have it rounded down or up.
func meanOf(m *abi.Metric, all []uint64) ([]any, error) {
	total, n := int64(0), int64(len(all))
	for _, v := range all {
		total += clampRange(m, v)
	}
	if m.Kind == abi.MetricNumber {
		return []any{float64(total) / float64(n)}, nil
	}
	down, err := inKind(m, total/n)
	if err != nil {
		return nil, err
	}
	up, err := inKind(m, (total+n-1)/n)
	return []any{down, up}, err
}

// shareOf returns a sum over a sum.
func shareOf(said []any) ([]any, error) {
	var part, whole uint64
	for _, v := range said {
		s, ok := v.(Share)
		if !ok {
			return nil, fmt.Errorf("its rule says %v, and share wants a Share", v)
		}
		part, whole = min(part+s.Part, event.MaxCount), min(whole+s.Whole, event.MaxCount)
	}
	if whole == 0 {
		return []any{nothing}, nil
	}
	return []any{float64(part) / float64(whole)}, nil
}

func histogramOf(m *abi.Metric, all []uint64) any {
	h := metric.Histogram{Count: uint64(len(all)), Bounds: m.Buckets}
	for _, v := range all {
		h.Sum = min(h.Sum+v, event.MaxCount)
	}
	for _, b := range m.Buckets {
		below := uint64(0)
		for _, v := range all {
			if v <= uint64(b) {
				below++
			}
		}
		h.Below = append(h.Below, below)
	}
	return h
}

func lastOf(m *abi.Metric, v any) (any, error) {
	switch v := v.(type) {
	case Null:
		return nil, nil
	case Nothing:
		return nothing, nil
	case uint64:
		return inKind(m, clampRange(m, v))
	case []string:
		if m.Format == abi.FormatList {
			return strings.Join(v, ", "), nil // in the order of the event
		}
		return limitTexts(m, v), nil
	}
	return v, nil
}

// mostUsed is the value that came most often; of equal ones the label that is
// first in the alphabet, or any, where there are no labels.
func mostUsed(m *abi.Metric, said []any) (right []any, err error) {
	counts := map[any]int{}
	most := 0
	for _, v := range said {
		if _, ok := v.([]string); ok {
			return nil, fmt.Errorf("its rule says the list %q, and most_used wants one value", v)
		}
		counts[v]++
		most = max(most, counts[v])
	}
	for v, n := range counts {
		if n < most {
			continue
		}
		if whole, ok := v.(uint64); ok {
			if v, err = inKind(m, clampRange(m, whole)); err != nil {
				return nil, err
			}
		}
		right = append(right, v)
	}
	if len(m.Labels) > 0 {
		slices.SortFunc(right, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		right = right[:1]
	}
	return right, nil
}

func setOf(m *abi.Metric, said []any) (any, error) {
	var all []string
	for _, v := range said {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []string:
			all = append(all, v...)
		default:
			return nil, fmt.Errorf("its rule says %v, and set wants texts", v)
		}
	}
	return limitTexts(m, all), nil
}

// limitTexts returns what a metric has of texts: different ones, as many as it may have, in
// the order that a message has them.
func limitTexts(m *abi.Metric, texts []string) any {
	var all []string
	for _, s := range texts {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if len(m.Labels) > 0 {
		slices.SortStableFunc(all, func(a, b string) int { return slices.Index(m.Labels, a) - slices.Index(m.Labels, b) })
	}
	if m.Format == abi.FormatList {
		return strings.Join(all, ", ")
	}
	if len(all) == 0 {
		return nothing
	}
	most := m.MaxItems
	if most == 0 {
		most = abi.DefaultItems
	}
	all = all[:min(len(all), most)]
	slices.Sort(all)
	return all
}

// isAlike reports whether a value is one of those that are right. A percentile may be up to
// one part in 64 too much from 1024 on, and one by a label one in 16 from 32 on: those are
// what collector.Latency and collector.Sketch have room for.
func isAlike(m *abi.Metric, have any, right []any) bool {
	for _, want := range right {
		if fmt.Sprintf("%T %v", have, have) == fmt.Sprintf("%T %v", want, want) {
			return true
		}
		if _, ok := abi.Percentile(m.Aggregation); !ok || fmt.Sprintf("%T", have) != fmt.Sprintf("%T", want) {
			continue
		}
		var got, exact float64
		least, part := 1024.0, 64.0
		if m.By.Label != "" {
			least, part = 32, 16
		}
		if scanNumber(have, &got) && scanNumber(want, &exact) && exact >= least && got > exact && got <= exact+exact/part {
			return true
		}
	}
	return false
}

// scanNumber reads a number as a message has it, such as 57ms.
func scanNumber(v any, into *float64) bool {
	_, err := fmt.Sscanf(strings.TrimSuffix(fmt.Sprint(v), "ms"), "%g", into)
	return err == nil
}
