package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// Options says what a deployment allows. The zero value works.
type Options struct {
	// MemoryMiB is the most that one instance of a plugin may ask for; default
	// 64. A plugin that does not ask gets 16 or this, whichever is less.
	MemoryMiB int
	// CallTimeout bounds one call of a plugin; default 2s.
	CallTimeout time.Duration
	// FuelPerCall is the most fuel that one call gets, whatever the manifest
	// asks for; default no more than what that says.
	FuelPerCall int64
	// Isolation says between what instances of providers are reset; default
	// [IsolateAnswers].
	Isolation Isolation
	// Log is told what happens to each version, by one goroutine or several;
	// nil drops it.
	Log func(Step)
	// NoCollectors leaves collectors out before any of their code is compiled:
	// telemetry is off.
	NoCollectors bool
	// Applied, where not nil, is called after each change of a [Set], one change
	// at a time, with all that runs from now on. Versions that have left are
	// open until it returns; it may [Plugin.Hold] what it goes on using.
	Applied func([]Running)
}

func (o Options) withDefaults() Options {
	o.MemoryMiB = cmp.Or(o.MemoryMiB, 64)
	return o
}

// defaultMemoryMiB is what a plugin gets that does not ask.
const defaultMemoryMiB = 16

// A Provider is a provider plugin, ready to be called. It implements
// [provider.Source].
type Provider struct {
	*loaded
	refused atomic.Int64 // answers that were not what the contract says
}

var (
	_ provider.Source = (*Provider)(nil)
	_ Plugin          = (*Provider)(nil)
)

// Load checks and compiles module, a provider, makes sure that it starts, and
// runs its self-test; from says where it came from. An error is a sentence for
// the operator.
func Load(ctx context.Context, rt *wasm.Runtime, module []byte, from string, o Options) (*Provider, error) {
	l, err := prepare(ctx, rt, module, from, o)
	if err != nil {
		return nil, err
	}
	if l.manifest.Kind != abi.KindProvider {
		err := fmt.Errorf("check plugin %s %s: it is a %s, and a provider is wanted here", l.manifest.Name, l.manifest.Version, l.manifest.Kind)
		return nil, errors.Join(err, l.Close())
	}
	return newProvider(ctx, l, o)
}

// newProvider makes a provider of l, which it closes where it fails.
func newProvider(ctx context.Context, l *loaded, o Options) (*Provider, error) {
	p := &Provider{loaded: l}
	began := time.Now()
	if err := p.takeUp(ctx); err != nil {
		_ = p.Close() // the first error is the one to tell
		return nil, fmt.Errorf("test plugin %s %s: %w", l.manifest.Name, l.manifest.Version, err)
	}
	if len(l.manifest.SelfTest) > 0 {
		l.step(o, StepTested, time.Since(began))
	}
	l.module.Rest()
	return p, nil
}

// takeUp tests the plugin and freezes it: what it has seen until then is its own
// manifest, and what comes later no other answer may see.
func (p *Provider) takeUp(ctx context.Context) error {
	s := &session{p, wasm.Use{Tag: wasm.Rehearsal}, false}
	if err := s.selfTest(ctx); err != nil {
		return err
	}
	if err := s.warm(ctx); err != nil {
		return err
	}
	return p.module.Freeze(ctx)
}

// Stats implements [Plugin]. Among the faults, "answer" counts the calls that
// ended well with an answer that was not as the contract says.
func (p *Provider) Stats() wasm.Stats {
	s := p.module.Stats()
	if n := p.refused.Load(); n > 0 {
		s.Faults["answer"] = n
	}
	return s
}

// Encode implements [provider.Source]. Like Decode and Error, it is a call that
// belongs to no answer: nobody sees its result.
func (p *Provider) Encode(ctx context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	return p.encode(ctx, wasm.Use{}, in)
}

// Decode implements [provider.Source]. What it appends is well-formed: a state
// within its bounds and whole records.
func (p *Provider) Decode(ctx context.Context, in, dst []byte) ([]byte, error) {
	return p.decode(ctx, wasm.Use{}, in, dst)
}

// Error implements [provider.Source].
func (p *Provider) Error(ctx context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error) {
	return p.error(ctx, wasm.Use{}, in)
}

func (p *Provider) encode(ctx context.Context, use wasm.Use, in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	answer, err := p.json(ctx, use, abi.FuncEncode, in)
	if err != nil {
		return nil, err
	}
	var out abi.EncodeResponse
	if err := readEncodeResponse(answer, &out); err != nil {
		return nil, p.refuse(abi.FuncEncode, err)
	}
	if err := mendEncodeResponse(&out); err != nil {
		return nil, p.refuse(abi.FuncEncode, err)
	}
	if in.Op != "" && in.Op != abi.OpChat {
		if err := checkTemplate(in.Op, &out); err != nil {
			return nil, p.refuse(abi.FuncEncode, err)
		}
	}
	return &out, nil
}

func (p *Provider) decode(ctx context.Context, use wasm.Use, in, dst []byte) ([]byte, error) {
	out, err := p.module.CallPure(ctx, use, abi.FuncDecode, in, dst)
	if err != nil {
		return dst, p.failed(ctx, err)
	}
	answer := out[len(dst):]
	if len(answer) == 0 {
		// Nothing is short for an empty state and no records.
		return append(out, 0, 0, 0, 0), nil
	}
	if err := checkDecodeOutput(answer); err != nil {
		return dst, p.refuse(abi.FuncDecode, err)
	}
	return out, nil
}

func (p *Provider) error(ctx context.Context, use wasm.Use, in *abi.ErrorRequest) (*abi.ProviderError, error) {
	answer, err := p.json(ctx, use, abi.FuncError, in)
	if err != nil {
		return nil, err
	}
	var out abi.ProviderError
	if err := readObject(answer, &out); err != nil {
		return nil, p.refuse(abi.FuncError, err)
	}
	mendProviderError(&out)
	return &out, nil
}

// json makes a call whose input is the JSON of in, and returns its answer.
func (p *Provider) json(ctx context.Context, use wasm.Use, export string, in any) ([]byte, error) {
	b, err := InputJSON(in)
	if err != nil {
		return nil, fmt.Errorf("encode input of %s: %w", export, err)
	}
	answer, err := p.module.CallPure(ctx, use, export, b, nil)
	if err != nil {
		return nil, p.failed(ctx, err)
	}
	return answer, nil
}
