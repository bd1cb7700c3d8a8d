package guard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/guard/guardtest"
)

// masked returns a chain of guards that know two addresses.
func masked(t *testing.T, guards ...guard.Plugin) *guard.Chain {
	t.Helper()
	c := guard.New(nil)
	for _, g := range guards {
		c.Add(g, &guard.Use{})
	}
	items := []abi.Item{{Kind: abi.ItemUser, Text: []byte("I am a@b.example, not ann.lee@mail.example.")}}
	if _, err := c.Whole(t.Context(), abi.StageQuestion, items); err != nil {
		t.Fatal(err)
	}
	if got := string(items[0].Text); got != "I am <E1>, not <E2>." {
		t.Fatalf("question became %q", got)
	}
	return c
}

// streamed is what becomes of pieces, and how that ended.
func streamed(t *testing.T, c *guard.Chain, pieces []string) string {
	t.Helper()
	s := c.Stream(abi.StageAnswer, abi.ItemAnswer)
	var out []byte
	for _, p := range pieces {
		more, err := s.Next(t.Context(), []byte(p))
		if out = append(out, more...); err != nil {
			return string(out) + " | " + err.Error()
		}
	}
	more, err := s.End(t.Context())
	if out = append(out, more...); err != nil {
		return string(out) + " | " + err.Error()
	}
	return string(out)
}

