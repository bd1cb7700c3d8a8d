package wasm

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Client is whose input a call passes in. The zero value is nobody's: that of tests, and
// of what the host asks for itself.
type Client struct {
	Workspace string // or what else the input is of
	Key       string // uid of its API key; empty: none
	ID        string // tells apart the clients of one key
}

// A ClientFaults says what a client's input did lately.
type ClientFaults struct {
	Client
	Faults int       // within a minute, those of the most recent 20
	Last   time.Time // of them
	Paused time.Time // no call of it goes ahead before; zero: it is not kept away
}

// Bounds of what counts as too many faults. A fault costs one instance, which is
// soon replaced, and most come of one client's input: so that client is kept away first,
// and all others only where half of all calls fail, whoever makes them. A fault that
// costs more, by its time or since nothing can start, counts by itself.
const (
	faultWindow  = time.Minute
	clientFaults = 3  // of a client,
	clientCalls  = 6  // among so many of its calls
	moduleFaults = 10 // of a module,
	moduleCalls  = 20 // among so many of its calls
	costlyFaults = 3  // of either within faultWindow, of a module by more than one client
	firstPause   = time.Second
	longestPause = 30 * time.Second // and that after costly faults
	maxClients   = 1000             // that are told apart
	maxMarks     = 20               // faults that are remembered of each
)

// A breaker keeps calls away where faults happen again and again: those of a client
// (clients), or all of a module (module).
type breaker struct {
	off bool // it keeps nothing away

	// watching is true while there are faults to remember, so that the way of the good
	// call is one load.
	watching atomic.Bool

	mu      sync.Mutex
	module  gate
	clients map[Client]*gate
	forgot  time.Time // when forget last looked
}

// A gate counts the faults of some calls. Once there are too many it is shut for a pause,
// then lets one call through to try: that call's outcome opens it, or shuts it for
// twice as long.
type gate struct {
	calls   uint64 // let through since there were faults to remember
	recent  []mark // the last faults, oldest first
	shut    bool
	probing bool // one call is trying
	pause   time.Duration
	until   time.Time // when it may be tried again
}

// A mark is a fault that is remembered.
type mark struct {
	at     time.Time
	call   uint64 // the gate's count
	costly bool
	start  bool // of an instance, whoever wanted it
	client Client
}

// An admission says which gates a call is to try; nil: none.
type admission struct{ client, module *gate }

// admit reports whether a call of client c may go ahead: where it may not, wait is how long
// it should wait, and kind is the fault that says why.
func (b *breaker) admit(c Client) (a admission, kind FaultKind, wait time.Duration) {
	if !b.watching.Load() {
		return a, 0, 0
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forget(now)
	own := b.clients[c]
	if wait := own.wait(now); wait > 0 {
		return a, FaultClient, wait
	}
	if wait := b.module.wait(now); wait > 0 {
		return a, FaultBreaker, wait
	}
	return admission{own.pass(), b.module.pass()}, 0, 0
}

// succeeded records that a call ended without fault.
func (b *breaker) succeeded(a admission) {
	b.tried(a, func(g *gate) { *g = gate{calls: g.calls} })
}

// abandoned records that a call never reached the guest.
func (b *breaker) abandoned(a admission) {
	b.tried(a, func(g *gate) { g.probing = false })
}

func (b *breaker) tried(a admission, end func(*gate)) {
	if a == (admission{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range []*gate{a.client, a.module} {
		if g != nil {
			end(g)
		}
	}
}

// failed records the fault that a call of client c ended with.
func (b *breaker) failed(a admission, c Client, costly, start bool) {
	if b.off {
		return
	}
	m := mark{at: time.Now(), costly: costly, start: start, client: c}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watching.Store(true)
	b.module.failed(m, a.module != nil, moduleFaults, moduleCalls, false)
	own := b.clients[c]
	switch {
	case start: // it is nobody's input
		if a.client != nil {
			a.client.probing = false
		}
		return
	case own == nil && len(b.clients) >= maxClients:
		return // the module's own gate is left
	case own == nil:
		own = &gate{}
		if b.clients == nil {
			b.clients = map[Client]*gate{}
		}
		b.clients[c] = own
	}
	own.failed(m, a.client != nil, clientFaults, clientCalls, true)
}

// forget drops what is too long ago to count. It looks once a second.
func (b *breaker) forget(now time.Time) {
	if now.Sub(b.forgot) < time.Second {
		return
	}
	b.forgot = now
	for c, g := range b.clients {
		if g.forget(now) {
			delete(b.clients, c)
		}
	}
	if b.module.forget(now) && len(b.clients) == 0 {
		b.watching.Store(false)
	}
}

// open reports whether all calls are kept away.
func (b *breaker) open() bool {
	if !b.watching.Load() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.module.shut
}

// byClient lists the clients whose input lately made the module fail, the last first.
func (b *breaker) byClient() []ClientFaults {
	if !b.watching.Load() {
		return nil
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []ClientFaults
	for c, g := range b.clients {
		if n := len(g.recent); n > 0 && c != (Client{}) && now.Sub(g.recent[n-1].at) <= faultWindow {
			f := ClientFaults{Client: c, Faults: n, Last: g.recent[n-1].at}
			if g.shut {
				f.Paused = g.until
			}
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(x, y ClientFaults) int {
		return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.Workspace, y.Workspace), cmp.Compare(x.ID, y.ID))
	})
	return all
}

// wait returns how long a call has to wait for g; 0: it may go ahead. A nil gate lets all
// calls through.
func (g *gate) wait(now time.Time) time.Duration {
	if g == nil || !g.shut {
		return 0
	}
	if wait := g.until.Sub(now); wait > 0 || g.probing {
		return max(wait, firstPause)
	}
	return 0
}

// pass lets a call through, and returns g where the call is to try it.
func (g *gate) pass() *gate {
	if g == nil {
		return nil
	}
	g.calls++
	if !g.shut {
		return nil
	}
	g.probing = true
	return g
}

// failed records a fault, and shuts g where that is so many among so many calls, or
// where too many were costly: by one client alone only if alone is set.
func (g *gate) failed(m mark, probe bool, faults int, among uint64, alone bool) {
	g.forget(m.at)
	m.call = g.calls
	if len(g.recent) >= maxMarks {
		g.recent = slices.Delete(g.recent, 0, len(g.recent)-maxMarks+1)
	}
	g.recent = append(g.recent, m)
	if probe {
		g.probing = false
		g.shutFor(m.at, min(2*g.pause, longestPause))
		return
	}
	if g.shut {
		return // it began before
	}
	count, costly := 0, 0
	for _, r := range g.recent {
		if r.call+among > g.calls {
			count++
		}
		if r.costly {
			costly++
			alone = alone || r.start || r.client != m.client
		}
	}
	switch {
	case costly >= costlyFaults && alone:
		g.shutFor(m.at, longestPause)
	case count >= faults:
		g.shutFor(m.at, firstPause)
	}
}

func (g *gate) shutFor(now time.Time, pause time.Duration) {
	g.shut, g.pause, g.until = true, pause, now.Add(pause)
}

// forget drops the faults that are too long ago to count, and reports whether g has
// nothing left to remember.
func (g *gate) forget(now time.Time) bool {
	g.recent = slices.DeleteFunc(g.recent, func(m mark) bool { return now.Sub(m.at) > faultWindow })
	if g.shut && !g.probing && now.Sub(g.until) > faultWindow {
		*g = gate{} // nobody has tried it, and those faults are too long ago
	}
	return !g.shut && len(g.recent) == 0
}
