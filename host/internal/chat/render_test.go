package chat

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// newAnswer returns an answer that can play records.
func newAnswer() *Answer {
	deps := Deps{}.withDefaults()
	return &Answer{deps: &deps, spare: &spareBuffers{}, render: newRenderer("chatcmpl-0123456789abcdef", 1_790_000_000, "some-model-2026")}
}

// records is one event's worth of each kind that comes often.
func records(text string) []byte {
	return abi.AppendRecord(nil, abi.RecordText, text)
}

func TestChunkAllocatesNothing(t *testing.T) {
	a := newAnswer()
	a.tools.names = map[string]bool{"mine": true}
	all := abi.AppendResponse(nil, "x", "some-model-2026")
	all = abi.AppendRecord(all, abi.RecordText, "Hel\"lo wörld\n")
	all = abi.AppendRecord(all, abi.RecordExtra, `{"a":1}`)
	all = abi.AppendRecord(all, abi.RecordReasoning, "hm")
	if err := a.play(abi.AppendToolStart(nil, 0, "c", "mine")); err != nil {
		t.Fatal(err)
	}
	all = abi.AppendToolArguments(all, 0, `{"a":`)
	all = abi.AppendUsage(all, abi.Usage{})
	allocs := testing.AllocsPerRun(1000, func() {
		a.render.out, a.round.text = a.render.out[:0], a.round.text[:0]
		if err := a.play(all); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for the chunks of an event, want 0", allocs)
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	a := newAnswer()
	a.source = canned(append([]byte{4, 0, 0, 0, 1, 2, 3, 4}, records("hello")...))
	a.ctx = t.Context()
	events := []abi.Event{{Data: []byte(strings.Repeat("x", 300))}}
	allocs := testing.AllocsPerRun(1000, func() {
		a.render.out, a.round.text = a.render.out[:0], a.round.text[:0]
		r, err := a.decode(events, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.play(r); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for an event on its way through, want 0", allocs)
	}
}

// FuzzRecords plays anything that a guest may answer: it is an error, or
// frames that are JSON, and never a panic.
func FuzzRecords(f *testing.F) {
	f.Add(records("hello"))
	f.Add(abi.AppendToolArguments(abi.AppendToolStart(nil, 0, "i", "n"), 0, "{}"))
	f.Add(abi.AppendRecord(abi.AppendRecord(nil, abi.RecordText, "x"), abi.RecordExtra, `{"a":[1]}`))
	f.Add(abi.AppendRecord(abi.AppendUsage(nil, abi.Usage{Prompt: 1}), abi.RecordError, `{"kind":"auth","message":"m"}`))
	f.Add(abi.AppendResponse(nil, "id", "mo\"del"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := newAnswer()
		a.ctx, a.manifest, a.workspace = t.Context(), &abi.Manifest{}, &workspace.Workspace{}
		a.tools.names = map[string]bool{"n": true}
		_ = a.play(b)
		a.render.finish(a.round.finish)
		for frame := range strings.SplitSeq(strings.TrimSuffix(string(a.render.out), "\n\n"), "\n\n") {
			data, ok := strings.CutPrefix(frame, "data: ")
			if !ok || !json.Valid([]byte(data)) || !utf8.ValidString(data) || strings.ContainsAny(data, "\r\n") {
				t.Errorf("frame %q", frame)
			}
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"5", " word"}, {"20", " some text in ASCII."}, {"20utf8", " größere Stückzahl é"}, {"200", strings.Repeat("Twenty bytes of it. ", 10)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			a := newAnswer()
			r := records(bb.text)
			b.ReportAllocs()
			for b.Loop() {
				a.render.out, a.round.text = a.render.out[:0], a.round.text[:0]
				if err := a.play(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
