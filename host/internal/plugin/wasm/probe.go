package wasm

import (
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// A Probe is a [Sole] for tools that look closer than a host does: it says what
// each call spent, and can ask for input regions. It overwrites the input after
// each call, so that what a guest kept of it shows. After a [Fault] every call ends
// with that fault again.
//
// Not safe for concurrent use. Close it before its module.
type Probe struct {
	sole *Sole
	i    *instance
	fuel int64
	gone error

	frozen *snapshot
}

// Probe starts an instance of its own. An error is a [*Fault].
func (m *Module) Probe() (*Probe, error) {
	before := m.fuel.Load()
	s, err := m.Sole()
	if err != nil {
		return nil, err
	}
	return &Probe{sole: s, i: s.instance, fuel: m.fuel.Load() - before}, nil
}

// Call is [Sole.Call].
func (p *Probe) Call(export string, in, dst []byte) (out []byte, err error) {
	out = dst
	err = p.spend(func() (err error) {
		out, err = p.sole.Call(export, in, dst)
		return err
	})
	return out, err
}

// Count is [Sole.Count].
func (p *Probe) Count(export string, in []byte) (n uint32, err error) {
	err = p.spend(func() (err error) {
		n, err = p.sole.Count(export, in)
		return err
	})
	return n, err
}

// Ask is [Sole.Ask].
func (p *Probe) Ask(export string) (out []byte, err error) {
	err = p.spend(func() (err error) {
		out, err = p.sole.Ask(export, nil)
		return err
	})
	return out, err
}

// Number is [Sole.Number].
func (p *Probe) Number(export string) (v uint32, err error) {
	err = p.spend(func() (err error) {
		v, err = p.sole.Number(export)
		return err
	})
	return v, err
}

// Region asks the guest for an input region of size bytes, whether the
// instance has one that large or not, and returns its address. Later inputs
// still go to the region that the instance had, as the ABI allows, unless this
// one is larger.
func (p *Probe) Region(size uint32) (address uint32, err error) {
	if p.i.input == nil {
		return 0, fmt.Errorf("call %s of %s: it has no such export", abi.FuncInput, p.i.module.name)
	}
	err = p.spend(func() error {
		i := p.i
		ctx := i.begin()
		at, err := i.inputRegion(ctx, size)
		i.settle()
		if err == nil && size > i.capacity {
			i.region, i.capacity = at, size
		}
		address = at
		return p.sole.settle(err)
	})
	return address, err
}

// spend makes a call and notes its fuel.
func (p *Probe) spend(call func() error) error {
	if p.gone != nil {
		return p.gone
	}
	m := p.i.module
	before := m.fuel.Load()
	err := call()
	p.fuel = m.fuel.Load() - before
	p.poison()
	if f, ok := errors.AsType[*Fault](err); ok {
		p.gone = f
	}
	return err
}

// poison overwrites the input region: the next input could be anything.
func (p *Probe) poison() {
	if p.sole.Closed() {
		return
	}
	if b, ok := p.i.memory.Read(p.i.region, p.i.capacity); ok {
		for i := range b {
			b[i] = poison
		}
	}
}

// poison is the byte with which a [Probe] overwrites inputs: in no UTF-8, so no text
// or JSON that a guest read before has it.
const poison = 0xfd

// Fuel is what the last call spent, before the first one what the start did; 0
// where the limiter does not count it.
func (p *Probe) Fuel() int64 { return p.fuel }

// Memory is the size of the instance's memory in bytes, 0 after a fault.
func (p *Probe) Memory() uint64 {
	if p.sole.Closed() {
		return 0
	}
	return uint64(p.i.memory.Size())
}

// MaxMemory is what the instance may have of it.
func (p *Probe) MaxMemory() uint64 { return p.i.module.limits.Memory }

// MaxInput is the most bytes that a call may be given.
func (p *Probe) MaxInput() int { return p.i.module.limits.Input }

// Freeze takes what the instance is now for what [Probe.Reset] brings it back to,
// as [Module.Freeze] does; once. An error says why a host would close it in
// place of resetting it.
func (p *Probe) Freeze() (err error) {
	if p.gone != nil {
		return p.gone
	}
	p.frozen, err = p.i.freeze()
	return err
}

// Reset brings the instance back to where it was frozen; false says that it
// cannot be, since its memory has grown.
func (p *Probe) Reset() bool {
	if p.sole.Closed() {
		return false
	}
	_, ok := p.i.reset()
	return ok
}

// Close lets go of the instance. It may be called again.
func (p *Probe) Close() {
	p.sole.Close()
	if p.frozen != nil {
		_ = p.frozen.close() // nothing lies on it any more
		p.frozen = nil
	}
}
