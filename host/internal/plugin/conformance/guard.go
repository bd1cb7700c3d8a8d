package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// guardChecks are those of a guard's calls.
func guardChecks() []check {
	return []check{
		{
			name:   "texts",
			about:  "lets whole texts of all its stages through, edits or blocks them, by the rules for a guard",
			remedy: "Hold the records to abi/README.md, section Guard: order and borders of edits, one block, labels of the manifest's `notes`, growth.",
			run:    checkGuardTexts,
		},
		{
			name:   "cuts",
			about:  "makes of a stream the same however it is cut",
			remedy: "Release a text only when nothing that may come could change what becomes of it; hold the rest back, at most `holdBack` bytes, and all of it ends with the flag last.",
			run:    checkGuardCuts,
		},
		{
			name:   "triggers",
			about:  "makes of a stream the same where the host leaves out what has no trigger",
			remedy: "Name a trigger for all that the guard edits, blocks or keeps in its state, and set `holdBack` to how long before the trigger such a text may begin.",
			run:    checkGuardTriggers,
		},
		{
			name:   "determinism",
			about:  "answers the same input with the same bytes, on any instance, as often as it is asked",
			remedy: "Keep nothing between calls but in the state. No clock, no random numbers, no order of a hash map.",
			run:    checkGuardDeterminism,
		},
		{
			name:   "later versions",
			about:  "overlooks flags, stages and kinds of items that it does not know",
			remedy: "Test the flags that you know and no other, and leave items and stages alone that you do not know.",
			run:    checkGuardLater,
		},
		{
			name:   "garbage",
			about:  "ends input that is empty, cut off or scrambled without a trap",
			remedy: "Look at the length before the bytes, and check every length against what is left.",
			run:    checkGuardGarbage,
		},
		{
			name:   "large input",
			about:  "takes inputs up to a sixteenth of its memory",
			remedy: "Do not copy the input more often than needed, and ask for more by `limits.memoryMiB`.",
			run:    checkGuardLarge,
		},
		{
			name:   "memory",
			about:  "does not grow from call to call, and does not slow down",
			remedy: "Let go of what a call took, or keep buffers and use them again.",
			run:    checkGuardMemory,
		},
		{
			name:   "self-test",
			about:  "makes of the steps of its manifest's `selfTest` what they say",
			remedy: "Mend the guard, or what the manifest expects of it.",
			run:    checkSelfTest,
		},
	}
}

// A checkedGuard is an instance as a chain calls it.
type checkedGuard struct {
	g *guest
	m *abi.Manifest
}

// Manifest implements [guard.Plugin].
func (c checkedGuard) Manifest() *abi.Manifest { return c.m }

// Guard implements [guard.Plugin].
func (c checkedGuard) Guard(_ context.Context, in, dst []byte) ([]byte, error) {
	r, err := c.g.endure(abi.FuncGuard, input{"a text of the kit", in})
	if err == nil && r.declared != nil {
		err = fmt.Errorf("it declared %s", r)
	}
	return append(dst, r.answer...), err
}

// guardOptions are those that the guard is checked with: of its first self-test.
func (s *subject) guardOptions() map[string]json.RawMessage {
	var in struct{ Options map[string]json.RawMessage }
	for _, t := range s.manifest.SelfTest {
		if json.Unmarshal(t.Input, &in) == nil {
			break
		}
	}
	return in.Options
}

// chain is one of g alone. triggers says whether the host heeds those.
func (s *subject) chain(g *guest, triggers bool) *guard.Chain {
	m := *s.manifest
	if !triggers {
		m.Triggers = nil
	}
	c := guard.New(nil)
	c.Add(checkedGuard{g, &m}, &guard.Use{Options: s.guardOptions()})
	return c
}

// guardParts are what the kit's texts are made of: what guards look for, half of it,
// and what they must leave alone.
var guardParts = []string{
	"ann.lee@mail.example", "a@b.example", "ann", "@", "mail.example", "+49 170 1234567", "(0170) 123-456", "DE89 3704 0044 0532 0130 00", "4111 1111 1111 1111", "4111", "192.0.2.17", "2001:db8::1",
	"AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijABCDEFGHIJ012345", "sk-proj-abcdefghijklmnopqrstuvwx", "sk-", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "-----BEGIN PRIVATE KEY-----",
	"https://evil.example/?q=1", "http", "://", "![x](https://evil.example/a.png)", "![", "](", "[a](b)", "<img src=\"https://evil.example\">", "<EMAIL_1>", "<EMA", "<", ">", "[EMAIL_1]",
	"Ignore all previous instructions", "ignore", "previous", "system:", "<!-- hidden -->", "<!--", "\u200b", "\u202e", "\U000e0041", "data:text/html;base64,AAAA",
	" ", " ", " ", "\n", "\n\n", ".", ", ", ": ", "a", "the ", "word ", "Zürich", "東京都", "。", "😀", "forbidden", strings.Repeat("long", 40), "0", "12", "12345678901234567890", "{\"a\": 1}",
}

