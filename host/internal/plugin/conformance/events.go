package conformance

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/abi/testdata/vectors"
)

// A batch is an input of observe.
type batch struct {
	name    string
	records []byte
	count   int
}

// kinds are those of the manifest's events that this version has.
func (s *subject) kinds() (all []event.Kind) {
	for _, name := range s.manifest.Events {
		if k := event.KindOf(name); k != 0 {
			all = append(all, k)
		}
	}
	return all
}

// batch is n events.
func (s *subject) batch(n int) batch { return s.events(0, n) }

// events are the events from i on, of the manifest's kinds in turn. The same
// number stands for the same event, whatever batch it is in.
func (s *subject) events(i, n int) batch {
	b := batch{name: fmt.Sprintf("%d events", n), count: n}
	kinds := s.kinds()
	if len(kinds) == 0 {
		b.count = 0
		return b
	}
	for at := i; at < i+n; at++ {
		b.records = s.appendEvent(b.records, kinds[at%len(kinds)], uint64(at))
	}
	return b
}

// fieldsOf is how many words an event of a kind has.
func (s *subject) fieldsOf(k event.Kind) int {
	if s.fields == nil {
		s.fields = map[event.Kind]int{}
		for _, v := range eventVectors() {
			s.fields[event.KindOf(v.Event)] = max(s.fields[event.KindOf(v.Event)], len(v.Values))
		}
	}
	return s.fields[k]
}

// appendEvent appends an event whose fields are small, as most are: flags,
// ordinals, counts.
func (s *subject) appendEvent(b []byte, k event.Kind, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, uint64(k)))
	n := s.fieldsOf(k)
	b = appendHead(b, uint16(k), n)
	for range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(random.IntN(4)))
	}
	return b
}

func appendHead(b []byte, kind uint16, fields int) []byte {
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint16(b, uint16(fields))
	return append(b, 0, 0, 0, 0)
}

// An eventVector is what the kit reads of the contract's events.
type eventVector struct {
	Name, Event string
	Values      []uint64
	Hex         hexBytes
}

// eventVectors are the contract's own, which are part of this program.
func eventVectors() []eventVector {
	b, err := vectors.Files.ReadFile("events.json")
	var f struct{ Vectors []eventVector }
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		panic(err)
	}
	return f.Vectors
}

// checkLaterEvents mixes what version 1 does not have among events.
func checkLaterEvents(s *subject) (string, error) {
	plain, mixed, err := s.pair()
	if err != nil {
		return "", err
	}
	kinds := s.kinds()
	for i := range 30 {
		b := s.events(i, 1)
		if err := plain.observe(b); err != nil {
			return "", err
		}
		// A kind that nobody has, then the event with two fields more.
		more := appendHead(nil, 4000, 3)
		more = append(more, make([]byte, 24)...)
		if len(kinds) > 0 {
			longer := slices.Clone(b.records)
			binary.LittleEndian.PutUint16(longer[2:], binary.LittleEndian.Uint16(longer[2:])+2)
			more = append(append(more, longer...), "\xff\xff\xff\xff\xff\xff\xff\xff\x07\x00\x00\x00\x00\x00\x00\x00"...)
		}
		if err := mixed.observe(batch{"events and fields of a later version", more, 1 + b.count}); err != nil {
			return "", err
		}
	}
	if err := equalFlush("with events and fields of a later version", plain, mixed); err != nil {
		return "", err
	}
	// An older host has fewer fields; that is as if they were 0.
	zero, short, err := s.pair()
	if err != nil {
		return "", err
	}
	for _, k := range kinds {
		n := s.fieldsOf(k)
		if err := zero.observe(batch{"an event of zeros", append(appendHead(nil, uint16(k), n), make([]byte, 8*n)...), 1}); err != nil {
			return "", err
		}
		if err := short.observe(batch{"an event without fields", appendHead(nil, uint16(k), 0), 1}); err != nil {
			return "", err
		}
	}
	if err := equalFlush("with events of an older host", zero, short); err != nil {
		return "", err
	}
	// Flags that nobody has, without reset.
	want, err := plain.flush(0)
	if err != nil {
		return "", err
	}
	got, err := plain.flush(0xfffffffe)
	if err == nil && !got.equal(want) {
		err = fmt.Errorf("flush answers %s, and with flags of a later version %s", want, got)
	}
	return "kinds, fields, flags", err
}

// checkEventVectors gives the guest all events of the contract, those that are
// none, and the inputs of flush.
func checkEventVectors(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	n := 0
	for _, file := range []string{"events.json", "events-other.json", "events-bad.json", "flush-input.json"} {
		all, err := readVectors(file)
		if err != nil {
			return "", err
		}
		for _, v := range all {
			n++
			name := fmt.Sprintf("the vector %q of %s", v.Name, file)
			switch file {
			case "flush-input.json":
				_, err = g.endure(abi.FuncFlush, input{name, v.Hex})
			case "events-bad.json":
				_, err = g.p.Count(abi.FuncObserve, v.Hex)
			default:
				err = g.observe(batch{name, v.Hex, 1})
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", name, brief(err))
			}
		}
	}
	return fmt.Sprint(n), nil
}

// checkCollectorGarbage breaks batches and inputs of flush.
func checkCollectorGarbage(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	n := 0
	for _, in := range append(garbage(s.batch(6).records, g.p.MaxInput()), input{"no bytes", nil}) {
		n++
		if _, err := g.p.Count(abi.FuncObserve, in.in); err != nil {
			return "", fmt.Errorf("%s of %s (%s): %w", abi.FuncObserve, in.name, quote(in.in), brief(err))
		}
		if _, err := g.endure(abi.FuncFlush, input{in.name, in.in[:min(len(in.in), 16)]}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d inputs", n), nil
}

// checkLargeBatch fills batches up to the limit.
func checkLargeBatch(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	kinds := s.kinds()
	if len(kinds) == 0 {
		return skip("it is given no event of this version")
	}
	n := g.p.MaxInput() / (8 + 8*s.fieldsOf(kinds[0]))
	b := batch{fmt.Sprintf("%d events", n), nil, n}
	for i := range n {
		b.records = s.appendEvent(b.records, kinds[0], uint64(i%64))
	}
	for range 3 {
		if err := g.observe(b); err != nil {
			return "", err
		}
	}
	if _, err := g.flush(abi.FlushReset); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d events; %s of memory after it", n, size(g.p.Memory())), nil
}

// checkCollectorMemory goes through many windows of many batches.
func checkCollectorMemory(s *subject) (string, error) {
	b := s.batch(64)
	detail, err := s.endurance([]string{abi.FuncObserve, abi.FuncFlush}, func(g *guest, n int) error {
		for i := range n {
			if err := g.observe(b); err != nil {
				return err
			}
			if i%50 == 49 {
				if _, err := g.flush(abi.FlushReset); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return detail, err
}
