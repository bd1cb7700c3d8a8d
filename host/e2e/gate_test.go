package e2e

import (
	"net"
	"sync"
	"testing"
)

// A passage says what a [gate] does with what comes.
type passage byte

const (
	passes passage = iota
	ends           // connections end, and none begins
	waits          // nothing ends, and nothing arrives until it passes again
)

// A gate is a way from one process to another, which can be cut.
type gate struct {
	to   string // an address
	addr string // where it listens

	mu      sync.Mutex
	how     passage
	changed chan struct{} // closed when how changes
	conns   map[net.Conn]bool
}

// newGate carries connections to an address until the test ends.
func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{to: to, addr: l.Addr().String(), changed: make(chan struct{}), conns: map[net.Conn]bool{}}
	var carrying sync.WaitGroup
	carrying.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { g.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		g.set(ends)
		carrying.Wait()
	})
	return g
}

// set changes what becomes of connections, those that are open too.
func (g *gate) set(how passage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.how = how
	close(g.changed)
	g.changed = make(chan struct{})
	if how == ends {
		for c := range g.conns {
			c.Close()
		}
	}
}

// pass returns once the gate lets something through, or false where it ends.
func (g *gate) pass() bool {
	for {
		g.mu.Lock()
		how, changed := g.how, g.changed
		g.mu.Unlock()
		if how != waits {
			return how == passes
		}
		<-changed
	}
}

// keep has c end where the gate does, until drop.
func (g *gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.how == ends {
		c.Close()
		return false
	}
	g.conns[c] = true
	return true
}

func (g *gate) drop(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
	c.Close()
}

func (g *gate) carry(from net.Conn) {
	if !g.keep(from) {
		return
	}
	defer g.drop(from)
	if !g.pass() {
		return
	}
	to, err := net.Dial("tcp", g.to)
	if err != nil || !g.keep(to) {
		return
	}
	defer g.drop(to)
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			defer way[1].Close()
			b := make([]byte, 32<<10)
			for {
				n, err := way[0].Read(b)
				if err != nil || !g.pass() {
					return
				}
				if _, err := way[1].Write(b[:n]); err != nil {
					return
				}
			}
		})
	}
	both.Wait()
}
