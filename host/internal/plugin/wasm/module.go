package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
	"github.com/tetratelabs/wazero"
)

// The forms of export that can be called; the last two in a [Sole] alone.
const (
	signatureCall   = "(i32) -> i64"
	signatureNumber = "() -> i32"
	signatureCount  = "(i32) -> i32"
	signatureAsk    = "() -> i64"
)

// A Module is compiled and ready to be called. Safe for concurrent use.
type Module struct {
	name     string
	runtime  *Runtime
	engine   *engine
	refusal  string // why the runtime's own limiter does not bound it
	image    image  // of its instances' memory
	compiled wazero.CompiledModule
	state    meter.State // what its instances keep between calls
	frozen   atomic.Pointer[frozen]
	limits   Limits
	callable []Export
	index    map[string]int // into callable, by name
	pool     *pool
	breaker  breaker
	code     []byte // mapped from a file; nil: in memory of wazero's
	kept     bool   // the code is of the cache
	closing  sync.Once

	logs      logBudget
	calls     atomic.Int64
	declared  atomic.Int64
	faults    [faultKinds]atomic.Int64
	lastFault atomic.Pointer[PastFault]
	instances atomic.Int64
	memory    atomic.Int64
	dropped   atomic.Int64
	fuel      atomic.Int64
	perCall   spread // fuel of calls with input

	resets, resetPages, renewals atomic.Int64
}

func newModule(r *Runtime, e *engine, name string, compiled wazero.CompiledModule, s *Shape, l Limits) *Module {
	m := &Module{name: name, runtime: r, engine: e, compiled: compiled, limits: l, index: map[string]int{}}
	m.breaker.off = l.Unbroken
	_, takesInput := s.Func(abi.FuncInput)
	for _, e := range s.Exports {
		switch e.Signature {
		case signatureCall, signatureCount:
			if !takesInput {
				continue
			}
		case signatureNumber, signatureAsk:
		default:
			continue
		}
		if e.Name != abi.FuncInput {
			m.index[e.Name] = len(m.callable)
			m.callable = append(m.callable, e)
		}
	}
	m.pool = newPool(l.Instances, l.IdleAfter, func() (*instance, error) {
		i, err := m.start()
		if f, ok := errors.AsType[*Fault](err); ok {
			m.noteFault(f, nil)
		}
		return i, err
	})
	return m
}

// Call passes in to an export of form (len i32) -> i64 and appends its answer
// to dst, for the zero [Use]. It waits for a free instance while ctx allows; once the guest runs,
// its own timeout is what ends it.
//
// An error is a [*Fault], a [*GuestError], [ErrInputTooLarge], [ErrClosed] or
// ctx's own. With an error, dst comes back as it was.
func (m *Module) Call(ctx context.Context, export string, in, dst []byte) ([]byte, error) {
	return m.call(ctx, Use{}, export, in, dst, 1)
}

// CallPure is Call for use, for an export whose answer depends on its input alone: after
// a fault that may pass ([Fault.Transient]) it is called again, once, on
// another instance.
func (m *Module) CallPure(ctx context.Context, use Use, export string, in, dst []byte) ([]byte, error) {
	return m.call(ctx, use, export, in, dst, 2)
}

// A Use says what a call is made for.
type Use struct {
	Tag    Tag
	Client *Client // nil: nobody
}

func (u *Use) client() Client {
	if u.Client == nil {
		return Client{}
	}
	return *u.Client
}

