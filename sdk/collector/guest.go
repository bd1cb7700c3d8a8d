package collector

import (
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/internal/guestmem"
)

// A Guest is a collector as the host sees it: bytes in, bytes out. The exports
// of a module call it, and so do plain-Go tests. What a call returns is good
// until the next one.
type Guest interface {
	// Observe takes event records and returns how many it took.
	Observe(in []byte) uint32
	// Flush takes what abi.AppendFlushInput writes and returns metric records.
	Flush(in []byte) []byte
	// Save returns the state of the window so far.
	Save() []byte
	// Load takes what Save returned; false where it cannot, and then nothing
	// has changed.
	Load(in []byte) bool
}

// NewGuest returns c as the host sees it. It panics where S has pointers in it
// or is too large to be saved, which is an error of the plugin's program.
func NewGuest[S any, C interface {
	*S
	Collector
}](c C) Guest {
	if guestmem.HasPointers[S]() {
		panic("collector: a collector's type must not have pointers in it")
	}
	if size := len(guestmem.BytesOf((*S)(c))) + stateHead; size > abi.MaxSaved {
		panic("collector: a collector's type has " + strconv.Itoa(size-stateHead) + " bytes and may have " + strconv.Itoa(abi.MaxSaved-stateHead))
	}
	return &guest[S, C]{collector: c}
}

type guest[S any, C interface {
	*S
	Collector
}] struct {
	collector C
	metrics   Metrics
	saved     []byte
}

func (g *guest[S, C]) Observe(in []byte) (taken uint32) {
	for {
		r, rest, ok, err := event.Next(in)
		if err != nil || !ok {
			return taken
		}
		// Here, once, so that asking an event for its fields is so short that the
		// compiler puts it in place: a call is dear in Wasm.
		if !event.Whole(r) {
			r = event.Fill(r)
		}
		g.collector.Observe(Event{r})
		taken++
		in = rest
	}
}

func (g *guest[S, C]) Flush(in []byte) []byte {
	flags, err := abi.ParseFlushInput(in)
	if err != nil {
		return nil
	}
	state := (*S)(g.collector)
	before := *state
	g.metrics.records = g.metrics.records[:0]
	g.collector.Flush(&g.metrics)
	*state = before
	if flags&abi.FlushReset != 0 {
		clear(guestmem.BytesOf(state))
	}
	return g.metrics.records
}

func (g *guest[S, C]) Save() []byte {
	state := (*S)(g.collector)
	g.saved = appendHead[S](g.saved[:0])
	g.saved = append(g.saved, guestmem.BytesOf(state)...)
	return g.saved
}

func (g *guest[S, C]) Load(in []byte) bool {
	size, ok := countLoadable[S](in)
	if !ok {
		return false
	}
	b := guestmem.BytesOf((*S)(g.collector))
	clear(b[copy(b, in[stateHead:stateHead+size]):])
	return true
}
