// Package metric reads what a collector says of its metrics and holds it to
// what the manifest allows. Host and test kit share it; no guest needs it.
package metric

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
)

// A Texts gives the text of a handle; ok is false where the vocabulary has no
// such handle in this window.
type Texts func(vocabulary string, handle uint64) (text string, ok bool)

// Value returns what record r says of metric m, as a message has it: nil, bool, int64,
// float64, string, []string or [Histogram], a list in order and nil where it has no
// entries. An error
// says why the record is not what m allows. Tags that are not known are an
// error here; whoever wants to skip them asks [Known].
func Value(m *abi.Metric, r abi.MetricRecord, texts Texts) (any, error) {
	if len(m.Constant) > 0 {
		return nil, fmt.Errorf("it is a constant, which the host writes")
	}
	if err := checkLen(r); err != nil {
		return nil, err
	}
	switch r.Tag {
	case abi.TagNull:
		if !m.Nullable {
			return nil, fmt.Errorf("it is null and may not be")
		}
		return nil, nil
	case abi.TagBool:
		if m.Kind == abi.MetricBool && r.Word(0) <= 1 {
			return r.Word(0) == 1, nil
		}
	case abi.TagInt:
		return numberValue(m, int64(r.Word(0)))
	case abi.TagRatio:
		return ratioValue(m, int64(r.Word(0)), r.Word(1))
	case abi.TagHistogram:
		return histogramValue(m, r)
	case abi.TagLabels, abi.TagHandles:
		return textValue(m, r, texts)
	}
	return nil, fmt.Errorf("it has tag %d with a first word that its kind %s has no room for", r.Tag, m.Kind)
}

// Known reports whether t is a tag of this version.
func Known(t abi.MetricTag) bool {
	t &^= abi.TagBy
	return t >= abi.TagNull && t <= abi.TagHistogram
}

// checkLen holds the number of words to the tag.
func checkLen(r abi.MetricRecord) error {
	want := 1
	switch r.Tag {
	case abi.TagNull:
		want = 0
	case abi.TagRatio:
		want = 2
	case abi.TagHistogram:
		return nil // [histogramValue] knows how many
	case abi.TagLabels, abi.TagHandles:
		if r.Len() > abi.MaxLabels {
			return fmt.Errorf("it has %d entries and may have %d at the very most", r.Len(), abi.MaxLabels)
		}
		return nil
	}
	if r.Len() != want {
		return fmt.Errorf("tag %d has %d words and must have %d", r.Tag, r.Len(), want)
	}
	return nil
}

func numberValue(m *abi.Metric, n int64) (any, error) {
	whole := m.Kind == abi.MetricInt || m.Kind == abi.MetricNumber
	if !whole && m.Format != abi.FormatMillis {
		return nil, fmt.Errorf("it is an int and its kind is %s", m.Kind)
	}
	if n < m.Range[0] || n > m.Range[1] {
		return nil, fmt.Errorf("%d is not within %d to %d", n, m.Range[0], m.Range[1])
	}
	switch {
	case m.Format == abi.FormatMillis:
		return strconv.FormatInt(n, 10) + "ms", nil
	case m.Kind == abi.MetricNumber:
		return float64(n), nil
	}
	return n, nil
}

func ratioValue(m *abi.Metric, numerator int64, denominator uint64) (any, error) {
	if m.Kind != abi.MetricNumber {
		return nil, fmt.Errorf("it is a ratio and its kind is %s", m.Kind)
	}
	if denominator == 0 {
		return nil, fmt.Errorf("it is a ratio by 0")
	}
	v := float64(numerator) / float64(denominator)
	if v < float64(m.Range[0]) || v > float64(m.Range[1]) {
		return nil, fmt.Errorf("%v is not within %d to %d", v, m.Range[0], m.Range[1])
	}
	return v, nil
}

// textValue returns the text or the texts of a record of ordinals or handles.
func textValue(m *abi.Metric, r abi.MetricRecord, texts Texts) (any, error) {
	most := 0
	switch {
	case m.Kind == abi.MetricString && m.Format == "":
		most = 1
	case m.Kind == abi.MetricString && m.Format == abi.FormatList:
		most = len(m.Labels)
	case m.Kind == abi.MetricArray && m.MaxItems > 0:
		most = m.MaxItems
	case m.Kind == abi.MetricArray:
		most = abi.DefaultItems
	default:
		return nil, fmt.Errorf("it has texts, for which its kind %s has no room", strings.TrimSpace(m.Kind+" "+m.Format))
	}
	if r.Len() > most || r.Len() == 0 && m.Kind == abi.MetricString && m.Format == "" {
		return nil, fmt.Errorf("it has %d texts and may have %d", r.Len(), most)
	}
	all := make([]string, 0, r.Len())
	for i := range r.Len() {
		s, ok := oneText(m, r.Tag, r.Word(i), texts)
		if !ok {
			return nil, fmt.Errorf("it has no text for %d", r.Word(i))
		}
		if slices.Contains(all, s) {
			return nil, fmt.Errorf("it has %d twice", r.Word(i))
		}
		all = append(all, s)
	}
	switch {
	case m.Format == abi.FormatList:
		return strings.Join(all, ", "), nil
	case m.Kind == abi.MetricString:
		return all[0], nil
	case len(all) == 0:
		return []string(nil), nil
	}
	slices.Sort(all)
	return all, nil
}

func oneText(m *abi.Metric, tag abi.MetricTag, word uint64, texts Texts) (string, bool) {
	if tag == abi.TagHandles {
		if m.Vocabulary == "" {
			return "", false
		}
		return texts(m.Vocabulary, word)
	}
	if word < 1 || word > uint64(len(m.Labels)) {
		return "", false
	}
	return m.Labels[word-1], true
}