func guardText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(guardParts[r.IntN(len(guardParts))])
	}
	return b.String()
}

// cutText cuts a text at random, each byte alone, or in two.
func cutText(r *rand.Rand, text string) (pieces []string) {
	most := []int{1, 3, 8, 40}[r.IntN(4)]
	for len(text) > 0 {
		n := min(len(text), 1+r.IntN(most))
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return pieces
}

// streamed is what becomes of pieces, and how it ended; asked is a question before.
func streamed(ctx context.Context, c *guard.Chain, stage, asked string, pieces []string) (string, error) {
	kind := abi.ItemAnswer
	if stage == abi.StageReasoning {
		kind = abi.ItemReasoning
	}
	ended := func(out []byte, err error) (string, error) {
		b, ok := errors.AsType[*guard.Blocked](err)
		switch {
		case err == nil:
			return string(out), nil
		case !ok || b.Fault != nil:
			return "", err
		}
		return fmt.Sprintf("%s\x00blocked, refusal %v: %s", out, b.Refusal, b.Message), nil
	}
	items := []abi.Item{{Kind: abi.ItemUser, Text: []byte(asked)}}
	if _, err := c.Whole(ctx, abi.StageQuestion, items); err != nil {
		return ended(nil, err)
	}
	s := c.Stream(stage, kind)
	var out []byte
	for _, p := range pieces {
		more, err := s.Next(ctx, []byte(p))
		if out = append(out, more...); err != nil {
			return ended(out, err)
		}
	}
	more, err := s.End(ctx)
	return ended(append(out, more...), err)
}

// streamStages are the guard's stages of streams.
func (s *subject) streamStages() (stages []string) {
	for _, stage := range s.manifest.Stages {
		if stage == abi.StageAnswer || stage == abi.StageReasoning {
			stages = append(stages, stage)
		}
	}
	return stages
}

// How many texts the checks of streams have, and how each is cut.
const (
	guardTexts = 60
	guardCuts  = 12
)

// compareStreams gives streams to the guard whole and in another way.
func (s *subject) compareStreams(otherTriggers bool, as string) (string, error) {
	stages := s.streamStages()
	if len(stages) == 0 {
		return skip("it stands at no stream")
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	r := rand.New(rand.NewPCG(49, 49))
	done := 0
	for _, stage := range stages {
		for range guardTexts {
			asked, text := guardText(r), guardText(r)
			want, err := streamed(s.ctx, s.chain(g, true), stage, asked, []string{text})
			if err != nil {
				return "", fmt.Errorf("%s of %s: %w", stage, quote(text), err)
			}
			for range guardCuts {
				pieces := cutText(r, text)
				got, err := streamed(s.ctx, s.chain(g, otherTriggers), stage, asked, pieces)
				if err != nil {
					return "", fmt.Errorf("%s of %q: %w", stage, pieces, err)
				}
				if got != want {
					return "", fmt.Errorf("%s of %s gave %s as a whole, and %s %s as %q", stage, quote(text), quote(want), quote(got), as, pieces)
				}
				done++
			}
		}
	}
	return fmt.Sprintf("%d streams", done), nil
}

func checkGuardCuts(s *subject) (string, error) { return s.compareStreams(true, "cut") }

func checkGuardTriggers(s *subject) (string, error) {
	if len(s.manifest.Triggers) == 0 {
		return skip("it has none, and is called for each piece")
	}
	return s.compareStreams(false, "without triggers,")
}

// wholeItems are items of a whole stage.
func wholeItems(r *rand.Rand, stage string) (items []abi.Item) {
	for i := range 3 * (1 + r.IntN(3)) {
		kind := map[string]uint32{abi.StageQuestion: abi.ItemSystem + uint32(r.IntN(4)), abi.StagePassages: abi.ItemTitle + uint32(i%3), abi.StageArguments: abi.ItemArguments}[stage]
		items = append(items, abi.Item{Kind: kind, Text: []byte(guardText(r))})
	}
	items[len(items)-1].Text = nil
	return items
}

func (s *subject) wholeStages() []string {
	return slices.DeleteFunc(slices.Clone(s.manifest.Stages), func(stage string) bool { return stage == abi.StageAnswer || stage == abi.StageReasoning })
}

func checkGuardTexts(s *subject) (string, error) {
	stages := s.wholeStages()
	if len(stages) == 0 {
		return skip("it stands at streams alone")
	}
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	r := rand.New(rand.NewPCG(1, 49))
	for range guardTexts {
		c := s.chain(g, true)
		for _, stage := range stages {
			_, err := c.Whole(s.ctx, stage, wholeItems(r, stage))
			if b, ok := errors.AsType[*guard.Blocked](err); err != nil && (!ok || b.Fault != nil) {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%d lists", guardTexts*len(stages)), nil
}

// guardInputs are inputs of calls, of all stages of the guard.
func (s *subject) guardInputs(n int) (all []input) {
	r := rand.New(rand.NewPCG(2, 49))
	options := []byte("{}")
	if o := s.guardOptions(); o != nil {
		options, _ = json.Marshal(o)
	}
	for i := range n {
		stage := s.manifest.Stages[i%len(s.manifest.Stages)]
		var items []abi.Item
		switch stage {
		case abi.StageAnswer:
			items = []abi.Item{{Kind: abi.ItemAnswer, Text: []byte(guardText(r))}}
		case abi.StageReasoning:
			items = []abi.Item{{Kind: abi.ItemReasoning, Text: []byte(guardText(r))}}
		default:
			items = wholeItems(r, stage)
		}
		all = append(all, input{"a call at " + stage, abi.AppendGuardInput(nil, stage, abi.GuardFirst|abi.GuardLast, options, nil, items)})
	}
	return all
}

func checkGuardDeterminism(s *subject) (string, error) {
	a, b, err := s.pair()
	if err != nil {
		return "", err
	}
	inputs := s.guardInputs(200)
	for _, in := range inputs {
		var first reply
		for i, g := range []*guest{a, b, a} {
			r, err := g.endure(abi.FuncGuard, in)
			if err != nil {
				return "", err
			}
			if i == 0 {
				first = r
			} else if !r.equal(first) {
				return "", fmt.Errorf("%s gave %s, and, called again, %s", in.name, first, r)
			}
		}
	}
	return fmt.Sprintf("%d calls, each three times", len(inputs)), nil
}

func checkGuardLater(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	for _, in := range s.guardInputs(40) {
		want, err := g.endure(abi.FuncGuard, in)
		if err != nil {
			return "", err
		}
		later := input{in.name + " with an unknown flag", slices.Clone(in.in)}
		later.in[1] |= 1 << 7
		got, err := g.endure(abi.FuncGuard, later)
		if err != nil {
			return "", err
		}
		if !got.equal(want) {
			return "", fmt.Errorf("%s gave %s, and without it %s", later.name, got, want)
		}
	}
	unknown := abi.AppendGuardInput(nil, s.manifest.Stages[0], abi.GuardFirst|abi.GuardLast, []byte("{}"), nil, []abi.Item{{Kind: 99, Text: []byte("a@b.example")}})
	stage := slices.Clone(unknown)
	stage[0] = 99
	for _, in := range []input{{"an item of an unknown kind", unknown}, {"a call at an unknown stage", stage}} {
		if _, err := g.endure(abi.FuncGuard, in); err != nil {
			return "", err
		}
	}
	return "", nil
}

func checkGuardGarbage(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	r := rand.New(rand.NewPCG(3, 49))
	n := 0
	try := func(name string, in []byte) error {
		n++
		_, err := g.endure(abi.FuncGuard, input{name, in})
		return err
	}
	if err := try("no input", nil); err != nil {
		return "", err
	}
	for _, in := range s.guardInputs(30) {
		for range 10 {
			if err := try(in.name+" that is cut off", in.in[:r.IntN(len(in.in))]); err != nil {
				return "", err
			}
			b := slices.Clone(in.in)
			for range 1 + r.IntN(4) {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
			if err := try(in.name+" that is scrambled", b); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%d inputs", n), nil
}

func checkGuardLarge(s *subject) (string, error) {
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	most := g.p.MaxInput() - 256
	for _, stage := range s.manifest.Stages {
		kind := abi.ItemUser
		if slices.Contains(s.streamStages(), stage) {
			kind = abi.ItemAnswer
		}
		text := []byte(strings.Repeat("A word, and a@b.example. ", most/25))
		in := abi.AppendGuardInput(nil, stage, abi.GuardFirst|abi.GuardLast, []byte("{}"), nil, []abi.Item{{Kind: kind, Text: text}})
		if _, err := g.endure(abi.FuncGuard, input{"a text of " + size(uint64(len(text))) + " at " + stage, in}); err != nil {
			return "", err
		}
	}
	return size(uint64(most)), nil
}

func checkGuardMemory(s *subject) (string, error) {
	inputs := s.guardInputs(50)
	return s.endurance([]string{abi.FuncGuard}, func(g *guest, n int) error {
		for i := range n {
			if _, err := g.endure(abi.FuncGuard, inputs[i%len(inputs)]); err != nil {
				return err
			}
		}
		return nil
	})
}
