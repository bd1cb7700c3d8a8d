package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A Guard is a guard plugin, ready to be called. It implements [guard.Plugin].
type Guard struct {
	*loaded
	refused atomic.Int64 // calls that ended with a declared error
}

var (
	_ guard.Plugin  = (*Guard)(nil)
	_ Plugin        = (*Guard)(nil)
	_ guard.Plugins = (*Set)(nil)
)

// LoadGuard is [Load] for a guard.
func LoadGuard(ctx context.Context, rt *wasm.Runtime, module []byte, from string, o Options) (*Guard, error) {
	l, err := prepare(ctx, rt, module, from, o)
	if err != nil {
		return nil, err
	}
	if l.manifest.Kind != abi.KindGuard {
		err := fmt.Errorf("check plugin %s %s: it is a %s, and a guard is wanted here", l.manifest.Name, l.manifest.Version, l.manifest.Kind)
		return nil, errors.Join(err, l.Close())
	}
	return newGuard(ctx, l, o)
}

// newGuard makes a guard of l, which it closes where it fails.
func newGuard(ctx context.Context, l *loaded, o Options) (*Guard, error) {
	g := &Guard{loaded: l}
	began := time.Now()
	if err := g.takeUp(ctx); err != nil {
		_ = g.Close() // the first error is the one to tell
		return nil, fmt.Errorf("test plugin %s %s: %w", l.manifest.Name, l.manifest.Version, err)
	}
	if len(l.manifest.SelfTest) > 0 {
		l.step(o, StepTested, time.Since(began))
	}
	l.module.Rest()
	return g, nil
}

// takeUp tests the guard and freezes it, as a provider is.
func (g *Guard) takeUp(ctx context.Context) error {
	s := &guardSession{g, wasm.Use{Tag: wasm.Rehearsal}, false}
	if err := s.selfTest(ctx); err != nil {
		return err
	}
	for began, n := time.Now(), 0; len(g.manifest.SelfTest) > 0 && n < warmTests && time.Since(began) < warmTime; n++ {
		if err := s.selfTest(ctx); err != nil {
			return fmt.Errorf("made again: %w", err)
		}
	}
	return g.module.Freeze(ctx)
}

// Guard implements [guard.Plugin]. It is a call that belongs to no answer.
func (g *Guard) Guard(ctx context.Context, in, dst []byte) ([]byte, error) {
	return g.call(ctx, wasm.Use{}, in, dst)
}

// call makes a call. Its error is for the operator: what a guard says of itself is
// no word for clients.
func (g *Guard) call(ctx context.Context, use wasm.Use, in, dst []byte) ([]byte, error) {
	out, err := g.module.CallPure(ctx, use, abi.FuncGuard, in, dst)
	if err == nil {
		return out, nil
	}
	if e, ok := errors.AsType[*wasm.GuestError](err); ok {
		g.refused.Add(1)
		return dst, fmt.Errorf("it declared an error, code %d, which is not shown, since it may quote a text", e.Code)
	}
	return dst, err
}

// Stats implements [Plugin].
func (g *Guard) Stats() wasm.Stats {
	s := g.module.Stats()
	if n := g.refused.Load(); n > 0 {
		s.Faults["declared"] = n
	}
	return s
}

// A guardSession is a guard in the service of one answer.
type guardSession struct {
	of    *Guard
	use   wasm.Use
	alone bool // the tag is this answer's and no other's
}

// Guard implements [guard.Plugin].
func (s *guardSession) Guard(ctx context.Context, in, dst []byte) ([]byte, error) {
	return s.of.call(ctx, s.use, in, dst)
}

// Manifest implements [guard.Plugin].
func (s *guardSession) Manifest() *abi.Manifest { return s.of.manifest }

func (s *guardSession) end() {
	if s.alone {
		s.of.module.Done(s.use.Tag)
	}
	s.of.Release()
}

// GuardManifest implements [guard.Plugins].
func (s *Set) GuardManifest(name string) (*abi.Manifest, bool) {
	s.await()
	if g := s.view.Load().guards[name]; g != nil {
		return g.manifest, true
	}
	return nil, false
}

// AcquireGuard implements [guard.Plugins].
func (s *Set) AcquireGuard(ctx context.Context, name string, client provider.Client) (p guard.Plugin, release func(), ok bool) {
	for {
		g := awaitPlugin(ctx, s.first, provider.Wish{Plugin: name}, func() *Guard { return s.view.Load().guards[name] })
		if g == nil {
			return nil, func() {}, false
		}
		if g.Hold() { // else it has left since, and another one stands there
			g.begun.Add(1)
			use := wasm.Use{Tag: s.options.Isolation.tag(client.Workspace), Client: (*wasm.Client)(&client)}
			session := &guardSession{g, use, s.options.Isolation != IsolateWorkspaces}
			return session, session.end, true
		}
	}
}

// GuardNames implements [guard.Plugins].
func (s *Set) GuardNames() []string {
	s.await()
	var names []string
	for name := range s.view.Load().guards {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
