package abi_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parley-search/parley/abi"
)

// vectors reads the vectors of a file into a slice of T. They were made by a
// program that shares no code with this package.
func vectors[T any](t *testing.T, file string) []T {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Vectors []T }
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatalf("read %s: %v", file, err)
	}
	if len(f.Vectors) == 0 {
		t.Fatalf("%s holds no vectors", file)
	}
	return f.Vectors
}

// hexBytes is written as hexadecimal digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

type recordVector struct {
	Name  string
	Kind  abi.RecordKind
	Hex   hexBytes
	Text  string
	Bytes hexBytes
	Index int
	ID    string
	Tool  string
	Model string
	Usage []uint64
	Error *abi.ProviderError

	Pattern *patternVector
	Again   *abi.Again
}

type patternVector struct {
	Kind       abi.RecordKind
	Report     bool
	Index      uint32
	Type, Tail string
	Holes      []holeVector
}

type holeVector struct {
	What   abi.HoleKind
	Before string
}

func (v *patternVector) meaning() *abi.Pattern {
	p := &abi.Pattern{Kind: v.Kind, Report: v.Report, Index: v.Index, Type: []byte(v.Type), Tail: []byte(v.Tail)}
	for _, h := range v.Holes {
		p.Holes = append(p.Holes, abi.Hole{What: h.What, Before: []byte(h.Before)})
	}
	return p
}

func newPatternVector(p *abi.Pattern) *patternVector {
	v := &patternVector{Kind: p.Kind, Report: p.Report, Index: p.Index, Type: string(p.Type), Tail: string(p.Tail)}
	for _, h := range p.Holes {
		v.Holes = append(v.Holes, holeVector{h.What, string(h.Before)})
	}
	return v
}

// write makes the record anew.
func (v recordVector) write(t *testing.T) []byte {
	switch v.Kind {
	case abi.RecordToolStart:
		return abi.AppendToolStart(nil, v.Index, v.ID, v.Tool)
	case abi.RecordToolArguments:
		return abi.AppendToolArguments(nil, v.Index, v.Text)
	case abi.RecordUsage:
		u := v.Usage
		return abi.AppendUsage(nil, abi.Usage{Prompt: u[0], Completion: u[1], Total: u[2], Cached: u[3], Reasoning: u[4]}, []byte(v.Text))
	case abi.RecordError:
		b, err := json.Marshal(v.Error)
		if err != nil {
			t.Fatal(err)
		}
		return abi.AppendRecord(nil, v.Kind, b)
	case abi.RecordResponse:
		return abi.AppendResponse(nil, v.ID, v.Model)
	case abi.RecordCarry:
		return abi.AppendRecord(nil, v.Kind, []byte(v.Bytes))
	case abi.RecordPattern:
		return abi.AppendPattern(nil, v.Pattern.meaning())
	case abi.RecordAgain:
		return abi.AppendAgain(nil, *v.Again)
	}
	return abi.AppendRecord(nil, v.Kind, v.Text)
}

