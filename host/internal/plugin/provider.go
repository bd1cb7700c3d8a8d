package plugin

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/wasm"
)

// Options says what a deployment allows. The zero value works.
type Options struct {
	// MemoryMiB is the most that one instance of a plugin may ask for; default
	// 64. A plugin that does not ask gets 16 or this, whichever is less.
	MemoryMiB int
	// CallTimeout bounds one call of a plugin; default 2s.
	CallTimeout time.Duration
	// Pins holds, by source, the constraint that an empty one stands for.
	Pins map[string]string
}

func (o Options) withDefaults() Options {
	o.MemoryMiB = cmp.Or(o.MemoryMiB, 64)
	return o
}

// defaultMemoryMiB is what a plugin gets that does not ask.
const defaultMemoryMiB = 16

// A Provider is a provider plugin, ready to be called. It implements
// [chat.Source].
type Provider struct {
	manifest *abi.Manifest
	module   *wasm.Module
	sha256   string
	from     string
	refused  atomic.Int64 // answers that were not what the contract says
}

var _ chat.Source = (*Provider)(nil)

// Load checks and compiles module and makes sure that it starts; from says
// where it came from. An error is a sentence for the operator.
func Load(ctx context.Context, rt *wasm.Runtime, module []byte, from string, o Options) (*Provider, error) {
	o = o.withDefaults()
	m, err := ReadManifest(module)
	if err != nil {
		return nil, err
	}
	id := m.Name + " " + m.Version
	shape, err := wasm.Describe(module)
	if err != nil {
		return nil, fmt.Errorf("read plugin %s: %w", id, err)
	}
	if err := checkExports(shape, m.Kind); err != nil {
		return nil, fmt.Errorf("check plugin %s: %w", id, err)
	}
	if m.Limits.MemoryMiB > o.MemoryMiB {
		return nil, fmt.Errorf("check plugin %s: it asks for %d MiB of memory, and this deployment grants %d", id, m.Limits.MemoryMiB, o.MemoryMiB)
	}
	memory := cmp.Or(m.Limits.MemoryMiB, min(defaultMemoryMiB, o.MemoryMiB))
	sum := sha256.Sum256(module)
	compiled, err := rt.Compile(ctx, id, module, wasm.Limits{Memory: uint64(memory) << 20, CallTimeout: o.CallTimeout})
	if err != nil {
		return nil, err
	}
	p := &Provider{manifest: m, module: compiled, sha256: hex.EncodeToString(sum[:]), from: from}
	if err := p.checkABI(ctx); err != nil {
		_ = p.Close() // the first error is the one to tell
		return nil, fmt.Errorf("start plugin %s: %w", id, err)
	}
	return p, nil
}

// checkABI makes sure that the code was built for the ABI that its manifest
// names: the two come together only when the module is packed.
func (p *Provider) checkABI(ctx context.Context) error {
	got, err := p.module.Number(ctx, abi.FuncABI)
	if err != nil {
		return err
	}
	if got != uint32(p.manifest.ABI) {
		return fmt.Errorf("%s says %d and the manifest %d: build the module and its manifest for the same ABI (`parley plugin build DIR` does)", abi.FuncABI, got, p.manifest.ABI)
	}
	return nil
}

// Manifest is what the plugin says of itself. It must not be changed.
func (p *Provider) Manifest() *abi.Manifest { return p.manifest }

// SHA256 is the hash of the whole module, in hexadecimal.
func (p *Provider) SHA256() string { return p.sha256 }

// From says where the plugin came from: a file, or what [Set.Add] was told.
func (p *Provider) From() string { return p.from }

// Stats returns the plugin's figures of now. Among the faults, "answer" counts
// the calls that ended well with an answer that was not as the contract says.
func (p *Provider) Stats() wasm.Stats {
	s := p.module.Stats()
	if n := p.refused.Load(); n > 0 {
		s.Faults["answer"] = n
	}
	return s
}

// Close waits for the calls under way and lets go of the plugin. Later calls
// end with a [chat.PluginError] of kind unavailable.
func (p *Provider) Close() error { return p.module.Close() }

// Encode implements [chat.Source].
func (p *Provider) Encode(ctx context.Context, in *abi.EncodeRequest) (*abi.EncodeResponse, error) {
	var out abi.EncodeResponse
	if err := p.json(ctx, abi.FuncEncode, in, &out); err != nil {
		return nil, err
	}
	if err := checkEncodeResponse(&out); err != nil {
		return nil, p.refuse(abi.FuncEncode, err)
	}
	return &out, nil
}

// Decode implements [chat.Source]. What it appends is well-formed: a state
// within its bounds and whole records.
func (p *Provider) Decode(ctx context.Context, in, dst []byte) ([]byte, error) {
	out, err := p.module.CallPure(ctx, abi.FuncDecode, in, dst)
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

// Error implements [chat.Source].
func (p *Provider) Error(ctx context.Context, in *abi.ErrorRequest) (*abi.ProviderError, error) {
	var out abi.ProviderError
	if err := p.json(ctx, abi.FuncError, in, &out); err != nil {
		return nil, err
	}
	mendProviderError(&out)
	return &out, nil
}

// json makes a call whose input and output are JSON.
func (p *Provider) json(ctx context.Context, export string, in, out any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a guest would only have to undo it
	if err := e.Encode(in); err != nil {
		return fmt.Errorf("encode input of %s: %w", export, err)
	}
	answer, err := p.module.CallPure(ctx, export, bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil)
	if err != nil {
		return p.failed(ctx, err)
	}
	if len(answer) == 0 || answer[0] != '{' {
		return p.refuse(export, fmt.Errorf("want a JSON object, got %s", quote(string(answer))))
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return p.refuse(export, fmt.Errorf("want a JSON object: %w", err))
	}
	return nil
}
