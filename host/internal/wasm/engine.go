package wasm

import (
	"context"
	"errors"
	"fmt"

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

// prepare returns the engine for bin and the module that it is to compile:
// that of the runtime's limiter, or, where it refuses bin for the reason that
// comes with it, that of the limiter which stands in for it.
func (r *Runtime) prepare(bin []byte) (e *engine, metered []byte, refusal string, err error) {
	metered, err = r.engine.limiter.rewrite(bin)
	if err == nil {
		return r.engine, metered, "", nil
	}
	other := r.engine.limiter.fallback()
	if other == nil {
		return nil, nil, "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, "", ErrClosed
	}
	if r.standIn == nil {
		made, err := newEngine(other, r.cache)
		if err != nil {
			return nil, nil, "", err
		}
		r.standIn = made
	}
	refusal = clip(err.Error(), 256)
	metered, err = r.standIn.limiter.rewrite(bin)
	return r.standIn, metered, refusal, err
}

// MeterRefuses says why [Metered] would leave bin to [ContextDone]; nil where
// it would not.
func MeterRefuses(bin []byte) error {
	_, err := Metered().rewrite(bin)
	return err
}