// read returns the record's meaning in the vector's own terms.
func read(t *testing.T, r abi.Record) recordVector {
	v := recordVector{Kind: r.Kind}
	var err error
	switch r.Kind {
	case abi.RecordToolStart:
		var index uint32
		var id, name []byte
		index, id, name, err = r.ToolStart()
		v.Index, v.ID, v.Tool = int(index), string(id), string(name)
	case abi.RecordToolArguments:
		var index uint32
		var piece []byte
		index, piece, err = r.ToolArguments()
		v.Index, v.Text = int(index), string(piece)
	case abi.RecordUsage:
		var u abi.Usage
		var members []byte
		u, members, err = r.Usage()
		v.Text = string(members)
		v.Usage = []uint64{u.Prompt, u.Completion, u.Total, u.Cached, u.Reasoning}
	case abi.RecordError:
		err = json.Unmarshal(r.Payload, &v.Error)
	case abi.RecordResponse:
		var id, model []byte
		id, model, err = r.Response()
		v.ID, v.Model = string(id), string(model)
	case abi.RecordCarry:
		v.Bytes = r.Payload
	case abi.RecordPattern:
		var p abi.Pattern
		err = r.Pattern(&p)
		v.Pattern = newPatternVector(&p)
	case abi.RecordAgain:
		var again abi.Again
		again, err = r.Again()
		v.Again = &again
	default:
		v.Text = string(r.Payload)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(g, w) {
		t.Errorf("%s = %s, want %s", what, g, w)
	}
}

func TestRecords(t *testing.T) {
	kinds := map[abi.RecordKind]bool{}
	for _, v := range vectors[recordVector](t, "records.json") {
		t.Run(v.Name, func(t *testing.T) {
			kinds[v.Kind] = true
			if got := v.write(t); !bytes.Equal(got, v.Hex) {
				t.Errorf("written: %x, want %x", got, []byte(v.Hex))
			}
			// A record behind it must stay untouched.
			r, rest, ok, err := abi.NextRecord(append(bytes.Clone(v.Hex), v.Hex...))
			if err != nil || !ok || !bytes.Equal(rest, v.Hex) {
				t.Fatalf("NextRecord: rest %x, %v, %v", rest, ok, err)
			}
			want := v
			want.Name, want.Hex = "", nil
			same(t, "read", read(t, r), want)
		})
	}
	for k := abi.RecordText; k <= abi.RecordAgain; k++ {
		if !kinds[k] {
			t.Errorf("no vector of record kind %d", k)
		}
	}
}

func TestRecordsUnknown(t *testing.T) {
	for _, v := range vectors[recordVector](t, "records-unknown.json") {
		r, rest, ok, err := abi.NextRecord(v.Hex)
		if err != nil || !ok || len(rest) > 0 || r.Kind != v.Kind {
			t.Errorf("%s: kind %d, rest %x, %v, %v, want it cut off whole", v.Name, r.Kind, rest, ok, err)
		}
		if v.Usage != nil {
			same(t, v.Name, read(t, r).Usage, v.Usage)
		}
	}
}

func TestRecordsBad(t *testing.T) {
	for _, v := range vectors[recordVector](t, "records-bad.json") {
		r, _, ok, err := abi.NextRecord(v.Hex)
		if err == nil && ok {
			switch r.Kind {
			case abi.RecordToolStart:
				_, _, _, err = r.ToolStart()
			case abi.RecordToolArguments:
				_, _, err = r.ToolArguments()
			case abi.RecordUsage:
				_, _, err = r.Usage()
			case abi.RecordResponse:
				_, _, err = r.Response()
			case abi.RecordPattern:
				err = r.Pattern(&abi.Pattern{})
			case abi.RecordAgain:
				_, err = r.Again()
			}
		}
		if !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("%s: error %v, want %v", v.Name, err, abi.ErrMalformed)
		}
	}
}

func TestDecodeInput(t *testing.T) {
	type event struct{ Type, Data string }
	for _, v := range vectors[struct {
		Name       string
		Hex, State hexBytes
		Flags      byte
		Events     []event
	}](t, "decode-input.json") {
		t.Run(v.Name, func(t *testing.T) {
			var events []abi.Event
			for _, e := range v.Events {
				events = append(events, abi.Event{Type: e.Type, Data: []byte(e.Data)})
			}
			if got := abi.AppendDecodeInput(nil, v.State, v.Flags, events); !bytes.Equal(got, v.Hex) {
				t.Errorf("written: %x, want %x", got, []byte(v.Hex))
			}
			in, err := abi.ParseDecodeInput(v.Hex)
			if err != nil || !bytes.Equal(in.State, v.State) || in.Flags != v.Flags {
				t.Fatalf("read: state %x, flags %d, %v", in.State, in.Flags, err)
			}
			got := []event{}
			for {
				typ, data, ok := in.Next()
				if !ok {
					break
				}
				got = append(got, event{string(typ), string(data)})
			}
			same(t, "events", got, v.Events)
		})
	}
}