func (m *Module) call(ctx context.Context, use Use, export string, in, dst []byte, tries int) ([]byte, error) {
	n, err := m.export(export, signatureCall)
	if err != nil {
		return dst, err
	}
	if len(in) > m.limits.Input {
		return dst, fmt.Errorf("call %s of %s with %d bytes, at most %d: %w", export, m.name, len(in), m.limits.Input, ErrInputTooLarge)
	}
	admitted, err := m.admit(use.client(), export)
	if err != nil {
		return dst, err
	}
	var out []byte
	for range tries {
		var i *instance
		if i, err = m.lend(ctx, use.Tag); err != nil {
			break
		}
		i.ctx, i.client = ctx, use.Client
		out, err = i.call(n, in, dst)
		i.ctx, i.client = nil, nil
		f, _ := errors.AsType[*Fault](err)
		m.pool.release(i, f != nil)
		if f == nil {
			break
		}
		m.noteFault(f, use.Client)
		if !f.Transient() {
			break
		}
	}
	m.settle(use.client(), err, admitted)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Number calls an export of form () -> i32 under tag.
func (m *Module) Number(ctx context.Context, tag Tag, export string) (uint32, error) {
	n, err := m.export(export, signatureNumber)
	if err != nil {
		return 0, err
	}
	admitted, err := m.admit(Client{}, export)
	if err != nil {
		return 0, err
	}
	i, err := m.lend(ctx, tag)
	var v uint32
	if err == nil {
		v, err = i.number(n)
		f, _ := errors.AsType[*Fault](err)
		m.pool.release(i, f != nil)
		if f != nil {
			m.noteFault(f, nil)
		}
	}
	m.settle(Client{}, err, admitted)
	return v, err
}

func (m *Module) export(name, signature string) (int, error) {
	n, ok := m.index[name]
	if !ok || m.callable[n].Signature != signature {
		return 0, fmt.Errorf("call %s of %s: it has no such export of form %s", name, m.name, signature)
	}
	return n, nil
}

// noteFault counts a fault of a call for c, and keeps what is known of the last one:
// without what the guest wrote, which may be of somebody's chat.
func (m *Module) noteFault(f *Fault, c *Client) {
	m.faults[f.Kind].Add(1)
	past := &PastFault{At: time.Now(), Message: fmt.Sprintf("%s in %s: %s", f.Kind, f.Export, f.Detail)}
	if c != nil {
		past.Workspace, past.Key = c.Workspace, c.Key
	}
	m.lastFault.Store(past)
}

// admit asks the breaker about a call for c.
func (m *Module) admit(c Client, export string) (admission, error) {
	a, kind, wait := m.breaker.admit(c)
	if wait == 0 {
		return a, nil
	}
	m.faults[kind].Add(1)
	f := &Fault{Kind: kind, Module: m.name, Export: export, RetryAfter: wait, Detail: "not called, since half of the last calls failed"}
	if kind == FaultClient {
		f.Detail = "not called, since the last input of this client made it fail"
	}
	return a, f
}

// settle records how a call for c ended.
func (m *Module) settle(c Client, err error, a admission) {
	m.calls.Add(1)
	if err == nil {
		m.breaker.succeeded(a)
		return
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		m.breaker.failed(a, c, f.costly(), f.ofStart())
		return
	}
	if _, ok := errors.AsType[*GuestError](err); ok {
		m.declared.Add(1)
		m.breaker.succeeded(a)
		return
	}
	m.breaker.abandoned(a)
}

// FromCache reports whether the code of m was compiled before, maybe by another process.
func (m *Module) FromCache() bool { return m.kept }

// Rest says that m will not be called for a while: the pages of its code leave
// memory until they are run again.
func (m *Module) Rest() {
	unload(m.code)
}

// Close waits for the calls under way and lets go of the module. Calls that
// come later end with [ErrClosed]. It may be called again.
func (m *Module) Close() (err error) {
	m.closing.Do(func() {
		m.pool.close()
		m.runtime.forget(m)
		err = errors.Join(m.compiled.Close(context.Background()), m.image.close())
		if s := m.snapshot(); s != nil {
			err = errors.Join(err, s.close())
		}
	})
	return err
}

// A PastFault is a fault as it is told of later.
type PastFault struct {
	At      time.Time
	Message string
	// Workspace and Key are those of the client whose input it was; empty: nobody's.
	Workspace, Key string
}

// Stats says what a module has done and what it holds.
type Stats struct {
	Calls     int64            // that ended, faults among them
	Declared  int64            // calls that ended with a [GuestError]
	Faults    map[string]int64 // by kind, those that happened
	LastFault *PastFault       // nil: none happened
	Open      bool             // the breaker keeps all calls away
	Clients   []ClientFaults   // whose input it was lately, the last first
	Instances int64            // alive, the warm one among them
	Memory    int64            // bytes of their linear memories
	LogLines  int64            // dropped for being too many
	Fuel      int64            // spent by all calls and starts, in units of package meter; 0 where the limiter does not count
	FuelP50   int64            // what half of the calls with input did not go over; within an eighth
	FuelP99   int64            // the same of 99 in 100
	Limiter   string           // what ends calls that take too long, by name
	Refusal   string           // why that is not the runtime's limiter; mostly empty

	Resets     int64  // of instances that went from one [Tag] to another
	ResetPages int64  // that were put back in them
	Renewals   int64  // instances that were replaced for it, since they could not be reset
	NoReset    string // why none can be; empty where they can, and before [Module.Freeze]
}

// Stats returns m's figures of now.
func (m *Module) Stats() Stats {
	s := Stats{
		Calls:     m.calls.Load(),
		Declared:  m.declared.Load(),
		Faults:    map[string]int64{},
		LastFault: m.lastFault.Load(),
		Open:      m.breaker.open(),
		Clients:   m.breaker.byClient(),
		Instances: m.instances.Load(),
		Memory:    m.memory.Load(),
		LogLines:  m.dropped.Load(),
		Fuel:      m.fuel.Load(),
		Limiter:   m.engine.limiter.String(),
		Refusal:   m.refusal,

		Resets: m.resets.Load(), ResetPages: m.resetPages.Load(), Renewals: m.renewals.Load(),
	}
	if f := m.frozen.Load(); f != nil {
		s.NoReset = f.why
	}
	q := m.perCall.quantiles(0.5, 0.99)
	s.FuelP50, s.FuelP99 = q[0], q[1]
	for k := range m.faults {
		if n := m.faults[k].Load(); n > 0 {
			s.Faults[FaultKind(k).String()] = n
		}
	}
	return s
}
