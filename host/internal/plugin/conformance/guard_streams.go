package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

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
