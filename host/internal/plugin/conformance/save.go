package conformance

import (
	"fmt"

	"github.com/parley-search/parley/abi"
)

// checkSave hands a window over.
func checkSave(s *subject) (string, error) {
	if _, ok := s.shape.Func(abi.FuncSave); !ok {
		return skip("it has no " + abi.FuncSave + ": a window is lost with its instance")
	}
	g, next, err := s.pair()
	if err != nil {
		return "", err
	}
	if err := g.observe(s.batch(40)); err != nil {
		return "", err
	}
	saved, err := g.p.Ask(abi.FuncSave)
	if err != nil {
		return "", brief(err)
	}
	if len(saved) > abi.MaxSaved {
		return "", fmt.Errorf("%s answers %d bytes and may answer %d", abi.FuncSave, len(saved), abi.MaxSaved)
	}
	if err := equalFlush("after save", g, g); err != nil {
		return "", err
	}
	taken, err := next.p.Count(abi.FuncLoad, saved)
	if err != nil {
		return "", brief(err)
	}
	if taken != 1 {
		return "", fmt.Errorf("%s answers %d to what %s answered, want 1", abi.FuncLoad, taken, abi.FuncSave)
	}
	if err := equalFlush("after load", g, next); err != nil {
		return "", err
	}
	// Of what is not its own it takes all or nothing, and never a trap.
	for _, in := range garbage(saved, g.p.MaxInput()) {
		before, err := next.flush(0)
		if err != nil {
			return "", err
		}
		taken, err := next.p.Count(abi.FuncLoad, in.in)
		if err != nil {
			return "", fmt.Errorf("%s of %s: %w", abi.FuncLoad, in.name, brief(err))
		}
		if taken > 1 {
			return "", fmt.Errorf("%s of %s answers %d, want 0 or 1", abi.FuncLoad, in.name, taken)
		}
		after, err := next.p.Call(abi.FuncFlush, abi.AppendFlushInput(nil, 0), nil)
		if err != nil {
			return "", fmt.Errorf("%s after %s of %s: %w", abi.FuncFlush, abi.FuncLoad, in.name, brief(err))
		}
		if taken == 0 && !before.equal(reply{answer: after}) {
			return "", fmt.Errorf("%s of %s answers 0 and has changed the window", abi.FuncLoad, in.name)
		}
		if taken == 1 {
			if _, err := next.p.Count(abi.FuncLoad, saved); err != nil {
				return "", brief(err)
			}
		}
	}
	return fmt.Sprintf("%d bytes", len(saved)), nil
}
