package collector_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// TestLatency compares with sorting: exact below 1024, and at most one part in
// 64 too much above it.
func TestLatency(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 99, 100, 101, 5000} {
		for _, top := range []uint64{1, 1000, 1024, 100_000, 1 << 23} {
			var l collector.Latency
			var all []uint64
			for range size {
				n := rnd.Uint64N(top)
				l.Add(n)
				all = append(all, n)
			}
			slices.Sort(all)
			for _, p := range []uint64{1, 50, 99, 100} {
				want := all[(uint64(size)*p+99)/100-1]
				got, ok := l.Percentile(p)
				if !ok || got < want || got > want+want/64 || want < 1024 && got != want {
					t.Errorf("Percentile(%d) of %d numbers below %d = %d, %v, want %d", p, size, top, got, ok, want)
				}
			}
		}
	}
	var l collector.Latency
	if _, ok := l.Percentile(99); ok {
		t.Error("Percentile of nothing: ok, want not")
	}
	l.Add(1 << 60)
	if got, _ := l.Percentile(99); got != 1<<24-1 {
		t.Errorf("Percentile of 1<<60 = %d, want the largest there is, %d", got, 1<<24-1)
	}
}

func TestTally(t *testing.T) {
	var nav collector.Tally[event.Navigation]
	if got := nav.Most(); got != 0 {
		t.Errorf("Most of nothing = %d, want 0", got)
	}
	nav.Add(event.Estimated)
	nav.Add(event.Exhaustive)
	if got := nav.Most(); got != uint64(event.Estimated) {
		t.Errorf("Most of one each = %d, want estimated, which comes first in the alphabet", got)
	}
	nav.Add(event.Exhaustive)
	nav.Add(0)
	nav.Add(200)
	if got := nav.Most(); got != uint64(event.Exhaustive) {
		t.Errorf("Most = %d, want exhaustive", got)
	}
	if got := nav.Count(event.Exhaustive); got != 2 {
		t.Errorf("Count = %d, want 2", got)
	}
	if got := nav.Count(200) + nav.Count(0); got != 0 {
		t.Errorf("Count of what there is not = %d, want 0", got)
	}
}

func TestSum(t *testing.T) {
	var s collector.Sum
	s.Add(2)
	s.Add(3)
	if s != 5 {
		t.Errorf("Sum of 2 and 3 = %d", s)
	}
	for range 3000 { // of which 2048 would not fit into 64 bits
		s.Add(math.MaxUint64)
	}
	if s != event.MaxCount {
		t.Errorf("Sum of too much = %d, want %d", s, uint64(event.MaxCount))
	}
}

func TestMean(t *testing.T) {
	var m collector.Mean
	m.Add(math.MaxInt64 - 1)
	m.Add(2)
	if m.Sum != math.MaxInt64-1 || m.Count != 1 {
		t.Errorf("Mean = %+v, want the number that fits alone", m)
	}
}

func TestKeep(t *testing.T) {
	var last event.MaybeCount
	collector.Keep(&last, event.MaybeCountOf(0))
	collector.Keep(&last, 0)
	if n, given := last.Get(); !given || n != 0 {
		t.Errorf("Keep of 0 and then of nothing = %d, %v, want 0 that was given", n, given)
	}
}

func TestKnown(t *testing.T) {
	if got := collector.Known(event.Env(2)); got != 2 {
		t.Errorf("Known of production = %d, want 2", got)
	}
	if got := collector.Known(event.Env(200)); got != uint64(event.OrdinalOf[event.Env]("other")) {
		t.Errorf("Known of a newer host's env = %d, want other", got)
	}
	if got := collector.Known(event.LogsMode(9)) + collector.Known(event.Env(0)); got != 0 {
		t.Errorf("Known of what has no other, and of none = %d, want 0", got)
	}
	if got := collector.KnownSet[event.EmbedderSource](math.MaxUint64, 1); !slices.Equal(got, []uint64{1<<7 - 1, 0}) {
		t.Errorf("KnownSet = %x, want the 7 that there are", got)
	}
}

// handles is a collector whose set is loaded from anything.
type handles struct{ set collector.Handles }

func (h *handles) Observe(e collector.Event)  { h.set.Add(e.HTTPRequest().UserAgent) }
func (h *handles) Flush(m *collector.Metrics) { m.Handles(0, &h.set) }

// TestHandlesLoaded loads a set that says it has more than it can.
func TestHandlesLoaded(t *testing.T) {
	g := collector.NewGuest(&handles{})
	state := bytes.Clone(g.Save())
	copy(state[8:], bytes.Repeat([]byte{0xff}, 8))
	if !g.Load(state) {
		t.Fatal("Load refused a state of the same form")
	}
	g.Observe(event.Append(nil, &event.HTTPRequest{UserAgent: 7}))
	r, _, ok, err := abi.NextMetric(g.Flush(look))
	if err != nil || !ok || r.Len() != abi.DefaultItems {
		t.Errorf("Flush = %d handles, %v, %v, want the %d that there is room for", r.Len(), ok, err, abi.DefaultItems)
	}
}

// divided is a collector by handles, as many as there may be.
type divided struct{ by collector.By[collector.Sum] }

func (d *divided) Observe(e collector.Event) { d.by.At(uint64(e.HTTPRequest().UserAgent)).Add(1) }

func (d *divided) Flush(m *collector.Metrics) {
	for value, n := range d.by.All() {
		m.For(value).Count(3, uint64(*n))
	}
}

// TestBy has a value for each of a label's values, in the order in which they came,
// as far as there is room; 0 is none.
func TestBy(t *testing.T) {
	g := collector.NewGuest(&divided{})
	for _, h := range []event.Handle{9, 0, 4, 9} {
		g.Observe(event.Append(nil, &event.HTTPRequest{UserAgent: h}))
	}
	want := abi.AppendMetric(nil, 3, abi.TagInt|abi.TagBy, 9, 2)
	want = abi.AppendMetric(want, 3, abi.TagInt|abi.TagBy, 4, 1)
	if got := g.Flush(look); !bytes.Equal(got, want) {
		t.Errorf("Flush = %x, want %x", got, want)
	}
	for h := range event.Handle(1000) {
		g.Observe(event.Append(nil, &event.HTTPRequest{UserAgent: h}))
	}
	n := 0
	for rest := g.Flush(look); ; n++ {
		r, next, ok, err := abi.NextMetric(rest)
		if err != nil || !ok {
			break
		}
		if value, of, ok := r.SplitBy(); !ok || value == 0 || of.Tag != abi.TagInt || of.Len() != 1 {
			t.Errorf("record %d: value %d, tag %d, %d words, want an int of a value", n, value, of.Tag, of.Len())
		}
		rest = next
	}
	if n != abi.MaxByValues+1 {
		t.Errorf("%d values, want the %d that there is room for", n, abi.MaxByValues+1)
	}
	// A state that says it has more than it can.
	state := bytes.Clone(g.Save())
	copy(state[8:], bytes.Repeat([]byte{0xff}, 8))
	if !g.Load(state) {
		t.Fatal("Load refused a state of the same form")
	}
	g.Observe(event.Append(nil, &event.HTTPRequest{UserAgent: 2000}))
	if got := len(g.Flush(look)); got != n*(8+16) {
		t.Errorf("Flush after that state has %d bytes, want those of %d values", got, n)
	}
}
