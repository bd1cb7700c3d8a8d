package plugin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/wasm"
)

// A Collector is a collector plugin, ready to be started. Safe for concurrent
// use.
type Collector struct {
	manifest *abi.Manifest
	module   *wasm.Module
	sha256   string
	from     string
	saves    bool
}

// LoadCollector checks and compiles module and makes sure that it starts; from
// says where it came from. An error is a sentence for the operator.
func LoadCollector(ctx context.Context, rt *wasm.Runtime, module []byte, from string, o Options) (*Collector, error) {
	o = o.withDefaults()
	m, err := ReadManifest(module)
	if err != nil {
		return nil, err
	}
	id := m.Name + " " + m.Version
	if m.Kind != abi.KindCollector {
		return nil, fmt.Errorf("check plugin %s: it is a %s, and a collector is wanted here", id, m.Kind)
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
	memory := cmp.Or(m.Limits.MemoryMiB, min(defaultMemoryMiB, o.MemoryMiB))
	sum := sha256.Sum256(module)
	compiled, err := rt.Compile(ctx, id, module, wasm.Limits{Memory: uint64(memory) << 20, CallTimeout: o.CallTimeout})
	if err != nil {
		return nil, err
	}
	_, saves := shape.Func(abi.FuncSave)
	c := &Collector{manifest: m, module: compiled, sha256: hex.EncodeToString(sum[:]), from: from, saves: saves}
	i, err := c.Start()
	if err != nil {
		_ = c.Close() // the first error is the one to tell
		return nil, fmt.Errorf("start plugin %s: %w", id, err)
	}
	i.Close()
	return c, nil
}

// Manifest is what the plugin says of itself. It must not be changed.
func (c *Collector) Manifest() *abi.Manifest { return c.manifest }

// SHA256 is the hash of the whole module, in hexadecimal.
func (c *Collector) SHA256() string { return c.sha256 }

// From says where the plugin came from: a file, or what [Set.Add] was told.
func (c *Collector) From() string { return c.from }

// Stats returns the plugin's figures of now.
func (c *Collector) Stats() wasm.Stats { return c.module.Stats() }

// Close lets go of the plugin. Its instances must be closed before.
func (c *Collector) Close() error { return c.module.Close() }

// Start makes an instance with an empty window.
func (c *Collector) Start() (*CollectorInstance, error) {
	sole, err := c.module.Sole()
	if err != nil {
		return nil, err
	}
	got, err := sole.Number(abi.FuncABI)
	if err == nil && got != uint32(c.manifest.ABI) {
		err = fmt.Errorf("%s says %d and the manifest %d: build the module and its manifest for the same ABI (`parley plugin build DIR` does)", abi.FuncABI, got, c.manifest.ABI)
	}
	if err != nil {
		sole.Close()
		return nil, err
	}
	return &CollectorInstance{sole: sole, saves: c.saves}, nil
}

// A CollectorInstance keeps one window of one collector. One call at a time.
// After an error of any method the instance is closed and its window gone.
type CollectorInstance struct {
	sole  *wasm.Sole
	saves bool
	flags [4]byte
}

// Observe hands over event records, of which there are so many, and returns
// how many were taken.
func (i *CollectorInstance) Observe(records []byte, count int) (taken int, err error) {
	n, err := i.sole.Count(abi.FuncObserve, records)
	if err != nil {
		return 0, i.fail(err)
	}
	if int64(n) > int64(count) {
		return 0, i.fail(fmt.Errorf("%s says that it took %d events of %d", abi.FuncObserve, n, count))
	}
	return int(n), nil
}

// Flush appends the window's metric records to dst; with reset the window ends.
func (i *CollectorInstance) Flush(reset bool, dst []byte) ([]byte, error) {
	flags := uint32(0)
	if reset {
		flags = abi.FlushReset
	}
	out, err := i.sole.Call(abi.FuncFlush, abi.AppendFlushInput(i.flags[:0], flags), dst)
	if err != nil {
		return dst, i.fail(err)
	}
	return out, nil
}

// Save appends the state of the window to dst; nothing where the collector
// cannot save.
func (i *CollectorInstance) Save(dst []byte) ([]byte, error) {
	if !i.saves {
		return dst, nil
	}
	out, err := i.sole.Ask(abi.FuncSave, dst)
	if err == nil && len(out)-len(dst) > abi.MaxSaved {
		err = fmt.Errorf("%s answers %d bytes and may answer %d", abi.FuncSave, len(out)-len(dst), abi.MaxSaved)
	}
	if err != nil {
		return dst, i.fail(err)
	}
	return out, nil
}

// Load gives a state back; false where the collector cannot go on from it, and
// then nothing has changed.
func (i *CollectorInstance) Load(state []byte) (taken bool, err error) {
	if !i.saves || len(state) == 0 {
		return false, nil
	}
	n, err := i.sole.Count(abi.FuncLoad, state)
	if err == nil && n > 1 {
		err = fmt.Errorf("%s answers %d, want 0 or 1", abi.FuncLoad, n)
	}
	if err != nil {
		return false, i.fail(err)
	}
	return n == 1, nil
}

// Worn reports whether the instance should be replaced by a new one.
func (i *CollectorInstance) Worn() bool { return i.sole.Worn() }

// Close lets go of the instance. It may be called again.
func (i *CollectorInstance) Close() { i.sole.Close() }

// fail closes the instance: what it has gathered cannot be trusted any more.
func (i *CollectorInstance) fail(err error) error {
	i.sole.Close()
	return err
}
