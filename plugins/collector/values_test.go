package collector_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/event"
)

// The parts of the list's rules that a manifest says too: "0..2^31" and
// "enum a|b|c".
var (
	rangeForm = regexp.MustCompile(`\b(\d+)\.\.(\d+)(?:\^(\d+))?`)
	enumForm  = regexp.MustCompile(`enum (\w+(?:\|\w+)+)`)
)

// ownLabels are values of this service that the list does not know.
var ownLabels = map[string][]string{"matching_strategy.most_used_strategy": {"any"}}

// TestValues compares ranges and labels with the rules of the list.
func TestValues(t *testing.T) {
	rules, ranges, enums := list(t), 0, 0
	for name, m := range manifests(t) {
		for i := range m.Metrics {
			metric := &m.Metrics[i]
			rule := rules[metric.Path].values
			if want, ok := rangeOf(rule); ok && metric.Vocabulary == "" {
				ranges++
				if !slices.Equal(metric.Range, want) {
					t.Errorf("%s: the range of %s is %d, want %d: %s", name, metric.Path, metric.Range, want, rule)
				}
			}
			if found := enumForm.FindStringSubmatch(rule); found != nil && metric.Vocabulary == "" {
				enums++
				want := append(strings.Split(found[1], "|"), ownLabels[metric.Path]...)
				if got := slices.Sorted(slices.Values(metric.Labels)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
					t.Errorf("%s: the labels of %s are %q, want %q", name, metric.Path, metric.Labels, want)
				}
			}
		}
	}
	if ranges < 50 || enums < 8 {
		t.Errorf("compared %d ranges and %d lists of labels: the rules of the list have another form", ranges, enums)
	}
}

// rangeOf returns the range of a rule, as a manifest can say it: 2^53 itself is
// past the largest count.
func rangeOf(rule string) (r []int64, ok bool) {
	found := rangeForm.FindStringSubmatch(rule)
	if found == nil {
		return nil, false
	}
	least, _ := strconv.ParseInt(found[1], 10, 64) // digits alone
	most, _ := strconv.ParseInt(found[2], 10, 64)
	if found[3] != "" {
		power, _ := strconv.Atoi(found[3])
		most = 1 << power // the base is 2 throughout
	}
	return []int64{least, min(most, event.MaxCount)}, true
}
