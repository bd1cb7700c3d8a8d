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
