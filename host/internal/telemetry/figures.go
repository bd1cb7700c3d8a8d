package telemetry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
)

// Values takes a sealed message apart: its values by metric path, each a bool,
// float64, string, []any of strings or nil. Of a metric with a label the path goes on
// with the label's value.
func Values(body []byte) (map[string]any, error) {
	var w struct {
		Context            map[string]any
		Properties, Traits map[string]any
	}
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	// What stands there in every message is not a metric.
	delete(w.Context, "ip")
	delete(w.Context, "collector")
	values := map[string]any{}
	flatten(values, contextPath, w.Context)
	flatten(values, "", w.Properties)
	flatten(values, "", w.Traits)
	return values, nil
}

func flatten(into map[string]any, prefix string, tree map[string]any) {
	for name, v := range tree {
		if deeper, ok := v.(map[string]any); ok {
			flatten(into, prefix+name+".", deeper)
		} else {
			into[prefix+name] = v
		}
	}
}

// A Figure is a number of a window, named as Prometheus wants it. Those of one
// family have the same help.
type Figure struct {
	Family, Help    string
	Collector, Path string
	Text            string  // of a metric that is a text or a list of some: the figure is 1
	Label, At       string  // of a metric with a label: its name and its value
	Value           float64 // of a histogram: the sum
	// Count and Buckets are of a histogram: by upper bound, how many numbers are not
	// above it.
	Count   uint64
	Buckets map[float64]uint64
}

// figurePrefix begins the families of all figures.
const figurePrefix = "parley_usage_"

// FamilyName is the family of a metric's figures, such as
// parley_usage_search_requests_total_received.
func FamilyName(collector string, m *abi.Metric) string {
	name := figurePrefix + collector + "_" + strings.TrimPrefix(m.Path, collector+".")
	if m.Format == abi.FormatMillis {
		name += "_seconds"
	}
	return strings.NewReplacer("-", "_", ".", "_").Replace(name)
}

// IsText reports whether the figures of m are one for each text.
func IsText(m *abi.Metric) bool {
	return m.Format != abi.FormatMillis && (m.Kind == abi.MetricString || m.Kind == abi.MetricArray)
}

// Figures returns what w says, as far as manifests, by name, know it: by family,
// each figure once.
func Figures(w Window, manifests map[string]*abi.Manifest) []Figure {
	type key struct{ collector, path, text, at string }
	all := map[key]Figure{}
	for _, message := range w.Messages {
		m := manifests[message.Collector]
		values, err := Values(message.Body)
		if m == nil || err != nil {
			continue // nobody says what it means any more
		}
		for i := range m.Metrics {
			one := &m.Metrics[i]
			for at, f := range histogramsAt(one, values) {
				f.Family, f.Help, f.Collector, f.Path, f.Label, f.At = FamilyName(m.Name, one), one.Meaning, m.Name, one.Path, one.By.Label, at
				all[key{m.Name, one.Path, "", at}] = f
			}
			if one.Kind == abi.MetricHistogram {
				continue
			}
			for at, v := range valuesAt(one, values) {
				for text, n := range numbers(one, v) {
					all[key{m.Name, one.Path, text, at}] = Figure{
						Family: FamilyName(m.Name, one), Help: one.Meaning, Collector: m.Name, Path: one.Path, Text: text, Label: one.By.Label, At: at, Value: n,
					}
				}
			}
		}
	}
	list := slices.SortedFunc(maps.Values(all), func(a, b Figure) int {
		return cmp.Or(strings.Compare(a.Family, b.Family), strings.Compare(a.Collector, b.Collector), strings.Compare(a.Path, b.Path), strings.Compare(a.Text, b.Text), strings.Compare(a.At, b.At))
	})
	for i := range list {
		if i > 0 && list[i-1].Family == list[i].Family {
			list[i].Help = list[i-1].Help // a.b_c and a_b.c meet
		}
	}
	return list
}

// histogramsAt returns what a message says of m, a histogram, as valuesAt does.
func histogramsAt(m *abi.Metric, values map[string]any) map[string]Figure {
	all := map[string]Figure{}
	for path, v := range values {
		at, of := strings.CutPrefix(path, m.Path+".")
		at, is := strings.CutSuffix("."+at, ".sum")
		if !of || !is || m.Kind != abi.MetricHistogram {
			continue
		}
		number := func(name string) float64 {
			n, _ := values[m.Path+at+"."+name].(float64)
			return n
		}
		sum, _ := v.(float64)
		f := Figure{Value: sum, Count: uint64(number("count")), Buckets: map[float64]uint64{}}
		for _, b := range m.Buckets {
			f.Buckets[float64(b)] = uint64(number("buckets." + strconv.FormatInt(b, 10)))
		}
		all[strings.TrimPrefix(at, ".")] = f
	}
	return all
}

// valuesAt returns what a message says of m: its value at "", or those of a metric
// with a label at the label's values.
func valuesAt(m *abi.Metric, values map[string]any) map[string]any {
	all := map[string]any{}
	if m.By.Label == "" {
		if v, ok := values[m.Path]; ok {
			all[""] = v
		}
		return all
	}
	for path, v := range values {
		if at, ok := strings.CutPrefix(path, m.Path+"."); ok {
			all[at] = v
		}
	}
	return all
}

// numbers is what v comes to: one number, or 1 for each text.
func numbers(m *abi.Metric, v any) map[string]float64 {
	if IsText(m) {
		texts := map[string]float64{}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, t := range list {
			if s, ok := t.(string); ok {
				texts[s] = 1
			}
		}
		return texts
	}
	switch v := v.(type) {
	case bool:
		if v {
			return map[string]float64{"": 1}
		}
		return map[string]float64{"": 0}
	case float64:
		return map[string]float64{"": v}
	case string: // of the format millis
		if n, err := strconv.ParseFloat(strings.TrimSuffix(v, "ms"), 64); err == nil {
			return map[string]float64{"": n / 1000}
		}
	}
	return nil
}
