package plugintest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// A Rule returns what event e, such as an event.Search, says of a metric: a
// bool, a uint64, a string or a []string; [Share]; [Null] or [Nothing]; [At] of a metric
// with a label; or nil where it says nothing.
// The metric is then what its manifest's aggregation makes of all that the
// events of a window said.
type Rule func(e any) any

// At is what a [Rule] returns of a metric with a label: what is said, a bool or a
// uint64, and of which of the label's values; nothing where that is empty.
type At struct {
	Value string
	Said  any
}

// Share is what a [Rule] returns of a metric whose aggregation is share.
type Share struct{ Part, Whole uint64 }

// Null and Nothing are what a [Rule] returns for a value that is null, and for
// one that is taken back: the metric is left out again.
type (
	Null    struct{}
	Nothing struct{}
)

// A Reference is a second, plain form of a collector: a rule for each path.
type Reference map[string]Rule

// Says returns the rule that fields say the metric, each as "Search.Limit": the
// event and the field by their names in Go.
func (d *CollectorDriver) Says(fields ...string) Rule {
	return func(e any) any {
		for _, field := range fields {
			kind, name, _ := strings.Cut(field, ".")
			if v := reflect.ValueOf(e); v.Type().Name() == kind {
				f, ok := v.Type().FieldByName(name)
				if !ok {
					d.t.Fatalf("rule %q: the event has no such field", field)
				}
				return d.said(v.FieldByIndex(f.Index))
			}
		}
		return nil
	}
}

// SaysAt is Says for a metric with a label, whose value the first field says, as a
// handle or an ordinal.
func (d *CollectorDriver) SaysAt(label string, fields ...string) Rule {
	value, said := d.Says(label), d.Says(fields...)
	return func(e any) any {
		at, ok := value(e).(string)
		if !ok {
			return nil
		}
		return At{at, said(e)}
	}
}

// said returns a field as a rule does.
func (d *CollectorDriver) said(f reflect.Value) any {
	switch v := f.Interface().(type) {
	case event.Flag:
		return v != 0
	case event.Count:
		return uint64(v)
	case event.MaybeFlag:
		if yes, given := v.Get(); given {
			return yes
		}
		return nil
	case event.MaybeCount:
		if n, given := v.Get(); given {
			return n
		}
		return nil
	case event.Handle:
		if v == 0 {
			return nil
		}
		return d.texts[v-1].text
	case event.Locales:
		return labelsOf(event.Locale(0).Labels(), v[:])
	case interface{ Members() []string }: // an event.Set
		return labelsOf(v.Members(), []uint64{f.Uint()})
	case interface{ Labels() []string }:
		labels := v.Labels()
		switch n := int(f.Uint()); {
		case n >= 1 && n <= len(labels):
			return labels[n-1]
		case n > 0 && slices.Contains(labels, "other"):
			return "other"
		}
		return nil
	}
	panic("plugintest: a field of type " + f.Type().String())
}

func labelsOf(labels []string, words []uint64) (set []string) {
	for i, l := range labels {
		if words[i/64]>>(i%64)&1 == 1 {
			set = append(set, l)
		}
	}
	return set
}

