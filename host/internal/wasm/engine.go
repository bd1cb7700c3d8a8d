package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/wasm/meter"
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

// prepare returns the engine for bin, the module that it is to compile and what
// its instances keep: that of the runtime's limiter, or, where it refuses bin for the reason that
// comes with it, that of the limiter which stands in for it.
func (r *Runtime) prepare(bin []byte) (e *engine, metered []byte, state meter.State, refusal string, err error) {
	metered, state, err = r.engine.limiter.rewrite(bin)
	if err == nil {
		return r.engine, metered, state, "", nil
	}
	other := r.engine.limiter.fallback()
	if other == nil {
		return nil, nil, state, "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, state, "", ErrClosed
	}
	if r.standIn == nil {
		made, err := newEngine(other, r.cache)
		if err != nil {
			return nil, nil, state, "", err
		}
		r.standIn = made
	}
	refusal = clip(err.Error(), 256)
	metered, state, err = r.standIn.limiter.rewrite(bin)
	return r.standIn, metered, state, refusal, err
}

// MeterRefuses says why [Metered] would leave bin to [ContextDone]; nil where
// it would not.
func MeterRefuses(bin []byte) error {
	_, _, err := Metered().rewrite(bin)
	return err
}
