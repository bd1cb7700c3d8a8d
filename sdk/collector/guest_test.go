package collector_test

import (
	"bytes"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// sums is a collector of one field, wider of the same and another behind it,
// other of another in its place.
type (
	sums  struct{ Chats uint64 }
	wider struct {
		Chats uint64
		Sent  collector.Mean
	}
	other struct{ Chats uint32 }
)

func (s *sums) Observe(e collector.Event) {
	if e.Chat() != nil {
		s.Chats++
	}
}

func (s *sums) Flush(m *collector.Metrics) {
	m.Count(0, s.Chats)
	s.Chats += 1000 // which a look must not leave behind
}

func (w *wider) Observe(e collector.Event) {
	if c := e.Chat(); c != nil {
		w.Chats++
		w.Sent.Add(uint64(c.Chunks))
	}
}

func (w *wider) Flush(m *collector.Metrics) {
	m.Count(0, w.Chats)
	m.Mean(1, w.Sent)
}

func (o *other) Observe(collector.Event)  { o.Chats++ }
func (o *other) Flush(*collector.Metrics) {}

var (
	look  = abi.AppendFlushInput(nil, 0)
	reset = abi.AppendFlushInput(nil, abi.FlushReset)
	chat  = event.Append(nil, &event.Chat{Outcome: event.ChatAnswered, Chunks: 7})
)

func count(n uint64) []byte { return abi.AppendMetric(nil, 0, abi.TagInt, n) }

func TestFlush(t *testing.T) {
	g := collector.NewGuest(&sums{})
	g.Observe(chat)
	for range 3 {
		if got := g.Flush(look); !bytes.Equal(got, count(1)) {
			t.Errorf("Flush = %x, want %x however often", got, count(1))
		}
	}
	if got := g.Flush(reset); !bytes.Equal(got, count(1)) {
		t.Errorf("Flush that resets = %x, want the window's %x", got, count(1))
	}
	if got := g.Flush(look); !bytes.Equal(got, count(0)) {
		t.Errorf("Flush after it = %x, want an empty window's %x", got, count(0))
	}
	if got := g.Flush(nil); len(got) != 0 {
		t.Errorf("Flush without flags = %x, want nothing", got)
	}
}

// TestObserve takes records of other hosts, and stops at what is none.
func TestObserve(t *testing.T) {
	g := collector.NewGuest(&wider{})
	older := []byte{15, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}
	unknown := []byte{0xa0, 0x0f, 0, 0, 0, 0, 0, 0}
	in := bytes.Join([][]byte{chat, unknown, older, chat, {1, 2, 3}}, nil)
	if got := g.Observe(in); got != 4 {
		t.Errorf("Observe took %d records, want the 4 that are whole", got)
	}
	want := abi.AppendMetric(count(3), 1, abi.TagRatio, 14, 3)
	if got := g.Flush(look); !bytes.Equal(got, want) {
		t.Errorf("Flush = %x, want %x", got, want)
	}
}

func TestSaveLoad(t *testing.T) {
	g := collector.NewGuest(&sums{})
	g.Observe(chat)
	saved := bytes.Clone(g.Save())

	again := collector.NewGuest(&sums{Chats: 50})
	if !again.Load(saved) || !bytes.Equal(again.Flush(look), count(1)) {
		t.Errorf("Flush after Load = %x, want %x", again.Flush(look), count(1))
	}
	newer := collector.NewGuest(&wider{Chats: 50, Sent: collector.Mean{Sum: 9, Count: 9}})
	if !newer.Load(saved) || !bytes.Equal(newer.Flush(look), count(1)) {
		t.Errorf("Flush of a newer version after Load = %x, want %x", newer.Flush(look), count(1))
	}

	stranger := collector.NewGuest(&other{Chats: 3})
	before := bytes.Clone(stranger.Save())
	bad := [][]byte{nil, saved[:7], saved[:len(saved)-1], newer.Save(), {255, 255, 255, 255, 0, 0, 0, 0}}
	for _, state := range append(bad, saved) {
		if stranger.Load(state) {
			t.Errorf("Load of %x into a collector with other fields: taken, want not", state)
		}
	}
	for _, state := range bad[:3] {
		if again.Load(state) {
			t.Errorf("Load of %x, which is cut off: taken, want not", state)
		}
	}
	if again.Load(bad[3]) {
		t.Error("Load of a newer version's state: taken, want not")
	}
	if got := stranger.Save(); !bytes.Equal(got, before) || !bytes.Equal(again.Flush(look), count(1)) {
		t.Error("a Load that was refused changed the collector")
	}
}

func TestRegisterRefuses(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("NewGuest of a type with a pointer: no panic, want one")
		}
	}()
	collector.Register(&withPointer{names: []string{"a"}})
}

type withPointer struct{ names []string }

func (*withPointer) Observe(collector.Event)  {}
func (*withPointer) Flush(*collector.Metrics) {}

// FuzzLoad loads anything; what is taken can be saved and flushed.
func FuzzLoad(f *testing.F) {
	g := collector.NewGuest(&wider{Chats: 3})
	f.Add(bytes.Clone(g.Save()))
	f.Fuzz(func(t *testing.T, b []byte) {
		g := collector.NewGuest(&wider{})
		g.Load(b)
		g.Observe(b)
		if len(g.Flush(look)) == 0 || len(g.Save()) == 0 {
			t.Error("Flush or Save answered nothing")
		}
	})
}
