package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A subject is the module that is being checked, with the instances that the
// check under way holds.
type subject struct {
	ctx      context.Context
	runtime  *wasm.Runtime
	module   []byte
	options  Options
	manifest *abi.Manifest
	shape    *wasm.Shape
	compiled *wasm.Module // nil until it is
	guests   []*guest
	fuel     map[string][]int64 // by export, of the calls of this check
	spent    map[string][]int64 // by export, of all calls before this check
	fields   map[event.Kind]int // see fieldsOf
}

// openSubject compiles a module to call it. The caller calls closeSubject.
func openSubject(ctx context.Context, module []byte, o Options) (s *subject, closeSubject func(), err error) {
	m, err := plugin.ReadManifest(module)
	if err != nil {
		return nil, nil, err
	}
	rt, err := wasm.Open(wasm.Options{CacheDir: o.CacheDir, Aside: o.Compiler})
	if err != nil {
		return nil, nil, err
	}
	s = newSubject(ctx, rt, module, o)
	s.manifest = m
	if s.compiled, err = rt.Compile(ctx, m.Name+" "+m.Version, module, s.limits()); err != nil {
		_ = rt.Close()
		return nil, nil, err
	}
	return s, func() { s.settle(); _ = rt.Close() }, nil
}

func newSubject(ctx context.Context, rt *wasm.Runtime, module []byte, o Options) *subject {
	return &subject{ctx: ctx, runtime: rt, module: module, options: o, fuel: map[string][]int64{}, spent: map[string][]int64{}}
}

func (s *subject) limits() wasm.Limits {
	return plugin.Options{CallTimeout: s.options.CallTimeout}.Limits(s.manifest)
}

// fresh starts an instance that lives until the end of the check.
func (s *subject) fresh() (*guest, error) {
	p, err := s.compiled.Probe()
	if err != nil {
		return nil, err
	}
	g := &guest{s, p}
	s.guests = append(s.guests, g)
	return g, nil
}

// pair starts two instances.
func (s *subject) pair() (a, b *guest, err error) {
	if a, err = s.fresh(); err == nil {
		b, err = s.fresh()
	}
	return a, b, err
}

// settle lets go of what a check that is over has held.
func (s *subject) settle() {
	for _, g := range s.guests {
		g.p.Close()
	}
	s.guests = nil
	for export, fuel := range s.fuel {
		s.spent[export] = append(s.spent[export], fuel...)
	}
	clear(s.fuel)
}

// A guest is one instance.
type guest struct {
	s *subject
	p *wasm.Probe
}

// A reply is how a call ended that a host could go on from.
type reply struct {
	answer   []byte
	declared *wasm.GuestError
}

func (r reply) String() string {
	if r.declared != nil {
		return fmt.Sprintf("the declared error %d, %s", r.declared.Code, quote(r.declared.Message))
	}
	return quote(r.answer)
}

func (r reply) equal(other reply) bool {
	if r.declared != nil || other.declared != nil {
		return r.declared != nil && other.declared != nil && *r.declared == *other.declared
	}
	return bytes.Equal(r.answer, other.answer)
}

// An input is what a call gets, and what a failure calls it.
type input struct {
	name string
	in   []byte
}

// call makes a call. An error is a breach of the contract: a fault, or an
// answer that a host could not use.
func (g *guest) call(export string, in input) (reply, error) {
	r, err := g.endure(export, in)
	if err != nil || r.declared != nil {
		return r, err
	}
	if err := plugin.CheckAnswer(export, r.answer); err != nil {
		return reply{}, wrongAnswer(export, in.name, err)
	}
	return r, nil
}

// endure makes a call with input of which nothing good can come. An error is a
// fault.
func (g *guest) endure(export string, in input) (reply, error) {
	answer, err := g.p.Call(export, in.in, nil)
	g.s.fuel[export] = append(g.s.fuel[export], g.p.Fuel())
	if declared, ok := errors.AsType[*wasm.GuestError](err); ok {
		return reply{declared: declared}, nil
	}
	if err != nil {
		return reply{}, fmt.Errorf("%s of %s: %w", export, in.name, brief(err))
	}
	return reply{answer: answer}, nil
}

// brief leaves the stack out of what a guest wrote when it faulted.
func brief(err error) error {
	f, ok := errors.AsType[*wasm.Fault](err)
	if !ok {
		return err
	}
	short := *f
	short.Output, _, _ = strings.Cut(f.Output, "\n\n")
	short.Output = strings.TrimSpace(short.Output)
	return &short
}

// same makes a call on each guest in turn and wants equal replies.
func same(export string, in input, guests ...*guest) (first reply, err error) {
	for i, g := range guests {
		r, err := g.call(export, in)
		if err != nil {
			return r, err
		}
		if i == 0 {
			first = r
		} else if !r.equal(first) {
			return r, fmt.Errorf("%s of %s gave %s, and, called again, %s", export, in.name, first, r)
		}
	}
	return first, nil
}

// quote shows the beginning of what crossed.
func quote[T string | []byte](b T) string {
	const most = 160
	if len(b) > most {
		return fmt.Sprintf("%q… (%d bytes)", b[:most], len(b))
	}
	return fmt.Sprintf("%q", b)
}

// size says bytes for people.
func size(n uint64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)>>10)
}

// count says a large number for people.
func count(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%d M", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%d k", n/1000)
	}
	return fmt.Sprint(n)
}