func TestDecodeInputBad(t *testing.T) {
	for _, v := range vectors[recordVector](t, "decode-input-bad.json") {
		if _, err := abi.ParseDecodeInput(v.Hex); !errors.Is(err, abi.ErrMalformed) {
			t.Errorf("%s: error %v, want %v", v.Name, err, abi.ErrMalformed)
		}
	}
}

func TestDecodeOutput(t *testing.T) {
	for _, v := range vectors[struct {
		Name       string
		Hex, State hexBytes
		Records    []hexBytes
	}](t, "decode-output.json") {
		state, records, err := abi.DecodeOutput(v.Hex)
		if err != nil || !bytes.Equal(state, v.State) {
			t.Fatalf("%s: state %x, %v, want %x", v.Name, state, err, []byte(v.State))
		}
		for _, want := range v.Records {
			_, rest, ok, err := abi.NextRecord(records)
			if got := records[:len(records)-len(rest)]; !ok || err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: record %x, %v, %v, want %x", v.Name, got, ok, err, []byte(want))
			}
			records = rest
		}
		if len(records) > 0 {
			t.Errorf("%s: %x is left over", v.Name, records)
		}
	}
	large := abi.AppendDecodeInput(nil, make([]byte, abi.MaxState+1), 0, nil)
	if _, _, err := abi.DecodeOutput(large); !errors.Is(err, abi.ErrMalformed) {
		t.Errorf("a state over the limit: error %v, want %v", err, abi.ErrMalformed)
	}
}

func TestSpans(t *testing.T) {
	for _, v := range vectors[struct {
		Name, Span      string
		Address, Length uint32
		Declared        bool
	}](t, "spans.json") {
		want, err := strconv.ParseUint(v.Span, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		s := abi.MakeSpan(v.Address, v.Length, v.Declared)
		if uint64(s) != want || s.Address() != v.Address || s.Len() != v.Length || s.Declared() != v.Declared {
			t.Errorf("%s: %#x, address %#x, length %d, declared %v, want %s", v.Name, uint64(s), s.Address(), s.Len(), s.Declared(), v.Span)
		}
	}
}

func TestSections(t *testing.T) {
	for _, v := range vectors[struct {
		Name   string
		Module hexBytes
		Found  []hexBytes
		Error  bool
	}](t, "sections.json") {
		t.Run(v.Name, func(t *testing.T) {
			found, err := abi.Sections(v.Module, abi.SectionManifest)
			if errors.Is(err, abi.ErrMalformed) != v.Error {
				t.Fatalf("Sections: error %v, want one: %v", err, v.Error)
			}
			if len(found) != len(v.Found) {
				t.Fatalf("Sections found %d, want %d", len(found), len(v.Found))
			}
			for i := range found {
				if !bytes.Equal(found[i], v.Found[i]) {
					t.Errorf("payload %d = %q, want %q", i, found[i], v.Found[i])
				}
			}
			if v.Error {
				return
			}
			changed, err := abi.WithSection(v.Module, abi.SectionManifest, []byte("new"))
			if err != nil {
				t.Fatal(err)
			}
			found, err = abi.Sections(changed, abi.SectionManifest)
			if err != nil || len(found) != 1 || string(found[0]) != "new" {
				t.Errorf("after WithSection: %q, %v, want the new one alone", found, err)
			}
		})
	}
}

func FuzzSections(f *testing.F) {
	for _, hexed := range []string{"0061736d01000000", "0061736d01000000000b0a6e616d650102030405"} {
		b, _ := hex.DecodeString(hexed)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, module []byte) {
		if _, err := abi.Sections(module, abi.SectionManifest); err != nil {
			return
		}
		changed, err := abi.WithSection(module, abi.SectionManifest, []byte("x"))
		if err != nil {
			t.Fatalf("Sections took the module, WithSection did not: %v", err)
		}
		if found, err := abi.Sections(changed, abi.SectionManifest); err != nil || len(found) != 1 {
			t.Errorf("after WithSection: %d sections, %v", len(found), err)
		}
	})
}
