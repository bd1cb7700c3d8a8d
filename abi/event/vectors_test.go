package event_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/parley-search/parley/abi/event"
)

type vector struct {
	Name, Event string
	Kind        event.Kind
	Fields      []string
	Values      []uint64
	Hex         string
}

// vectors reads the vectors of a file. They were made by a program that shares
// no code with this package.
func vectors(t *testing.T, file string) (all []vector) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Vectors []vector }
	if err := json.Unmarshal(b, &f); err != nil || len(f.Vectors) == 0 {
		t.Fatalf("read %s: %d vectors, %v", file, len(f.Vectors), err)
	}
	return f.Vectors
}

func (v vector) bytes(t *testing.T) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// codec is one type's half of the round trip.
type codec struct {
	typ    reflect.Type
	append func(values []uint64) []byte
	read   func(r event.Record) (values []uint64, ok bool)
	view   func(r event.Record) bool
}

func codecOf[E event.Type]() codec {
	size := func() int { var e E; return int(unsafe.Sizeof(e)) / 8 }()
	words := func(e *E) []uint64 { return unsafe.Slice((*uint64)(unsafe.Pointer(e)), size) }
	return codec{
		typ: reflect.TypeFor[E](),
		append: func(values []uint64) []byte {
			var e E
			copy(words(&e), values)
			return event.Append(nil, &e)
		},
		read: func(r event.Record) ([]uint64, bool) {
			var e E
			for i := range words(&e) {
				words(&e)[i] = 0xdead // must not show through
			}
			ok := event.Read(r, &e)
			return slices.Clone(words(&e)), ok
		},
		view: func(r event.Record) bool { return event.View[E](r) != nil },
	}
}

// checkFill wants of r filled up what Read makes of it, and all that is whole to
// be viewed in place.
func (c codec) checkFill(t *testing.T, name string, r event.Record) {
	t.Helper()
	want, _ := c.read(r)
	filled := event.Fill(r)
	if got, ok := c.read(filled); !ok || !slices.Equal(got, want) || !event.Whole(filled) || !c.view(filled) {
		t.Errorf("%s: Fill gives %v, whole %v, in place %v; want %v", name, got, event.Whole(filled), c.view(filled), want)
	}
	if event.Whole(r) != c.view(r) {
		t.Errorf("%s: Whole = %v, and View gives it: %v", name, event.Whole(r), c.view(r))
	}
}

// TestVectors writes and reads every kind. It fails where a field was moved,
// renamed or taken out, which no version may do.
func TestVectors(t *testing.T) {
	seen := map[event.Kind]bool{}
	for _, v := range vectors(t, "events.json") {
		c := codecs[v.Kind-1]
		seen[v.Kind] = true
		if got := event.KindOf(v.Event); got != v.Kind {
			t.Errorf("%s: the kind of %s is %d, want %d", v.Name, v.Event, got, v.Kind)
		}
		for i, name := range v.Fields {
			if got := fieldName(c.typ.Field(i)); got != name {
				t.Errorf("%s: field %d is %s, want %s", v.Name, i, got, name)
			}
		}
		if got := hex.EncodeToString(c.append(v.Values)); got != v.Hex {
			t.Errorf("%s: Append =\n%s, want\n%s", v.Name, got, v.Hex)
		}
		r, rest, ok, err := event.Next(v.bytes(t))
		if err != nil || !ok || len(rest) != 0 || r.Kind != v.Kind {
			t.Fatalf("%s: Next = kind %d, %d more bytes, %v, %v", v.Name, r.Kind, len(rest), ok, err)
		}
		if got, ok := c.read(r); !ok || !slices.Equal(got, v.Values) {
			t.Errorf("%s: Read = %v, %v, want %v", v.Name, got, ok, v.Values)
		}
		if got := hex.EncodeToString(event.AppendAny(nil, event.ReadAny(r))); got != v.Hex {
			t.Errorf("%s: AppendAny of what ReadAny gives =\n%s, want\n%s", v.Name, got, v.Hex)
		}
		c.checkFill(t, v.Name, r)
		r.Fields = r.Fields[:len(r.Fields)-8]
		if event.Whole(r) {
			t.Errorf("%s: whole without its last field", v.Name)
		}
		c.checkFill(t, v.Name+" without its last field", r)
	}
	if len(seen) != len(catalogue) {
		t.Errorf("the vectors have %d kinds, want all %d", len(seen), len(catalogue))
	}
}

