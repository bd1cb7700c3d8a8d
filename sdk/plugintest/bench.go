package plugintest

import (
	"testing"

	"github.com/parley-search/parley/abi"
)

// Bench decodes the body of a stream from its first event on, one event a
// call, again and again; a turn of the loop is one event.
func Bench(b *testing.B, d *Driver, body []byte) {
	b.Helper()
	events := Frame(body)
	if len(events) == 0 {
		b.Fatal("no events")
	}
	bytes := 0
	for _, e := range events {
		bytes += len(e.Data)
	}
	var in, state []byte
	b.SetBytes(int64(bytes / len(events)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at, flags := i%len(events), byte(0)
		if at == 0 {
			state, flags = state[:0], abi.FlagFirst
		}
		in = abi.AppendDecodeInput(in[:0], state, flags, events[at:at+1])
		out, err := d.guest.Decode(in)
		if err != nil {
			b.Fatal(err)
		}
		next, _, err := abi.DecodeOutput(out)
		if err != nil {
			b.Fatal(err)
		}
		state = append(state[:0], next...)
	}
}
