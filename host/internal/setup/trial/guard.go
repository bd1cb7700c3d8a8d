package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// GuardOptions say how a guard is tried.
type GuardOptions struct {
	Options
	Stage  string            // of abi.Stages
	Values map[string]string // of its options, as the command line has them
}

// A GuardTried is what a guard made of a text.
type GuardTried struct {
	Text    []byte   // as it passes; what went out before, where it was blocked
	Notes   []string // labels
	Blocked bool
	Message string // of the block
}

// Guard gives a text to the guard that module is.
func Guard(ctx context.Context, module, text []byte, t GuardOptions) (_ *GuardTried, err error) {
	runtime, err := wasm.Open(wasm.Options{CacheDir: t.CacheDir, Aside: t.Compiler})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	g, err := plugin.LoadGuard(ctx, runtime, module, "try", plugin.Options{CallTimeout: t.CallTimeout})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	use := guard.Use{Plugin: g.Manifest().Name, Stages: []string{t.Stage}, Options: map[string]json.RawMessage{}}
	for name, value := range t.Values {
		use.Options[name] = optionValue(g.Manifest(), name, value)
	}
	if err := use.Check(g.Manifest()); err != nil {
		return nil, fmt.Errorf("use guard %s: its %w", use.Plugin, err)
	}
	tried := &GuardTried{}
	c := guard.New(func(e guard.Event) {
		if e.Action == guard.ActionNote {
			tried.Notes = append(tried.Notes, e.Label)
		}
	})
	c.Add(g, &use)
	tried.Text, err = chat.TryGuard(ctx, c, t.Stage, text)
	if b, ok := errors.AsType[*guard.Blocked](err); ok {
		if b.Fault != nil {
			return nil, b
		}
		tried.Blocked, tried.Message, err = true, b.Message, nil
	}
	if errors.Is(err, chat.ErrLeftOut) {
		tried.Blocked, tried.Message, err = true, chat.ErrLeftOut.Error(), nil
	}
	return tried, err
}

// optionValue is what a command line says of an option, as JSON.
func optionValue(m *abi.Manifest, name, value string) json.RawMessage {
	if m.Options[name].Type != abi.OptionString && json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	b, _ := json.Marshal(value)
	return b
}
