package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// A script is a Sink that notes what it is given, a line each.
type script struct {
	Discard
	lines []string
}

func (s *script) note(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *script) Text(kind Kind, text, extra []byte) { s.note("text %d %q %s", kind, text, extra) }
func (s *script) Extra(object []byte)                { s.note("extra %s", object) }
func (s *script) Outer(object []byte)                { s.note("outer %s", object) }
func (s *script) Responding(model []byte)            { s.note("responding %s", model) }
func (s *script) ToolStart(id, name string, extra []byte) {
	s.note("tool %s %s %s", id, name, extra)
}
func (s *script) ToolArguments(call int, piece []byte) { s.note("arguments %d %s", call, piece) }

// newAnswer returns an answer that can play records.
func newAnswer() (*Answer, *script) {
	deps, s := Deps{}.withDefaults(), &script{}
	return &Answer{deps: &deps, spare: &spareBuffers{}, sink: s}, s
}

// records is one event's worth of each kind that comes often.
func records(text string) []byte {
	return abi.AppendRecord(nil, abi.RecordText, text)
}

// TestCallExtra: what a plugin says of a call goes into the client's call, with
// the client's number, and nowhere where the call is the host's own.
func TestCallExtra(t *testing.T) {
	start := func(index int, name, extra string) []byte {
		return abi.AppendRecord(abi.AppendToolStart(nil, index, "c"+name, name), abi.RecordExtra, extra)
	}
	tests := []struct {
		name    string
		records []byte
		want    []string
	}{
		{"client's", start(0, "mine", `{"tool_calls":[{"extra_content":{"google":1}}]}`), []string{`tool cmine mine {"extra_content":{"google":1}}`}},
		{
			"behind one of the host's",
			abi.AppendToolArguments(append(start(0, searchFunction, `{"tool_calls":[{"x":"ours"}]}`), start(1, "mine", `{"tool_calls":[{"x":"theirs"}]}`)...), 1, "{}"),
			[]string{`tool cmine mine {"x":"theirs"}`, "arguments 0 {}"},
		},
		{"of the delta", start(0, "mine", `{"x":1}`), []string{"tool cmine mine ", `extra {"x":1}`}},
		{"empty", start(0, "mine", `{"tool_calls":[{}]}`), []string{"tool cmine mine {}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, s := newAnswer()
			a.tools.names = map[string]bool{"mine": true}
			if err := a.playRecords(tt.records); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(s.lines, "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("played\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestOuterRecords: what has the key in it, or is no object, is not passed on.
func TestOuterRecords(t *testing.T) {
	outer := func(object string) []byte { return abi.AppendRecord(nil, abi.RecordOuter, object) }
	a, s := newAnswer()
	a.hidden.secrets = secret.NewWholeScrubber(shortestSecret, "sk-of-a-provider-1")
	for _, object := range []string{`{"chunk":{"k":"sk-of-a-provider-1"}}`, `{"chunk":{"k":1}}`} {
		if err := a.playRecords(outer(object)); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(s.lines, "\n"); got != `outer {"chunk":{"k":1}}` {
		t.Errorf("played\n%s", got)
	}
	for _, bad := range []string{"[]", "1", `{"chunk":`, "null"} {
		a, _ := newAnswer()
		a.ctx, a.manifest, a.workspace = t.Context(), &abi.Manifest{}, &workspace.Workspace{}
		if err := a.playRecords(outer(bad)); err == nil {
			t.Errorf("the outer record %s was taken", bad)
		}
	}
}

// TestExtraOfBracketsAlone: reading them must not take a stack as deep as they go,
// which would end the host.
func TestExtraOfBracketsAlone(t *testing.T) {
	for _, extra := range []string{`{"x":` + strings.Repeat("[", 15<<20), strings.Repeat(`{"x":`, 3<<20)} {
		a, _ := newAnswer()
		a.ctx, a.manifest, a.workspace = t.Context(), &abi.Manifest{}, &workspace.Workspace{}
		if err := a.playRecords(abi.AppendRecord(nil, abi.RecordExtra, extra)); err == nil {
			t.Error("an extra record of brackets was taken")
		}
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	a, _ := newAnswer()
	a.sink = Discard{}
	a.source = canned(append([]byte{4, 0, 0, 0, 1, 2, 3, 4}, records("hello")...))
	a.ctx = t.Context()
	events := []abi.Event{{Data: []byte(strings.Repeat("x", 300))}}
	allocs := testing.AllocsPerRun(1000, func() {
		a.round.text = a.round.text[:0]
		r, err := a.decodeEvents(events, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.playRecords(r); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for an event on its way through, want 0", allocs)
	}
}