// cut cuts text at random places, within code points too.
func cut(r *rand.Rand, text string) (pieces []string) {
	for len(text) > 0 {
		n := min(len(text), 1+r.IntN(1+r.IntN(12)))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// TestStreamCuts: what leaves does not depend on how a stream is cut. CUTS=50000000 makes so
// many; the shipped guards are cut by TestGuardCuts of host/e2e.
func TestStreamCuts(t *testing.T) {
	parts := []string{"<E1>", "<E2>", "<E3>", "<E", "<", ">", "E1", "for", "bid", "forbid", "forbidde", " ", "\n", "a", "word ", "Zürich", "東京", "。", "😀", "\xff", "\xe2\x82", "x@y.example ", strings.Repeat("long", 9)}
	n := 100_000
	if wanted, err := strconv.Atoi(os.Getenv("CUTS")); err == nil {
		n = wanted
	}
	r := rand.New(rand.NewPCG(49, 1))
	always := guardtest.NewMask("always")
	always.Is.Triggers = nil
	for _, guards := range [][]guard.Plugin{{guardtest.NewMask("mask")}, {always}, {guardtest.NewMask("one"), always}} {
		for done := 0; done < n/3; {
			var b strings.Builder
			for range 1 + r.IntN(14) {
				b.WriteString(parts[r.IntN(len(parts))])
			}
			if r.IntN(8) == 0 {
				b.WriteString("forbidden words")
			}
			text := b.String()
			c := masked(t, guards...)
			state := c.State()
			want := streamed(t, c, []string{text})
			for range 10 {
				pieces := cut(r, text)
				c.SetState(state)
				if got := streamed(t, c, pieces); got != want {
					t.Fatalf("cut as %q: %q, whole: %q", pieces, got, want)
				}
				done++
			}
		}
	}
}

// TestTriggers: without a trigger there is no call, and nothing waits but the word
// that is not whole.
func TestTriggers(t *testing.T) {
	m := guardtest.NewMask("mask")
	c := masked(t, m)
	m.Calls = 0
	s := c.Stream(abi.StageAnswer, abi.ItemAnswer)
	var out []byte
	for i, test := range []struct{ piece, want string }{
		{"Hello", ""}, {" world, this", "Hello world, "}, {" is", "this "}, {"東京 for", "is東京 "}, {" bidden", "for "},
	} {
		got, err := s.Next(t.Context(), []byte(test.piece))
		if err != nil || string(got) != test.want {
			t.Errorf("piece %d: Next(%q) = %q, %v, want %q", i, test.piece, got, err, test.want)
		}
		out = append(out, got...)
	}
	rest, err := s.End(t.Context())
	if got := string(append(out, rest...)); err != nil || got != "Hello world, this is東京 for bidden" || m.Calls != 0 {
		t.Errorf("%q, %v after %d calls, want no call", got, err, m.Calls)
	}
	if got := streamed(t, c, []string{"See x", "y<E1>."}); got != "See xya@b.example." || m.Calls == 0 {
		t.Errorf("%q after %d calls", got, m.Calls)
	}
}

func TestTriggerOption(t *testing.T) {
	m := guardtest.NewMask("mask")
	m.Is.Triggers = append(m.Is.Triggers, abi.Trigger{Option: "how"})
	for _, test := range []struct {
		value string
		calls bool
	}{{``, false}, {`"refusal"`, false}, {`"error"`, true}} {
		u := &guard.Use{Options: map[string]json.RawMessage{}}
		if test.value != "" {
			u.Options["how"] = json.RawMessage(test.value)
		}
		c := guard.New(nil)
		c.Add(m, u)
		m.Calls = 0
		if streamed(t, c, []string{"no trigger "}); m.Calls > 0 != test.calls {
			t.Errorf("option %q: %d calls", test.value, m.Calls)
		}
	}
}

// A saying is a guard that answers with bytes of its own.
type saying struct {
	is      abi.Manifest
	records func(text []byte) []byte
	err     error
}

func (s *saying) Manifest() *abi.Manifest { return &s.is }

func (s *saying) Guard(_ context.Context, in, dst []byte) ([]byte, error) {
	if s.err != nil {
		return dst, s.err
	}
	call, _ := abi.ParseGuardInput(in)
	item, _ := call.Next()
	return append(dst, s.records(item.Text)...), nil
}

func newSaying(records func(text []byte) []byte) *saying {
	return &saying{is: abi.Manifest{Kind: abi.KindGuard, Name: "bad", Version: "1.0.0", Stages: abi.Stages, HoldBack: 8, Notes: []string{"one"}}, records: records}
}

func withState(records []byte) []byte { return append([]byte{0, 0, 0, 0}, records...) }

// TestHostileGuards: whatever a guard answers that the contract does not have ends the
// answer, or, where that is chosen, lets the text pass as it was. The table in containment.md
// is what the operator reads of each.
func TestHostileGuards(t *testing.T) {
	u32 := binary.LittleEndian.AppendUint32
	var table strings.Builder
	table.WriteString("| a guard that | at | the operator reads |\n|---|---|---|\n")
	for _, test := range []struct {
		name, stage string
		records     func(text []byte) []byte
	}{
		{"answers with half a state", "answer", func([]byte) []byte { return []byte{9, 0} }},
		{"keeps more than 64 KiB", "answer", func([]byte) []byte { return append(u32(nil, abi.MaxState+1), make([]byte, abi.MaxState+1)...) }},
		{"answers with half a record", "answer", func([]byte) []byte { return withState([]byte{1, 0, 0, 0, 4, 0, 0}) }},
		{"says that a record has 4 GiB", "answer", func([]byte) []byte { return withState([]byte{1, 0, 0, 0, 255, 255, 255, 255}) }},
		{"writes a release that is too short", "answer", func([]byte) []byte { return withState([]byte{1, 0, 0, 0, 1, 0, 0, 0, 1}) }},
		{"holds too much", "answer", func([]byte) []byte { return withState(nil) }},
		{"releases more than there is", "answer", func(b []byte) []byte { return withState(abi.AppendRelease(nil, len(b)+1)) }},
		{"releases 4 GiB", "answer", func([]byte) []byte { return withState(abi.AppendRelease(nil, -1)) }},
		{"releases within a code point", "answer", func([]byte) []byte { return withState(abi.AppendRelease(nil, 2)) }},
		{"releases twice", "answer", func(b []byte) []byte { return withState(abi.AppendRelease(abi.AppendRelease(nil, 0), len(b))) }},
		{"releases a whole text", "question", func(b []byte) []byte { return withState(abi.AppendRelease(nil, len(b))) }},
		{"edits beyond the end", "answer", func(b []byte) []byte { return withState(abi.AppendEdit(nil, 0, 0, len(b)+1, "x")) }},
		{"edits far beyond", "question", func([]byte) []byte { return withState(abi.AppendEdit(nil, 0, -1, -1, "x")) }},
		{"edits another item", "question", func([]byte) []byte { return withState(abi.AppendEdit(nil, 1, 0, 1, "x")) }},
		{"edits an item of the stream that is not there", "answer", func([]byte) []byte { return withState(abi.AppendEdit(nil, -1, 0, 1, "x")) }},
		{"edits the same bytes twice", "question", func([]byte) []byte { return withState(abi.AppendEdit(abi.AppendEdit(nil, 0, 0, 1, "x"), 0, 0, 1, "y")) }},
		{"edits in the wrong order", "answer", func(b []byte) []byte {
			return withState(abi.AppendEdit(abi.AppendEdit(nil, 0, len(b), 0, "x"), 0, 0, 1, "y"))
		}},
		{"begins an edit within a code point", "question", func([]byte) []byte { return withState(abi.AppendEdit(nil, 0, 2, 1, "x")) }},
		{"ends an edit within a code point", "answer", func([]byte) []byte { return withState(abi.AppendEdit(nil, 0, 0, 2, "x")) }},
		{"writes what is not UTF-8", "question", func([]byte) []byte { return withState(abi.AppendEdit(nil, 0, 0, 1, "\xff\xfe")) }},
		{"grows without end", "question", func([]byte) []byte { return withState(abi.AppendEdit(nil, 0, 0, 1, strings.Repeat("x", 1<<20))) }},
		{"grows by many edits", "answer", func([]byte) []byte {
			var b []byte
			for range 1000 {
				b = abi.AppendEdit(b, 0, 0, 0, strings.Repeat("x", 1000))
			}
			return withState(b)
		}},
		{"blocks in an unknown way", "question", func([]byte) []byte { return withState(abi.AppendBlock(nil, 0, 9, "no")) }},
		{"blocks another item", "question", func([]byte) []byte { return withState(abi.AppendBlock(nil, 7, 1, "no")) }},
		{"blocks with a message of 2,000 bytes", "answer", func([]byte) []byte { return withState(abi.AppendBlock(nil, 0, 1, strings.Repeat("no", 1000))) }},
		{"blocks with a message that is not UTF-8", "answer", func([]byte) []byte { return withState(abi.AppendBlock(nil, 0, 1, "\xff")) }},
		{"says more behind a block", "answer", func([]byte) []byte { return withState(abi.AppendRelease(abi.AppendBlock(nil, 0, 1, "no"), 1)) }},
		{"notes what is no label", "question", func([]byte) []byte { return withState(abi.AppendNote(nil, 1)) }},
		{"notes 100,000 times", "question", func([]byte) []byte { return withState(bytes.Repeat(abi.AppendNote(nil, 0), 100_000)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, open := range []bool{false, true} {
				faults := 0
				c := guard.New(func(e guard.Event) {
					if e.Action == guard.ActionFault {
						faults++
					}
				})
				u := &guard.Use{}
				if open {
					u.OnFault = guard.FaultOpen
				}
				c.Add(newSaying(test.records), u)
				const text = "aé and more than it may hold"
				got, err := "", error(nil)
				if test.stage == abi.StageAnswer {
					var out []byte
					out, err = c.Text(t.Context(), test.stage, abi.ItemAnswer, []byte(text))
					got = string(out)
				} else {
					items := []abi.Item{{Kind: abi.ItemUser, Text: []byte(text)}}
					_, err = c.Whole(t.Context(), test.stage, items)
					got = string(items[0].Text)
				}
				if !open {
					fmt.Fprintf(&table, "| %s | `%s` | %s |\n", test.name, test.stage, err)
				}
				b, blocked := errors.AsType[*guard.Blocked](err)
				switch {
				case faults != 1:
					t.Errorf("open %v: %d faults, want one", open, faults)
				case open && (err != nil || got != text):
					t.Errorf("open: %q, %v, want the text as it was", got, err)
				case !open && (!blocked || b.Fault == nil || b.Refusal):
					t.Errorf("closed: %q, %v, want a fault", got, err)
				}
			}
		})
	}
	failing := newSaying(nil)
	failing.err = errors.New("unreachable executed")
	c := guard.New(nil)
	c.Add(failing, &guard.Use{})
	if _, err := c.Text(t.Context(), abi.StageReasoning, abi.ItemReasoning, []byte("x")); err == nil {
		t.Error("a guard that traps lets a text pass")
	}
	holdContainment(t, table.String())
}

// holdContainment wants the table of hostile guards in the page, and writes it with UPDATE=1.
func holdContainment(t *testing.T, table string) {
	t.Helper()
	const page = "../../../docs/explanation/containment.md"
	const begin, end = "<!-- guards: written by UPDATE=1 go test ./host/internal/plugin/guard -run TestHostileGuards -->\n", "<!-- end of guards -->"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has lost the marks of the table of guards", page)
	case old == table:
	case os.Getenv("UPDATE") == "":
		t.Errorf("%s is not what came of hostile guards: UPDATE=1 go test writes it", page)
	default:
		if err := os.WriteFile(page, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGuardJSON(t *testing.T) {
	c := masked(t, guardtest.NewMask("mask"))
	for _, test := range []struct{ in, want string }{
		{`{"to": "<E1>", "n": 12, "<E1>": [true, null, "x\u003cE2\u003e"]}`, `{"to": "a@b.example", "n": 12, "<E1>": [true, null, "xann.lee@mail.example"]}`},
		{`{"a": "\u0041", "b": 1e5}`, `{"a": "\u0041", "b": 1e5}`},
		{`{"to": "<E1>`, `{"to": "a@b.example`},
		{``, ``},
	} {
		got, err := c.JSON(t.Context(), abi.StageArguments, abi.ItemArguments, []byte(test.in))
		if err != nil || string(got) != test.want {
			t.Errorf("JSON(%s) = %s, %v, want %s", test.in, got, err, test.want)
		}
	}
}

// TestState: another chain goes on from what one kept.
func TestState(t *testing.T) {
	c := masked(t, guardtest.NewMask("mask"))
	next := guard.New(nil)
	next.Add(guardtest.NewMask("mask"), &guard.Use{})
	next.SetState(c.State())
	if got := streamed(t, next, []string{"<E", "2>"}); got != "ann.lee@mail.example" {
		t.Errorf("got %q", got)
	}
	other := guard.New(nil)
	other.Add(guardtest.NewMask("other"), &guard.Use{})
	other.SetState(c.State())
	if got := streamed(t, other, []string{"<E", "2>"}); got != "<E2>" {
		t.Errorf("a guard of another name got the state: %q", got)
	}
}

// TestWholeBatches: items that are too much for one call come in several.
func TestWholeBatches(t *testing.T) {
	m := guardtest.NewMask("mask")
	c := guard.New(nil)
	c.Add(m, &guard.Use{})
	var items []abi.Item
	for i := range 6 {
		items = append(items, abi.Item{Kind: abi.ItemTitle + uint32(i%3), Text: fmt.Appendf(nil, "a%d@b.example %s", i, strings.Repeat("x", 300<<10))})
	}
	items[4].Text = []byte("forbidden")
	dropped, err := c.Whole(t.Context(), abi.StagePassages, items)
	if err != nil || m.Calls != 2 {
		t.Errorf("%v after %d calls, want 2", err, m.Calls)
	}
	if !bytes.HasPrefix(items[2].Text, []byte("<E3> ")) || dropped[0] || !dropped[3] || !dropped[5] {
		t.Errorf("item 2 begins %.9q, dropped %v", items[2].Text, dropped)
	}
}

// TestTooLongForGuard: a guard that fails at a text of more bytes than a call has room for is
// told apart from one that fails.
func TestTooLongForGuard(t *testing.T) {
	for bytes, want := range map[int]int{100: 0, 900 << 10: 0, 1<<20 + 1: 1<<20 - 66} {
		bad := newSaying(nil)
		bad.err = errors.New("out of memory")
		c := guard.New(nil)
		c.Add(bad, &guard.Use{})
		_, err := c.Whole(t.Context(), abi.StageQuestion, []abi.Item{{Kind: abi.ItemUser, Text: []byte(strings.Repeat("x", bytes))}})
		b, ok := errors.AsType[*guard.Blocked](err)
		if !ok || b.Room != want || b.Fault == nil {
			t.Errorf("a text of %d bytes: %#v, want the room %d", bytes, err, want)
		}
	}
}

func BenchmarkWordWithoutTrigger(b *testing.B) {
	c := guard.New(nil)
	c.Add(guardtest.NewMask("mask"), &guard.Use{})
	s := c.Stream(abi.StageAnswer, abi.ItemAnswer)
	for b.Loop() {
		if _, err := s.Next(b.Context(), []byte(" word")); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMediaIsNoText: guards are not given the data of media, which they would take words out of, but any
// other text beside it.
func TestMediaIsNoText(t *testing.T) {
	c := masked(t, guardtest.NewMask("one"))
	for doc, want := range map[string]string{
		`{"images":[{"url":"data:image/png;base64,forbidden+/AA==","alt":"of <E1>"}]}`: `{"images":[{"url":"data:image/png;base64,forbidden+/AA==","alt":"of a@b.example"}]}`,
		`{"url":"data:audio\/mpeg;base64,A\/forbidden"}`:                               `{"url":"data:audio\/mpeg;base64,A\/forbidden"}`,
		`{"url":"data:image/png;base64,AAAA <E1>"}`:                                    `{"url":"data:image/png;base64,AAAA a@b.example"}`,
		`{"url":"data:text/plain;base64,forbidden"}`:                                   "blocked",
		`{"url":"data:image/svg+xml,forbidden"}`:                                       "blocked",
	} {
		got, err := c.JSON(t.Context(), abi.StageAnswer, abi.ItemAnswer, []byte(doc))
		if err != nil {
			got = []byte("blocked")
		}
		if string(got) != want {
			t.Errorf("%s became %s, %v; want %s", doc, got, err, want)
		}
	}
}
