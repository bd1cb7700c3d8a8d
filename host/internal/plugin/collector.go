package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A Collector is a collector plugin, ready to be started.
type Collector struct {
	*loaded
	saves bool
}

var _ Plugin = (*Collector)(nil)

// LoadCollector checks and compiles module, a collector, and makes sure that it
// starts; from says where it came from. An error is a sentence for the operator.
func LoadCollector(ctx context.Context, rt *wasm.Runtime, module []byte, from string, o Options) (*Collector, error) {
	l, err := prepare(ctx, rt, module, from, o)
	if err != nil {
		return nil, err
	}
	if l.manifest.Kind != abi.KindCollector {
		err := fmt.Errorf("check plugin %s %s: it is a %s, and a collector is wanted here", l.manifest.Name, l.manifest.Version, l.manifest.Kind)
		return nil, errors.Join(err, l.Close())
	}
	return newCollector(l, o)
}

// newCollector makes a collector of l, which it closes where it fails.
func newCollector(l *loaded, o Options) (*Collector, error) {
	c := &Collector{loaded: l, saves: l.module.Has(abi.FuncSave)}
	began := time.Now()
	if err := c.selfTest(); err != nil {
		_ = c.Close() // the first error is the one to tell
		return nil, fmt.Errorf("test plugin %s %s: %w", l.manifest.Name, l.manifest.Version, err)
	}
	if len(l.manifest.SelfTest) > 0 {
		l.step(o, StepTested, time.Since(began))
	}
	return c, nil
}

// Start makes an instance with an empty window. It must be closed before the
// collector is.
func (c *Collector) Start() (*CollectorInstance, error) {
	sole, err := c.module.Sole()
	if err != nil {
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