// TestOtherVersions reads what older and newer hosts write.
func TestOtherVersions(t *testing.T) {
	for _, v := range vectors(t, "events-other.json") {
		r, _, ok, err := event.Next(v.bytes(t))
		if err != nil || !ok {
			t.Fatalf("%s: Next: %v, %v", v.Name, ok, err)
		}
		if got := r.Kind.String(); got != v.Event {
			t.Errorf("%s: it is a %q, want %q", v.Name, got, v.Event)
			continue
		}
		if v.Event == "" {
			if e := event.ReadAny(r); e != nil || len(event.AppendAny(nil, e)) > 0 {
				t.Errorf("%s: ReadAny = %v, want nothing of a kind that there is not", v.Name, e)
			}
			continue
		}
		if got, ok := codecs[r.Kind-1].read(r); !ok || !slices.Equal(got, v.Values) {
			t.Errorf("%s: Read = %v, %v, want %v", v.Name, got, ok, v.Values)
		}
		codecs[r.Kind-1].checkFill(t, v.Name, r)
	}
}

// TestBad reads bytes that are no records, and never past their end.
func TestBad(t *testing.T) {
	for _, v := range vectors(t, "events-bad.json") {
		b := v.bytes(t)
		var err error
		for ok := true; ok && err == nil; {
			_, b, ok, err = event.Next(b)
		}
		if !errors.Is(err, event.ErrMalformed) {
			t.Errorf("%s: Next: %v, want %v", v.Name, err, event.ErrMalformed)
		}
	}
}

// TestView gives a record in place only where its bytes can be the event.
func TestView(t *testing.T) {
	buffer := make([]byte, 0, 64)
	buffer = event.Append(buffer, &event.Network{Self: 1, Remotes: 3})
	r, _, _, err := event.Next(buffer)
	if err != nil {
		t.Fatal(err)
	}
	n := event.View[event.Network](r)
	if n == nil || n.Remotes != 3 {
		t.Fatalf("View = %v, want the event", n)
	}
	if short := (event.Record{Kind: r.Kind, Fields: r.Fields[:8]}); event.View[event.Network](short) != nil {
		t.Error("View of a record with one field less = an event, want none: it would end outside")
	}
	odd := append(make([]byte, 1, 64), buffer...)[1:]
	r, _, _, err = event.Next(odd)
	if err != nil {
		t.Fatal(err)
	}
	if event.View[event.Network](r) != nil {
		t.Error("View of bytes at an odd address = an event, want none")
	}
}

// FuzzNext reads anything, to its end and no further, and writes it again.
func FuzzNext(f *testing.F) {
	f.Add(event.Append(nil, &event.Chat{Outcome: event.ChatAnswered, Rounds: 2}))
	f.Add([]byte{5, 0, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			r, rest, ok, err := event.Next(b)
			if err != nil || !ok {
				return
			}
			if len(r.Fields)%8 != 0 || len(rest)+len(r.Fields)+event.HeadSize != len(b) {
				t.Fatalf("Next cut %d bytes into %d fields and %d more", len(b), len(r.Fields), len(rest))
			}
			if k := int(r.Kind); k >= 1 && k <= len(codecs) {
				c := codecs[k-1]
				if _, ok := c.read(r); !ok {
					t.Fatalf("Read of kind %d: not its kind", k)
				}
				c.checkFill(t, "fuzzed", r)
			}
			b = rest
		}
	})
}

// BenchmarkAppend is what it costs to write an event down.
func BenchmarkAppend(b *testing.B) {
	buffer := make([]byte, 0, 1<<10)
	e := event.Search{Outcome: event.Succeeded, Latency: 12, Limit: 20}
	b.ReportAllocs()
	for b.Loop() {
		buffer = event.Append(buffer[:0], &e)
	}
}
