package plugintest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestAggregate has every aggregation give values of each kind that a message may
// have of it.
func TestAggregate(t *testing.T) {
	say := func(e any) any { return e }
	numbers := []any{uint64(5), uint64(1), nil, uint64(3), uint64(1)}
	var thousand []any
	for n := range uint64(1000) {
		thousand = append(thousand, n+1)
	}
	tests := []struct {
		kind, format, aggregation string
		events                    []any
		want                      []any
	}{
		{"int", "", "sum", numbers, []any{int64(10)}},
		{"number", "", "sum", numbers, []any{10.0}},
		{"string", "millis", "sum", numbers, []any{"10ms"}},
		{"int", "", "max", numbers, []any{int64(5)}},
		{"number", "", "max", numbers, []any{5.0}},
		{"string", "millis", "max", numbers, []any{"5ms"}},
		{"number", "", "avg", numbers, []any{2.5}},
		{"int", "", "avg", numbers, []any{int64(2), int64(3)}},
		{"string", "millis", "avg", numbers, []any{"2ms", "3ms"}},
		{"int", "", "last", numbers, []any{int64(1)}},
		{"number", "", "last", numbers, []any{1.0}},
		{"string", "millis", "last", numbers, []any{"1ms"}},
		{"bool", "", "last", []any{true, false}, []any{false}},
		{"string", "", "last", []any{"b", "a"}, []any{"a"}},
		{"string", "", "last", []any{"b", Null{}}, []any{nil}},
		{"int", "", "last", []any{uint64(1), Nothing{}}, []any{nothing}},
		{"array<string>", "", "last", []any{[]string{"b", "a"}}, []any{[]string{"a", "b"}}},
		{"string", "list", "last", []any{[]string{"b", "a"}}, []any{"b, a"}}, // in the order of the event
		{"bool", "", "any", []any{false, true, false}, []any{true}},
		{"bool", "", "any", []any{uint64(0), false}, []any{false}},
		{"int", "", "p50", thousand, []any{int64(500)}},
		{"int", "", "p99", thousand, []any{int64(990)}},
		{"number", "", "p99.9", thousand, []any{999.0}},
		{"string", "millis", "p95", thousand, []any{"950ms"}},
		{"string", "", "most_used", []any{"b", "a", "b"}, []any{"b"}},
		{"int", "", "most_used", numbers, []any{int64(1)}},
		{"bool", "", "most_used", []any{true, false, true}, []any{true}},
		{"array<string>", "", "set", []any{"b", []string{"a", "b"}}, []any{[]string{"a", "b"}}},
		{"string", "list", "set", []any{"b", "a", "b"}, []any{"b, a"}},
		{"int", "", "sum", []any{Null{}, uint64(2)}, []any{int64(2)}},
	}
	for _, tt := range tests {
		m := &abi.Metric{Kind: tt.kind, Format: tt.format, Aggregation: tt.aggregation, NoData: abi.NoDataOmit, Range: []int64{0, 5000}}
		got, err := aggregateSaid(m, say, tt.events)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s %s of %.60v = %#v, %v, want %#v", tt.aggregation, tt.kind, tt.format, tt.events, got, err, tt.want)
		}
		for _, want := range got {
			if !isAlike(m, want, got) {
				t.Errorf("%s %s: %v is not alike itself", tt.aggregation, tt.kind, want)
			}
		}
		if got, err := aggregateSaid(m, say, nil); err != nil || fmt.Sprint(got) != fmt.Sprint([]any{nothing}) {
			t.Errorf("%s %s of no events = %v, %v, want nothing", tt.aggregation, tt.kind, got, err)
		}
	}
	for _, tt := range []struct {
		have, want any
		alike      bool
	}{
		{"2030ms", "2000ms", true},
		{"2040ms", "2000ms", false},
		{"1999ms", "2000ms", false},
		{int64(2030), int64(2000), true},
		{2030.0, 2000.0, true},
		{int64(2000), 2000.0, false},
		{int64(501), int64(500), false},
	} {
		if got := isAlike(&abi.Metric{Aggregation: "p95"}, tt.have, []any{tt.want}); got != tt.alike {
			t.Errorf("%v alike %v: %v", tt.have, tt.want, got)
		}
	}
}

func TestPercentile(t *testing.T) {
	for aggregation, want := range map[string]uint64{"p50": 500, "p95": 950, "p99": 990, "p99.9": 999, "p99.5": 995, "p50.1": 501} {
		if got, ok := abi.Percentile(aggregation); got != want || !ok {
			t.Errorf("Percentile(%q) = %d, %v, want %d", aggregation, got, ok, want)
		}
	}
	for _, aggregation := range []string{"", "p", "p9", "p49", "p49.9", "p100", "p99.", "p99.99", "p99.0", "p9.99", "q99", "p99,9", "P99", "sum"} {
		if got, ok := abi.Percentile(aggregation); ok {
			t.Errorf("Percentile(%q) = %d, want none", aggregation, got)
		}
	}
}
