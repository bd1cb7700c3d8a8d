package plugin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A Plugin is one loaded version of a plugin, of whatever kind. Safe for
// concurrent use.
type Plugin interface {
	// Manifest is what the plugin says of itself. It must not be changed.
	Manifest() *abi.Manifest
	SHA256() string // of the whole module, in hexadecimal
	From() string   // where it came from when it was loaded
	Stats() wasm.Stats
	// Hold keeps the plugin open until Release is called, as often as Hold was.
	// It returns false where the plugin is closed already.
	Hold() bool
	Release()
	// Close waits for the calls under way and lets go of the plugin, held or
	// not.
	Close() error

	loadedModule() *loaded
}

// loaded is what the kinds of plugin have in common.
type loaded struct {
	manifest *abi.Manifest
	module   *wasm.Module
	sha256   string
	from     string

	// holds counts the streams on this version, and one for the [Set] that may
	// begin others. At 0 nobody can hold it again, and left is called, once.
	holds atomic.Int64
	left  func()
	begun atomic.Int64 // streams, in all
}

// errNoCollectors says that a collector was left out, as it should be.
var errNoCollectors = errors.New("telemetry is off, so no collector is loaded")

// prepare checks module, compiles it and makes sure that it starts. An error is
// a sentence for the operator.
func prepare(ctx context.Context, rt *wasm.Runtime, module []byte, from string, o Options) (*loaded, error) {
	o = o.withDefaults()
	m, err := ReadManifest(module)
	if err != nil {
		return nil, err
	}
	id := m.Name + " " + m.Version
	if m.Kind == abi.KindCollector && o.NoCollectors {
		return nil, fmt.Errorf("check plugin %s: %w", id, errNoCollectors)
	}
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
	sum := sha256.Sum256(module)
	p := &loaded{manifest: m, sha256: hex.EncodeToString(sum[:]), from: from}
	p.holds.Store(1)
	p.step(o, StepVerified, 0)

	began := time.Now()
	if p.module, err = rt.Compile(ctx, id, module, limitsOf(m, o)); err != nil {
		return nil, err
	}
	err = p.checkABI(ctx)
	if _, fault := errors.AsType[*wasm.Fault](err); fault && p.module.FromCache() {
		// It may be the code: a cache is a help, and must not decide what runs.
		_ = p.Close() // the next error is the one to tell
		if p.module, err = rt.CompileAnew(ctx, id, module, limitsOf(m, o)); err != nil {
			return nil, err
		}
		err = p.checkABI(ctx)
	}
	if err != nil {
		_ = p.Close() // the first error is the one to tell
		return nil, fmt.Errorf("start plugin %s: %w", id, err)
	}
	p.step(o, StepCompiled, time.Since(began))
	return p, nil
}

// providerRoom is enough for a Go guest, a provider or a guard, not to grow in common calls. A collector
// is never reset.
const providerRoom = 4 << 20

// limitsOf is what m asks for, as far as o grants it.
func limitsOf(m *abi.Manifest, o Options) wasm.Limits {
	memory := cmp.Or(m.Limits.MemoryMiB, min(defaultMemoryMiB, o.MemoryMiB))
	fuel := m.Limits.FuelPerCall
	if o.FuelPerCall > 0 && (fuel == 0 || fuel > o.FuelPerCall) {
		fuel = o.FuelPerCall
	}
	l := wasm.Limits{Memory: uint64(memory) << 20, CallTimeout: o.CallTimeout, Fuel: fuel}
	if m.Kind != abi.KindCollector {
		l.Room = providerRoom
	}
	return l
}

// checkABI makes sure that the code speaks the ABI that its manifest names: the
// two come together only when the module is packed.
func (p *loaded) checkABI(ctx context.Context) error {
	got, err := p.askABI(ctx)
	if err != nil {
		return err
	}
	return CheckABI(got, p.manifest)
}

// CheckABI says why code that speaks the contract up to version got cannot be run
// by m; nil where it can.
func CheckABI(got uint32, m *abi.Manifest) error {
	if got < uint32(m.ABI) || got > abi.Version {
		return fmt.Errorf("%s says %d and the manifest %d: build it for the manifest's ABI or a newer one of %s (`parley plugin build DIR` does)", abi.FuncABI, got, m.ABI, manifest.ABIRange())
	}
	return nil
}

// askABI asks an instance. Of a collector that is one of its own, which ends
// here: it has no use for a pool.
func (p *loaded) askABI(ctx context.Context) (uint32, error) {
	if p.manifest.Kind != abi.KindCollector {
		return p.module.Number(ctx, wasm.Rehearsal, abi.FuncABI)
	}
	s, err := p.module.Sole()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return s.Number(abi.FuncABI)
}

func (p *loaded) loadedModule() *loaded { return p }

// Manifest implements [Plugin].
func (p *loaded) Manifest() *abi.Manifest { return p.manifest }

// SHA256 implements [Plugin].
func (p *loaded) SHA256() string { return p.sha256 }

// From implements [Plugin].
func (p *loaded) From() string { return p.from }

// Stats implements [Plugin].
func (p *loaded) Stats() wasm.Stats { return p.module.Stats() }

// Hold implements [Plugin].
func (p *loaded) Hold() bool {
	for {
		n := p.holds.Load()
		if n == 0 {
			return false
		}
		if p.holds.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release implements [Plugin].
func (p *loaded) Release() {
	switch n := p.holds.Add(-1); {
	case n < 0:
		panic("plugin: more releases than holds")
	case n == 0 && p.left != nil:
		p.left()
	}
}

// Close implements [Plugin]. Later calls end with an error.
func (p *loaded) Close() error { return p.module.Close() }
