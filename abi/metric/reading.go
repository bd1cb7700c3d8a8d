package metric

import (
	"fmt"

	"github.com/parley-search/parley/abi"
)

// maxProblems bounds what is told of one window.
const maxProblems = 8

// A Reading is what one answer of flush says, held to the manifest. Its slices
// have a place for each metric, in the manifest's order.
type Reading struct {
	// Values are those that may be sent, as [Value] has them; of a metric with a
	// label, a map[string]any of such values by those of the label. Given says
	// where there is one: nil may be a value, too.
	Values []any
	Given  []bool
	// Seen says of which metrics there was a record, right or wrong.
	Seen []bool
	// Problems are sentences, the first eight; Wrong counts all.
	Problems []string
	Wrong    int

	dropped map[string]bool // values of labels that came twice, by path and value
}

// Read reads what flush answered.
func Read(metrics []abi.Metric, records []byte, texts Texts) *Reading {
	n := len(metrics)
	r := &Reading{Values: make([]any, n), Given: make([]bool, n), Seen: make([]bool, n)}
	for {
		record, rest, ok, err := abi.NextMetric(records)
		if err != nil {
			r.wrong("its bytes are not metric records")
		}
		if err != nil || !ok {
			return r
		}
		records = rest
		switch {
		case !Known(record.Tag):
		case int(record.Metric) >= n:
			r.wrong("metric %d is not in the manifest, which has %d", record.Metric, n)
		default:
			r.add(&metrics[record.Metric], record, texts)
		}
	}
}

func (r *Reading) wrong(format string, args ...any) {
	if r.Wrong++; len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// add takes one record of m. What comes twice is neither of the two.
func (r *Reading) add(m *abi.Metric, record abi.MetricRecord, texts Texts) {
	at := record.Metric
	value, bare, labelled := record.SplitBy()
	if m.By.Label == "" && !labelled {
		if r.Seen[at] {
			r.Given[at] = false
			r.wrong("metric %s comes twice", m.Path)
			return
		}
		r.Seen[at] = true
		v, err := Value(m, record, texts)
		if err != nil {
			r.wrong("metric %s: %v", m.Path, err)
			return
		}
		if list, ok := v.([]string); !ok || len(list) > 0 {
			r.Values[at], r.Given[at] = v, true
		}
		return
	}
	r.Seen[at] = true
	label, err := labelText(m, value, labelled, texts)
	var v any
	if err == nil {
		v, err = Value(m, bare, texts)
	}
	if err != nil {
		r.wrong("metric %s: %v", m.Path, err)
		return
	}
	r.addLabelled(m, at, label, v)
}

// addLabelled takes the value of one value of m's label.
func (r *Reading) addLabelled(m *abi.Metric, at uint16, label string, v any) {
	all, ok := r.Values[at].(map[string]any)
	if !ok {
		all = map[string]any{}
		r.Values[at] = all
	}
	if _, twice := all[label]; twice || r.dropped[m.Path+"\n"+label] {
		if r.dropped == nil {
			r.dropped = map[string]bool{}
		}
		r.dropped[m.Path+"\n"+label] = true
		delete(all, label)
		r.wrong("metric %s comes twice with the %s %s", m.Path, m.By.Label, label)
	} else {
		all[label] = v
	}
	r.Given[at] = len(all) > 0
}

// labelText returns the value of m's label as a text.
func labelText(m *abi.Metric, value uint64, given bool, texts Texts) (string, error) {
	by := &m.By
	switch {
	case by.Label == "":
		return "", fmt.Errorf("it has a label, for which its manifest has no member by")
	case !given:
		return "", fmt.Errorf("it lacks the value of its label %s", by.Label)
	case by.Vocabulary != "":
		if s, ok := texts(by.Vocabulary, value); ok {
			return s, nil
		}
	case value >= 1 && value <= uint64(len(by.Values)):
		return by.Values[value-1], nil
	}
	return "", fmt.Errorf("its label %s has no value %d", by.Label, value)
}
