package wasm

import (
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
)

// Has reports whether the module has an export of that name that can be called.
func (m *Module) Has(export string) bool {
	_, ok := m.index[export]
	return ok
}

// A Sole is an instance that is kept, for a module that remembers from call to
// call. It belongs to whoever asked for it: one call at a time, and it must be
// closed before its module is.
//
// A call that ends with a [*Fault] ends the instance, and what it remembered is
// gone; later calls end with [ErrClosed].
type Sole struct {
	module   *Module
	instance *instance // nil once closed
}

// Sole starts an instance beside those of the pool. An error is a [*Fault].
func (m *Module) Sole() (*Sole, error) {
	i, err := m.start()
	if err != nil {
		m.countFault(err)
		return nil, err
	}
	return &Sole{m, i}, nil
}

// Call passes in to an export of form (len i32) -> i64 and appends its answer
// to dst.
func (s *Sole) Call(export string, in, dst []byte) ([]byte, error) {
	n, err := s.export(export, signatureCall, in)
	if err != nil {
		return dst, err
	}
	out, err := s.instance.call(n, in, dst)
	return out, s.settle(err)
}

// Count passes in to an export of form (len i32) -> i32.
func (s *Sole) Count(export string, in []byte) (uint32, error) {
	n, err := s.export(export, signatureCount, in)
	if err != nil {
		return 0, err
	}
	v, err := s.instance.count(n, in)
	return v, s.settle(err)
}

// Ask calls an export of form () -> i64 and appends its answer to dst.
func (s *Sole) Ask(export string, dst []byte) ([]byte, error) {
	n, err := s.export(export, signatureAsk, nil)
	if err != nil {
		return dst, err
	}
	out, err := s.instance.ask(n, dst)
	return out, s.settle(err)
}

// Number calls an export of form () -> i32.
func (s *Sole) Number(export string) (uint32, error) {
	n, err := s.export(export, signatureNumber, nil)
	if err != nil {
		return 0, err
	}
	v, err := s.instance.number(n)
	return v, s.settle(err)
}

// Closed reports whether the instance is gone.
func (s *Sole) Closed() bool { return s.instance == nil }

// Worn reports whether the instance should be replaced: its memory is nearly
// full, and it cannot give any back.
func (s *Sole) Worn() bool { return s.instance != nil && s.instance.worn() }

// Close lets go of the instance. It may be called again.
func (s *Sole) Close() {
	if s.instance != nil {
		s.instance.close()
		s.instance = nil
	}
}

func (s *Sole) export(name, signature string, in []byte) (int, error) {
	if s.instance == nil {
		return 0, fmt.Errorf("call %s of %s: %w", name, s.module.name, ErrClosed)
	}
	if len(in) > s.module.limits.Input {
		return 0, fmt.Errorf("call %s of %s with %d bytes, at most %d: %w", name, s.module.name, len(in), s.module.limits.Input, ErrInputTooLarge)
	}
	return s.module.export(name, signature)
}

// settle counts a call that ended, and ends the instance after a fault.
func (s *Sole) settle(err error) error {
	s.module.calls.Add(1)
	if _, ok := errors.AsType[*GuestError](err); ok {
		s.module.declared.Add(1)
	}
	if s.module.countFault(err) {
		s.Close()
	}
	return err
}

// countFault counts err where it is a [*Fault].
func (m *Module) countFault(err error) bool {
	f, ok := errors.AsType[*Fault](err)
	if ok {
		m.faults[f.Kind].Add(1)
	}
	return ok
}

// count passes in to the nth callable export, which answers a number.
func (i *instance) count(n int, in []byte) (uint32, error) {
	ctx := i.begin()
	defer i.settle()
	if err := i.write(ctx, in); err != nil {
		return 0, err
	}
	i.stack[0] = uint64(len(in))
	if err := i.lane.run(ctx, i.function(n), i.stack[:]); err != nil {
		return 0, i.fault(i.module.callable[n].Name, err)
	}
	return uint32(i.stack[0]), nil
}

// ask calls the nth callable export, which takes nothing and answers bytes.
func (i *instance) ask(n int, dst []byte) ([]byte, error) {
	ctx := i.begin()
	defer i.settle()
	export := i.module.callable[n].Name
	i.stack[0] = 0
	if err := i.lane.run(ctx, i.function(n), i.stack[:]); err != nil {
		return dst, i.fault(export, err)
	}
	return i.read(export, abi.Span(i.stack[0]), dst)
}
