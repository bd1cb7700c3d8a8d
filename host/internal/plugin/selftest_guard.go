package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// selfTest makes what the guard's own manifest asks for.
func (s *guardSession) selfTest(ctx context.Context) error {
	for n := range s.Manifest().SelfTest {
		t := &s.Manifest().SelfTest[n]
		found, err := GuardTest(ctx, s, t.Input)
		if err == nil {
			err = compare(t.Output, found)
		}
		if err != nil {
			return selfTestFailed(n, t, err)
		}
	}
	return nil
}

// A GuardRun is what a guard makes of the steps of a self-test.
type GuardRun struct {
	Texts   [][]string    `json:"texts"`
	Notes   []string      `json:"notes"`
	Blocked *GuardBlocked `json:"blocked"`
}

// A GuardBlocked is what ended a [GuardRun].
type GuardBlocked struct {
	Step    int    `json:"step"`
	Item    int    `json:"item"`
	How     string `json:"how"` // refusal or error
	Message string `json:"message"`
}

// A GuardStep is a list of texts or a stream.
type GuardStep struct {
	Stage  string   `json:"stage"`
	Kinds  []string `json:"kinds,omitempty"`
	Texts  []string `json:"texts,omitempty"`
	Pieces []string `json:"pieces,omitempty"`
}

// GuardTest has p take the steps of input, an object {"options", "steps"}.
func GuardTest(ctx context.Context, p guard.Plugin, input []byte) (*GuardRun, error) {
	var in struct {
		Options map[string]json.RawMessage `json:"options"`
		Steps   []GuardStep                `json:"steps"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("its input is not {\"options\", \"steps\"}: %w", err)
	}
	return RunGuard(ctx, p, in.Options, in.Steps)
}

// RunGuard has p take steps, under options.
func RunGuard(ctx context.Context, p guard.Plugin, options map[string]json.RawMessage, steps []GuardStep) (*GuardRun, error) {
	run := &GuardRun{Texts: [][]string{}, Notes: []string{}}
	chain := guard.New(func(e guard.Event) {
		if e.Action == guard.ActionNote {
			run.Notes = append(run.Notes, e.Label)
		}
	})
	chain.Add(p, &guard.Use{Options: options})
	for n, step := range steps {
		texts, err := runStep(ctx, chain, &step)
		run.Texts = append(run.Texts, texts)
		b, blocked := errors.AsType[*guard.Blocked](err)
		if !blocked && err != nil {
			return nil, fmt.Errorf("steps[%d]: %w", n, err)
		}
		if blocked && b.Fault != nil {
			return nil, fmt.Errorf("steps[%d]: %w", n, b.Fault)
		}
		if blocked {
			how := "error"
			if b.Refusal {
				how = "refusal"
			}
			run.Blocked = &GuardBlocked{n, b.Item, how, b.Message}
			break
		}
	}
	return run, nil
}

func runStep(ctx context.Context, chain *guard.Chain, step *GuardStep) ([]string, error) {
	if step.Stage == abi.StageAnswer || step.Stage == abi.StageReasoning {
		kind := abi.ItemAnswer
		if step.Stage == abi.StageReasoning {
			kind = abi.ItemReasoning
		}
		stream := chain.Stream(step.Stage, kind)
		if stream == nil {
			return nil, fmt.Errorf("the guard does not stand at %s", step.Stage)
		}
		var out []byte
		for _, piece := range step.Pieces {
			more, err := stream.Next(ctx, []byte(piece))
			if out = append(out, more...); err != nil {
				return []string{string(out)}, err
			}
		}
		more, err := stream.End(ctx)
		return []string{string(append(out, more...))}, err
	}
	if !chain.Has(step.Stage) {
		return nil, fmt.Errorf("the guard does not stand at %q", step.Stage)
	}
	items, err := itemsOf(step)
	if err != nil {
		return nil, err
	}
	dropped, err := chain.Whole(ctx, step.Stage, items)
	texts := []string{}
	for i, item := range items {
		if !dropped[i] {
			texts = append(texts, string(item.Text))
		}
	}
	return texts, err
}

// itemsOf is a list of texts as a guard is given it.
func itemsOf(step *GuardStep) ([]abi.Item, error) {
	if step.Kinds != nil && len(step.Kinds) != len(step.Texts) {
		return nil, fmt.Errorf("it has %d kinds of %d texts", len(step.Kinds), len(step.Texts))
	}
	if step.Stage == abi.StagePassages && len(step.Texts)%3 != 0 {
		return nil, fmt.Errorf("it has %d texts, and passages are title, url, text in turn", len(step.Texts))
	}
	items := make([]abi.Item, len(step.Texts))
	for i, text := range step.Texts {
		kind := map[string]uint32{abi.StageQuestion: abi.ItemUser, abi.StagePassages: abi.ItemTitle + uint32(i%3), abi.StageArguments: abi.ItemArguments}[step.Stage]
		if step.Kinds != nil {
			kind = 0
			for k, name := range abi.GuardKinds {
				if name == step.Kinds[i] {
					kind = uint32(k + 1)
				}
			}
			if kind == 0 {
				return nil, fmt.Errorf("it has the kind %s, and there are: %q", quote(step.Kinds[i]), abi.GuardKinds)
			}
		}
		items[i] = abi.Item{Kind: kind, Text: []byte(text)}
	}
	return items, nil
}