// Compare gives the collector windows of random events, in batches of random
// sizes and with states saved and loaded between, and holds each window's
// metrics to the reference. It fails, too, where no window moves a metric. Of each
// metric it tells the first difference.
func (d *CollectorDriver) Compare(reference Reference) {
	d.t.Helper()
	for path := range reference {
		if !slices.ContainsFunc(d.manifest.Metrics, func(m abi.Metric) bool { return m.Path == path }) {
			d.t.Errorf("the reference has a rule for %s, which is not a metric", path)
		}
	}
	different := map[string]map[string]bool{}
	wrong := map[string]bool{} // metrics of which the test has been told
	for i := range d.manifest.Metrics {
		if m := &d.manifest.Metrics[i]; len(m.Constant) == 0 && reference[m.Path] == nil {
			d.t.Errorf("metric %s has no rule", m.Path)
			wrong[m.Path] = true
		}
	}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 64))
		events := d.window(rnd)
		got := d.End()
		for i := range d.manifest.Metrics {
			m := &d.manifest.Metrics[i]
			if len(m.Constant) > 0 || wrong[m.Path] {
				continue // the host writes it, or the first difference is enough
			}
			have, ok := got[m.Path]
			if !ok {
				have = nothing
			}
			difference, err := compareMetric(m, reference[m.Path], events, have)
			if err != nil {
				d.t.Errorf("metric %s: %v", m.Path, err)
				wrong[m.Path] = true
				continue
			}
			if difference != "" {
				d.t.Errorf("window %d of %d events: %s", seed, len(events), difference)
				wrong[m.Path] = true
			}
			if different[m.Path] == nil {
				different[m.Path] = map[string]bool{}
			}
			different[m.Path][fmt.Sprint(have)] = true
		}
	}
	for path, values := range different {
		if len(values) < 2 && !wrong[path] {
			d.t.Errorf("metric %s was the same in all windows: these events do not move it", path)
		}
	}
}

// compareMetric says how what a window has of a metric differs from what its rule
// makes of the events; empty: it does not.
func compareMetric(m *abi.Metric, rule Rule, events []any, have any) (difference string, err error) {
	if m.By.Label == "" {
		want, err := aggregateSaid(m, rule, events)
		if err != nil || isAlike(m, have, want) {
			return "", err
		}
		return fmt.Sprintf("%s = %v, want %v", m.Path, have, want[0]), nil
	}
	byValue := map[string][]any{}
	for _, e := range events {
		switch at := rule(e).(type) {
		case nil:
		case At:
			byValue[at.Value] = append(byValue[at.Value], at.Said)
		default:
			return "", fmt.Errorf("its rule says %v, and a metric with a label wants an At", at)
		}
	}
	all, _ := have.(map[string]any)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if _, ok := byValue[at]; !ok {
			return fmt.Sprintf("%s has %v for %s %s, want nothing", m.Path, all[at], m.By.Label, at), nil
		}
	}
	for _, at := range slices.Sorted(maps.Keys(byValue)) {
		want, err := aggregateSaid(m, func(said any) any { return said }, byValue[at])
		if err != nil {
			return "", err
		}
		have, ok := all[at]
		if !ok {
			have = nothing
		}
		if !isAlike(m, have, want) {
			return fmt.Sprintf("%s = %v for %s %s, want %v", m.Path, have, m.By.Label, at, want[0]), nil
		}
	}
	return "", nil
}

// window gives the collector the events of one window, and returns them.
func (d *CollectorDriver) window(rnd *rand.Rand) (events []any) {
	kinds := make([]event.Kind, len(d.manifest.Events))
	for i, name := range d.manifest.Events {
		kinds[i] = event.KindOf(name)
	}
	var batch []byte
	deliver := func() {
		d.Observe(batch)
		if rnd.IntN(4) == 0 {
			state := d.Save()
			d.guest.Observe(batch) // which load must undo
			if !d.Load(state) {
				d.t.Error("load refuses what save wrote")
			}
		}
		batch = batch[:0]
	}
	add := func(kind event.Kind) {
		e, record := randomEvent(d, kind, rnd)
		events, batch = append(events, e), append(batch, record...)
		if rnd.IntN(20) == 0 {
			deliver()
		}
	}
	slices.SortFunc(kinds, cmp.Compare[event.Kind])
	for _, kind := range kinds {
		if kind <= event.KindHost { // a window begins with what the host tells of itself
			add(kind)
		}
	}
	// Short windows are where "none of them" shows.
	for range []int{0, 1, 2, 5, 150}[rnd.IntN(5)] {
		add(kinds[rnd.IntN(len(kinds))])
	}
	deliver()
	return events
}
