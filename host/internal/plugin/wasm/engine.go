package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// An engine is wazero set up for one limiter.
type engine struct {
	limiter Limiter
	wazero  wazero.Runtime
}

func newEngine(l Limiter, cache wazero.CompilationCache) (*engine, error) {
	// What wazero holds is let go by close, which takes no context of ours.
	ctx := context.Background()
	config := l.configure(wazero.NewRuntimeConfig()).
		WithCompilationCache(cache).
		WithCoreFeatures(api.CoreFeaturesV2)
	e := &engine{l, wazero.NewRuntimeWithConfig(ctx, config)}
	if err := errors.Join(addHostFunctions(ctx, e.wazero), addYield(ctx, e.wazero)); err != nil {
		return nil, errors.Join(fmt.Errorf("add host functions: %w", err), e.close())
	}
	return e, nil
}

func (e *engine) close() error { return e.wazero.Close(context.Background()) }

// engineOf returns the engine of the runtime whose limiter has that name: its own, or
// that of the limiter which stands in for it.
func (r *Runtime) engineOf(limiter string) (*engine, error) {
	if r.engine.limiter.String() == limiter {
		return r.engine, nil
	}
	other := r.engine.limiter.fallback()
	if other == nil || other.String() != limiter {
		return nil, fmt.Errorf("the limiter is %s, and there is none %.32q", r.engine.limiter, limiter)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if r.standIn == nil {
		made, err := newEngine(other, r.cache)
		if err != nil {
			return nil, err
		}
		r.standIn = made
	}
	return r.standIn, nil
}

// A recast says how a module is bounded that was rewritten for it.
type recast struct {
	Limiter string      `json:"limiter"`
	Refusal string      `json:"refusal,omitempty"` // why it is not the one asked for; empty where it is
	State   meter.State `json:"state"`             // what its instances keep between calls
}

// recastFor returns bin as l, or else the limiter which stands in for it, can bound it.
func recastFor(l Limiter, bin []byte) (how recast, out []byte, err error) {
	out, how.State, err = l.rewrite(bin)
	if other := l.fallback(); err != nil && other != nil {
		how.Refusal = clip(err.Error(), 256)
		l = other
		out, how.State, err = l.rewrite(bin)
	}
	how.Limiter = l.String()
	return how, out, err
}

// MeterRefuses says why [Metered] would leave bin to [ContextDone]; nil where
// it would not.
func MeterRefuses(bin []byte) error {
	_, _, err := Metered().rewrite(bin)
	return err
}
