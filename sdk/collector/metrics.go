package collector

import (
	"math/bits"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
)

// Metrics takes the metrics of a window. The first argument of each method is
// the metric's place in the manifest, from 0; a metric that nothing is said of
// has no data.
type Metrics struct {
	records []byte
	of      *Metrics // that these are written to, with this value of the label
	value   uint64
}

func (m *Metrics) add(metric int, tag abi.MetricTag, words ...uint64) {
	if m.of != nil {
		m.of.add(metric, tag|abi.TagBy, append([]uint64{m.value}, words...)...)
		return
	}
	m.records = abi.AppendMetric(m.records, uint16(metric), tag, words...)
}

// For returns what writes metrics with a label, of one value of it: a handle, or
// the ordinal of a text in the manifest's by.values. Only the methods for bool, int
// and number are of use there.
func (m *Metrics) For(value uint64) *Metrics { return &Metrics{of: m, value: value} }

// Bool sets a bool.
func (m *Metrics) Bool(metric int, v bool) { m.add(metric, abi.TagBool, uint64(event.FlagOf(v))) }

// Int sets an int, a number, or a string of format millis.
func (m *Metrics) Int(metric int, v int64) { m.add(metric, abi.TagInt, uint64(v)) }

// Count is Int for the kinds of count that events have.
func (m *Metrics) Count(metric int, v uint64) { m.add(metric, abi.TagInt, min(v, event.MaxCount)) }

// UpTo is Count for a metric whose range ends at most: what is more than that
// counts as most. A value out of its range would be dropped, and a few windows
// with one switch the collector off.
func (m *Metrics) UpTo(metric int, v, most uint64) { m.Count(metric, min(v, most)) }

// MaybeUpTo is UpTo for what an event may leave open; nothing where it does.
func (m *Metrics) MaybeUpTo(metric int, v event.MaybeCount, most uint64) {
	if n, given := v.Get(); given {
		m.UpTo(metric, n, most)
	}
}

// Flag sets a bool.
func (m *Metrics) Flag(metric int, v event.Flag) { m.Bool(metric, v != 0) }

// MaybeFlag sets a bool; nothing where nothing was said.
func (m *Metrics) MaybeFlag(metric int, v event.MaybeFlag) {
	if yes, given := v.Get(); given {
		m.Bool(metric, yes)
	}
}

// Null sets a metric that may be null to it.
func (m *Metrics) Null(metric int) { m.add(metric, abi.TagNull) }

// Ratio sets a number to numerator/denominator; nothing where the denominator
// is 0.
func (m *Metrics) Ratio(metric int, numerator, denominator uint64) {
	if denominator > 0 {
		m.add(metric, abi.TagRatio, numerator, denominator)
	}
}

// Label sets a string to the label of that ordinal, from 1; nothing for 0.
func (m *Metrics) Label(metric int, ordinal uint64) {
	if ordinal > 0 {
		m.add(metric, abi.TagLabels, ordinal)
	}
}

// List sets an array, or a string of format list, to the labels of those
// ordinals.
func (m *Metrics) List(metric int, ordinals ...uint64) { m.add(metric, abi.TagLabels, ordinals...) }

// Set sets an array to the labels whose bits are set: bit i of word w is the
// ordinal 64*w+i+1. It ends where an array must.
func (m *Metrics) Set(metric int, words ...uint64) {
	var ordinals [abi.MaxItems]uint64
	n := 0
	for i, w := range words {
		for ; w != 0 && n < len(ordinals); w &= w - 1 {
			ordinals[n] = uint64(64*i + bits.TrailingZeros64(w) + 1)
			n++
		}
	}
	m.add(metric, abi.TagLabels, ordinals[:n]...)
}

// Handle sets a string to the text of h; nothing for 0.
func (m *Metrics) Handle(metric int, h event.Handle) {
	if h > 0 {
		m.add(metric, abi.TagHandles, uint64(h))
	}
}

// Handles sets an array to the texts of h.
func (m *Metrics) Handles(metric int, h *Handles) {
	var words [len(h.list)]uint64
	all := h.all()
	for i, handle := range all {
		words[i] = uint64(handle)
	}
	m.add(metric, abi.TagHandles, words[:len(all)]...)
}

// Mean sets a number to the mean; nothing where nothing was added to it.
func (m *Metrics) Mean(metric int, v Mean) { m.Ratio(metric, v.Sum, v.Count) }
