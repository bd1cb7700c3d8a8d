package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A memLog is a log in memory that some nodes cannot reach. It answers after a
// millisecond, or where it is silent, not at all.
type memLog struct {
	mu      sync.Mutex
	list    [][]byte
	away    map[string]bool
	forgets bool          // it stores and does not answer
	nobody  bool          // takes messages
	takes   time.Duration // an append of several messages
}

type memEnd struct {
	*memLog
	id string
}

const memTimeout = time.Second

func (e memEnd) ask(ctx context.Context) error {
	e.mu.Lock()
	away := e.away[e.id]
	e.mu.Unlock()
	wait := time.Millisecond
	if away {
		wait = memTimeout
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return ctx.Err()
	}
	if away {
		return errNoAnswer
	}
	return nil
}

func (e memEnd) Append(ctx context.Context, messages [][]byte, last uint64) error {
	if err := e.ask(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	takes, nobody := e.takes, e.nobody
	e.mu.Unlock()
	if nobody {
		return errNoAnswer
	}
	if len(messages) > 1 {
		<-time.After(takes)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if uint64(len(e.list)) != last {
		return errRefused
	}
	e.list = append(e.list, messages...)
	if e.forgets {
		return errNoAnswer
	}
	return nil
}

func (e memEnd) Read(ctx context.Context, from uint64) (out []Message, err error) {
	if err := e.ask(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := from; s <= uint64(len(e.list)) && len(out) < 100; s++ {
		out = append(out, Message{s, e.list[s-1]})
	}
	return out, nil
}

func (e memEnd) end(ctx context.Context) (first, last uint64, err error) {
	if err := e.ask(ctx); err != nil {
		return 0, 0, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return 1, uint64(len(e.list)), nil
}

// A lockedDB is a simDB that tests look at while nodes write.
type lockedDB struct {
	mu sync.Mutex
	simDB
}

func (d *lockedDB) Apply(p Position, ops []Op) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.simDB.Apply(p, ops)
}

func (d *lockedDB) get(key string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.data[key]
}

// A cluster is three nodes that hear each other.
type testCluster struct {
	t     *testing.T
	log   *memLog
	nodes []*Node
	dbs   []*lockedDB
	leads []atomic.Int32 // how many calls of Lead there are now
	terms []atomic.Int32 // and were in all

	ctx  context.Context
	stop []context.CancelFunc
	wg   sync.WaitGroup
}

const testLease = 2 * time.Second

func startCluster(t *testing.T) *testCluster {
	t.Helper()
	c := &testCluster{t: t, log: &memLog{away: map[string]bool{}}, leads: make([]atomic.Int32, 3), terms: make([]atomic.Int32, 3)}
	ctx, cancel := context.WithCancel(t.Context())
	c.ctx = ctx
	for i := range 3 {
		id := fmt.Sprintf("n%d", i)
		db := &lockedDB{simDB: simDB{data: map[string]string{}}}
		n, err := Open(Options{
			Begins: true,
			ID:     id, URL: "http://" + id, Log: memEnd{c.log, id}, Database: db, Lease: testLease,
			Send: func(b Beat) { c.tell(i, b) }, End: memEnd{c.log, id}.end,
			Lead: func(ctx context.Context) {
				c.terms[i].Add(1)
				if c.leads[i].Add(1) > 1 {
					t.Errorf("node %d leads twice at a time", i)
				}
				<-ctx.Done()
				c.leads[i].Add(-1)
			},
			Event: func(msg string, err error) { t.Logf("%s: %s: %v", id, msg, err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		c.nodes, c.dbs = append(c.nodes, n), append(c.dbs, db)
	}
	for _, n := range c.nodes {
		ctx, stop := context.WithCancel(ctx)
		c.stop = append(c.stop, stop)
		c.wg.Go(func() { n.Run(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		c.wg.Wait()
		for i := range c.leads {
			if got := c.leads[i].Load(); got != 0 {
				t.Errorf("node %d still leads after the end of Run", i)
			}
		}
	})
	return c
}

// tell has all nodes hear what node i says, but for those that are cut off.
func (c *testCluster) tell(i int, b Beat) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	for j, n := range c.nodes {
		if i != j && !c.log.away[c.nodes[i].o.ID] && !c.log.away[n.o.ID] {
			n.Hear(b)
		}
	}
}

// cut cuts a node off from the log and the others, or connects it again.
func (c *testCluster) cut(i int, away bool) {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.away[c.nodes[i].o.ID] = away
}

// leader waits until one node leads that is not in without, and returns it. The
// clock is the bubble's.
func (c *testCluster) leader(without ...int) (i int, took time.Duration) {
	c.t.Helper()
	start := time.Now()
	for time.Since(start) < time.Minute {
		i := slices.IndexFunc(c.nodes, func(n *Node) bool {
			return n.Status().Leading && !slices.Contains(without, slices.Index(c.nodes, n))
		})
		if i >= 0 {
			return i, time.Since(start)
		}
		<-time.After(10 * time.Millisecond)
	}
	c.t.Fatal("nobody leads within a minute")
	return 0, 0
}

func (c *testCluster) set(i int, key, value string) error {
	return c.nodes[i].Write(c.ctx, func() ([]Op, error) {
		return []Op{{Kind: OpSet, Key: []byte(key), Value: []byte(value)}}, nil
	})
}

// level waits until all nodes but some have what node i has.
func (c *testCluster) level(i int, without ...int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	for j, n := range c.nodes {
		if slices.Contains(without, j) {
			continue
		}
		if err := n.WaitFor(ctx, c.nodes[i].Status().Position.Seq); err != nil {
			c.t.Fatalf("node %d is at %d, node %d at %d: %v", j, n.Status().Position.Seq, i, c.nodes[i].Status().Position.Seq, err)
		}
	}
}

// TestNobodyTakes: while nobody takes messages, as before NATS has elected who does, nodes claim
// again at each look, so that one leads as soon as somebody does.
func TestNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		set := func(nobody bool) {
			c.log.mu.Lock()
			defer c.log.mu.Unlock()
			c.log.nobody = nobody
		}
		set(true)
		c.stop[first]()
		<-time.After(5*testLease + testLease/7)
		set(false)
		if next, took := c.leader(first); took > testLease/4 {
			t.Errorf("node %d leads %v after the log takes messages again, want a sixth of a lease", next, took)
		}
	})
}

// TestTakeover: a leader that is cut off gives up, another one leads, and
// nothing that was acknowledged is lost.
func TestTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, took := c.leader()
		if took < testLease || took > 2*testLease {
			t.Errorf("the first leader came after %v, want 1 to 2 leases of %v", took, testLease)
		}
		if err := c.set(first, "a", "1"); err != nil {
			t.Fatal(err)
		}
		c.level(first)
		for i, db := range c.dbs {
			if got := db.get("a"); got != "1" {
				t.Errorf("node %d has %q, want 1", i, got)
			}
			if i != first {
				if err := c.set(i, "b", "1"); !errors.Is(err, ErrNotLeader) {
					t.Errorf("node %d, which does not lead, wrote: %v", i, err)
				}
				if got := c.nodes[i].Status().Position.Leader.URL; got != c.nodes[first].o.URL {
					t.Errorf("node %d says that %q leads, want %q", i, got, c.nodes[first].o.URL)
				}
			}
		}
		if got := len(c.nodes[first].Peers()); got != 2 {
			t.Errorf("the leader heard of %d nodes, want 2", got)
		}
		<-time.After(10 * testLease)
		if now, _ := c.leader(); now != first || c.terms[first].Load() != 1 {
			t.Errorf("node %d leads after a quiet time, in its term %d, want still node %d in its first", now, c.terms[first].Load(), first)
		}

		c.cut(first, true)
		// Without a write it learns by asking the log, before others may lead.
		second, took := c.leader(first)
		if took > 2*testLease {
			t.Errorf("another leader came after %v, want at most 2 leases of %v", took, testLease)
		}
		<-time.After(testLease)
		if c.nodes[first].Status().Leading {
			t.Error("the leader that is cut off still leads")
		}
		if err := c.set(first, "c", "1"); !errors.Is(err, ErrNotLeader) {
			t.Errorf("write to the node that is cut off: %v", err)
		}
		if err := c.set(second, "a", "2"); err != nil {
			t.Fatal(err)
		}
		c.level(second, first)
		c.cut(first, false)
		c.level(second)
		if got := c.dbs[first].get("a"); got != "2" {
			t.Errorf("the node that was cut off has %q, want 2", got)
		}
		if term := c.nodes[first].Status().Position.Term; term != 2 {
			t.Errorf("term %d, want 2", term)
		}
	})
}

// TestLevelOfFormerLeader: a node whose long term ends while the log takes nothing, and can be read,
// knows that it had all until then, and not only when it heard of a leader last.
func TestLevelOfFormerLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		<-time.After(testLease)
		if err := c.nodes[first].HandOver(c.ctx); err != nil {
			t.Fatal(err)
		}
		second, _ := c.leader(first)
		<-time.After(20 * testLease)
		c.log.mu.Lock()
		c.log.nobody = true
		c.log.mu.Unlock()
		if err := c.set(second, "a", "b"); !errors.Is(err, ErrUnknown) {
			t.Errorf("a write that the log does not take: %v, want %v", err, ErrUnknown)
		}
		if n := c.nodes[second]; n.Status().Leading || time.Since(n.Level()) > 10*testLease {
			t.Errorf("node %d (leads: %t) knew last %v ago that it has all", second, n.Status().Leading, time.Since(n.Level()))
		}
		c.log.mu.Lock()
		c.log.nobody = false
		c.log.mu.Unlock()
	})
}

// TestCutOffWithReplica: a node that is cut off together with a server that keeps the log reads what
// that one has, and does not take it for all that there is.
func TestCutOffWithReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		at := (first + 1) % 3
		n := c.nodes[at]
		beside := func(log *memLog) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.o.Log, n.o.End = memEnd{log, n.o.ID}, memEnd{log, n.o.ID}.end
		}
		if err := c.set(first, "key", "good"); err != nil {
			t.Fatal(err)
		}
		c.level(first)
		c.cut(at, true)
		c.log.mu.Lock()
		server := &memLog{list: slices.Clone(c.log.list), nobody: true}
		c.log.mu.Unlock()
		beside(server)
		if err := c.set(first, "key", "deleted"); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * testLease)
		for i, n := range c.nodes {
			if lag := time.Since(n.Level()); i == at && lag < 9*testLease || i != at && lag > testLease {
				t.Errorf("node %d of leader %d knew last %v ago that it has all, node %d is cut off", i, first, lag, at)
			}
		}
		c.cut(at, false)
		beside(c.log)
		<-time.After(testLease)
		if lag := time.Since(n.Level()); lag > testLease || c.dbs[at].get("key") != "deleted" {
			t.Errorf("the node is back: it knew last %v ago that it has all; %q", lag, c.dbs[at].get("key"))
		}
	})
}

// TestWriteWithoutAnswer: a write whose answer is lost is told by the log, and
// one that nobody can say anything of ends in time.
func TestWriteWithoutAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		c.log.mu.Lock()
		c.log.forgets = true
		c.log.mu.Unlock()
		done := make(chan error, 1)
		go func() { done <- c.set(first, "a", "1") }()
		<-time.After(10 * time.Millisecond)
		c.log.mu.Lock()
		c.log.forgets = false
		c.log.mu.Unlock()
		if err := <-done; err != nil {
			t.Errorf("write that is in the log: %v, want nil", err)
		}
		second, _ := c.leader()
		if got := c.dbs[second].get("a"); got != "1" {
			t.Errorf("the next leader has %q, want 1", got)
		}
		for i := range c.nodes {
			c.cut(i, true)
		}
		start := time.Now()
		if err := c.set(second, "a", "2"); !errors.Is(err, ErrUnknown) {
			t.Errorf("write that nobody can say anything of: %v, want %v", err, ErrUnknown)
		}
		if took := time.Since(start); took < 8*time.Second || took > 10*time.Second {
			t.Errorf("it took %v, want some 8 s", took)
		}
		for i := range c.nodes {
			c.cut(i, false)
		}
		third, _ := c.leader()
		c.level(third)
		if got := c.dbs[third].get("a"); got != "1" {
			t.Errorf("after all were cut off, %q, want 1: the log refused the write", got)
		}
	})
}

// TestResign: who resigns is followed by another node without the lease, and
// leads no more.
func TestResign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		if err := c.nodes[first].Resign(c.ctx); err != nil {
			t.Fatal(err)
		}
		if got := c.leads[first].Load(); got != 0 {
			t.Error("Lead has not ended when Resign has")
		}
		second, took := c.leader()
		if second == first || took >= testLease {
			t.Errorf("node %d leads %v after node %d resigned, want another one in less than a lease", second, took, first)
		}
		c.stop[second]()
		if third, _ := c.leader(second); third == first || third == second {
			t.Errorf("node %d leads, want the third one: the others resigned or ended", third)
		}
	})
}

// TestHandOver: who hands over is followed by another node without the lease, and
// may lead later; where nobody else is there it leads again after the lease.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		if err := c.nodes[(first+1)%3].HandOver(c.ctx); !errors.Is(err, ErrNotLeader) {
			t.Errorf("a follower hands over: %v, want %v", err, ErrNotLeader)
		}
		if err := c.nodes[first].HandOver(c.ctx); err != nil {
			t.Fatal(err)
		}
		second, took := c.leader()
		if second == first || took >= testLease {
			t.Errorf("node %d leads %v after node %d handed over, want another one in less than a lease", second, took, first)
		}
		c.stop[second]()
		c.stop[3-first-second]()
		if third, _ := c.leader(second); third != first {
			t.Errorf("node %d leads, want %d, which alone is left", third, first)
		}
		if err := c.nodes[first].HandOver(c.ctx); err != nil {
			t.Fatal(err)
		}
		if again, took := c.leader(); again != first || took < testLease {
			t.Errorf("node %d leads %v after it handed over to nobody, want a lease in between", again, took)
		}
		if err := c.set(first, "a", "b"); err != nil {
			t.Error(err)
		}
	})
}

// fill fills the disk of a node, or makes room there.
func (c *testCluster) fill(i int, full bool) {
	c.dbs[i].mu.Lock()
	defer c.dbs[i].mu.Unlock()
	c.dbs[i].full = full
}

// TestDiskFull: a node that cannot apply what is in the log leads no more, says so, and goes on
// by itself once there is room. Alone it does not fill the log with claims.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		c.fill(first, true)
		if err := c.set(first, "a", "1"); !errors.Is(err, ErrUnknown) || !errors.Is(err, errFull) {
			t.Errorf("write that is in the log and not here: %v, want %v and %v", err, ErrUnknown, errFull)
		}
		second, _ := c.leader(first)
		if got := c.dbs[second].get("a"); got != "1" {
			t.Errorf("the next leader has %q, want 1", got)
		}
		if err := c.set(second, "b", "1"); err != nil {
			t.Fatal(err)
		}
		<-time.After(testLease)
		if s := c.nodes[first].Status(); s.Leading || s.Halted != nil || !errors.Is(s.Trouble, ErrNoRoom) {
			t.Errorf("status of a node whose disk is full: %+v, want one that follows and says so", s)
		}
		c.fill(first, false)
		c.level(second)
		<-time.After(testLease)
		if s := c.nodes[first].Status(); s.Trouble != nil || c.dbs[first].get("b") != "1" {
			t.Errorf("status once there is room: %+v, b is %q", s, c.dbs[first].get("b"))
		}

		for i := range c.nodes {
			c.fill(i, true)
			if i != first {
				c.cut(i, true)
			}
		}
		<-time.After(20 * testLease)
		if claims := c.nodes[first].Status().Counts.Claims; claims > 3 {
			t.Errorf("a node without room claimed %d times", claims)
		}
		for i := range c.nodes {
			c.fill(i, false)
			c.cut(i, false)
		}
		third, _ := c.leader()
		if err := c.set(third, "c", "1"); err != nil {
			t.Error(err)
		}
		c.level(third)
	})
}

// TestStray: what a stranger writes while nobody else does is read by the leader, too, and ends
// no term with the next write.
func TestStray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		c.log.mu.Lock()
		c.log.list = append(c.log.list, []byte("hello"))
		c.log.mu.Unlock()
		<-time.After(2 * testLease)
		if err := c.set(first, "a", "1"); err != nil {
			t.Error(err)
		}
		c.level(first)
		if s := c.nodes[first].Status(); !s.Leading || s.Position.Term != 1 || s.Counts.Void != 1 {
			t.Errorf("status %+v, want the leader of term 1, which passed over one message", s)
		}
		// One that comes right before a write has its place: the write goes behind it.
		for range 3 {
			c.log.mu.Lock()
			c.log.list = append(c.log.list, []byte("hello again"))
			c.log.mu.Unlock()
			if err := c.set(first, "a", "2"); err != nil {
				t.Error(err)
			}
		}
		c.level(first)
		if s := c.nodes[first].Status(); !s.Leading || s.Position.Term != 1 || s.Position.N != 4 || s.Counts.Void != 4 {
			t.Errorf("status %+v, want the leader of term 1 with 4 transactions, which passed over 4 messages", s)
		}
	})
}

// TestMayHeal: what a new start heals is told apart from what it does not.
func TestMayHeal(t *testing.T) {
	for err, want := range map[error]bool{nil: false, ErrPurged: true, ErrDamaged: true, errNoAnswer: true, ErrOtherLog: false, ErrDiverged: false, ErrFormat: false} {
		if err != nil {
			err = fmt.Errorf("message 7: %w", err)
		}
		if got := MayHeal(err); got != want {
			t.Errorf("MayHeal(%v) = %v, want %v", err, got, want)
		}
	}
}

// TestOneNode: with an observer, which never claims, one node is a cluster.
func TestOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{}
		var nodes []*Node
		var applied []uint64
		for i := range 2 {
			o := Options{Begins: true, ID: fmt.Sprint(i), Log: memEnd{log, "n"}, Database: &simDB{data: map[string]string{}}, Observer: i == 1}
			if i == 1 {
				o.Applied = func(p Position, ops []Op) { applied = append(applied, p.Seq) }
			}
			n, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, n)
		}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, n := range nodes {
			wg.Go(func() { n.Run(ctx) })
		}
		<-time.After(time.Minute)
		if !nodes[0].Status().Leading || nodes[1].Status().Leading {
			t.Fatal("the observer leads, or nobody does")
		}
		none := func() ([]Op, error) { return nil, nil }
		if err := nodes[0].Write(ctx, none); err != nil {
			t.Errorf("write nothing: %v", err)
		}
		refused := errors.New("not like this")
		if err := nodes[0].Write(ctx, func() ([]Op, error) { return nil, refused }); err != refused {
			t.Errorf("a draft's error came as %v", err)
		}
		huge := []Op{{Kind: OpSet, Key: []byte("a"), Value: make([]byte, MaxData)}}
		if err := nodes[0].Write(ctx, func() ([]Op, error) { return huge, nil }); !errors.Is(err, ErrTooLarge) {
			t.Errorf("64 MiB in one transaction: %v", err)
		}
		ops := []Op{{Kind: OpSet, Key: []byte("a"), Value: []byte("1")}}
		if err := nodes[0].Write(ctx, func() ([]Op, error) { return ops, nil }); err != nil {
			t.Error(err)
		}
		late, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		// No beats here: the observer looks by itself.
		if err := nodes[1].WaitFor(late, 2); err != nil {
			t.Errorf("the observer is at %d: %v", nodes[1].Status().Position.Seq, err)
		}
		if err := nodes[1].WaitFor(late, 3); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("wait for what never comes: %v", err)
		}
		stop()
		wg.Wait()
		if !slices.Equal(applied, []uint64{2}) {
			t.Errorf("told of the transactions %v, want 2", applied)
		}
	})
}

// TestHammerWrite: many callers write to all nodes while leaders change.
func TestHammerWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		var mu sync.Mutex
		outcomes := map[string]error{}
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 60 {
					key := fmt.Sprintf("%d/%d", w, i)
					err := c.set((w+i)%3, key, "1")
					mu.Lock()
					outcomes[key] = err
					mu.Unlock()
					<-time.After(time.Duration(w+1) * 37 * time.Millisecond)
				}
			})
		}
		for i := range 9 {
			c.cut(i%3, true)
			<-time.After(3 * time.Second)
			c.cut(i%3, false)
			<-time.After(time.Second)
		}
		wg.Wait()
		last, _ := c.leader()
		if err := c.set(last, "end", "1"); err != nil {
			t.Fatal(err)
		}
		c.level(last)
		acked := 0
		for key, err := range outcomes {
			for i, db := range c.dbs {
				switch is := db.get(key) == "1"; {
				case err == nil && !is:
					t.Errorf("node %d lacks %s, which was acknowledged", i, key)
				case (errors.Is(err, ErrLost) || errors.Is(err, ErrNotLeader)) && is:
					t.Errorf("node %d has %s, which was refused: %v", i, key, err)
				}
			}
			if err == nil {
				acked++
			}
		}
		if acked < 20 {
			t.Errorf("%d writes were acknowledged, want 20 or more", acked)
		}
	})
}

// TestLongAppend: a leader that appends for longer than a lease is heard meanwhile, so
// that nobody claims in between.
func TestLongAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		c.log.mu.Lock()
		c.log.takes = 5 * testLease
		c.log.mu.Unlock()
		err := c.nodes[first].Write(c.ctx, func() ([]Op, error) {
			return []Op{{Kind: OpSet, Key: []byte("large"), Value: make([]byte, 2*partBytes)}}, nil
		})
		if err != nil {
			t.Errorf("a write in parts that takes five leases: %v", err)
		}
		if now := c.nodes[first].Status(); !now.Leading || now.Position.Term != 1 {
			t.Errorf("behind it: %+v, want that the same node leads in its first term", now)
		}
	})
}

// TestLogMadeAgain: a log that ends before what nodes have halts them, once that is no
// replica's fault, and until then says why nobody leads.
func TestLogMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		first, _ := c.leader()
		for range 3 {
			if err := c.set(first, "a", "1"); err != nil {
				t.Fatal(err)
			}
		}
		c.level(first)
		c.log.mu.Lock()
		kept := c.log.list
		c.log.list = nil
		c.log.mu.Unlock()
		if err := c.set(first, "a", "2"); err == nil {
			t.Error("a write into a log that was made again: no error")
		} // which took as long as a write is waited for
		for i, n := range c.nodes {
			if s := n.Status(); s.Halted != nil || !errors.Is(s.Trouble, errBehind) {
				t.Errorf("node %d at first: halted by %v, trouble %v; want no halt, and %v", i, s.Halted, s.Trouble, errBehind)
			}
		}
		// It was a replica that is behind.
		c.log.mu.Lock()
		c.log.list = kept
		c.log.mu.Unlock()
		if _, took := c.leader(); took > 3*testLease {
			t.Errorf("once the log is as it was, a node leads after %v", took)
		}
		c.log.mu.Lock()
		c.log.list = c.log.list[:1]
		c.log.mu.Unlock()
		<-time.After(12 * testLease)
		for i, n := range c.nodes {
			if s := n.Status(); !errors.Is(s.Halted, ErrDiverged) || MayHeal(s.Halted) || s.Leading {
				t.Errorf("node %d: halted by %v, leads %v, want it halted for good", i, s.Halted, s.Leading)
			}
		}
	})
}

// TestRaise: nodes of two builds share a log in the format of the older one. It is
// raised when somebody asks for it and all nodes read it; one that comes later and
// does not halts before it.
func TestRaise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCluster(t)
		raise := func(i int) (from, to int, err error) { return c.nodes[i].Raise(c.ctx) }
		first, _ := c.leader()
		if from, to, err := raise(first); from != Format || to != Format || err != nil {
			t.Errorf("nothing to raise: %d, %d, %v", from, to, err)
		}
		upgrade := func(i int) {
			n := c.nodes[i]
			n.mu.Lock()
			n.fold.reads = Format + 1
			n.mu.Unlock()
			<-time.After(testLease) // it tells the others
		}
		old := (first + 1) % 3
		upgrade(first)
		upgrade((first + 2) % 3)
		if err := c.set(first, "a", "1"); err != nil {
			t.Fatal(err)
		}
		c.level(first) // the old node, too
		if _, _, err := raise(old); !errors.Is(err, ErrNotLeader) {
			t.Errorf("raised by a follower: %v", err)
		}
		_, _, err := raise(first)
		if e, ok := errors.AsType[*OldNodeError](err); !ok || e.Peer.ID != c.nodes[old].o.ID || e.To != Format+1 {
			t.Errorf("raised while a node reads only this format: %v, want an error that names it", err)
		}
		upgrade(old)
		terms := c.terms[first].Load()
		if from, to, err := raise(first); from != Format || to != Format+1 || err != nil {
			t.Errorf("raised: %d, %d, %v", from, to, err)
		}
		<-time.After(testLease)
		if now := c.nodes[first].Status(); !now.Leading || now.Position.Format() != Format+1 || c.terms[first].Load() != terms+1 {
			t.Errorf("behind it: %+v, want the next format, and that the same node leads on", now)
		}
		for i := range c.nodes {
			if err := c.set(first, "b", "2"); err != nil {
				t.Fatal(err)
			}
			c.level(first)
			if i == 0 { // the format lives on in the next terms
				if err := c.nodes[first].HandOver(c.ctx); err != nil {
					t.Fatal(err)
				}
				first, _ = c.leader()
			}
		}
		if p := c.nodes[old].Status().Position; p.Format() != Format+1 || p.Term < 4 {
			t.Errorf("in a later term the position is %+v, want the next format", p)
		}
		late, err := Open(Options{Begins: true, ID: "late", Log: memEnd{c.log, "late"}, Database: &simDB{data: map[string]string{}}})
		if err != nil {
			t.Fatal(err)
		}
		late.mu.Lock()
		defer late.mu.Unlock()
		if err := late.readOn(c.ctx); !errors.Is(err, ErrFormat) || late.stored.Format() != Format || late.stored.Seq == 0 {
			t.Errorf("a node of the build before: %v at %+v, want it halted before the first record of the next format", err, late.stored)
		}
	})
}

// TestRaiseToSigned: a log of before, whose records have no code, goes on as it was. Once it is
// raised, a record without one counts no more; a node without data takes none at all.
func TestRaiseToSigned(t *testing.T) {
	key := Key("the key of this cluster")
	claim := Record{Format: 1, Kind: KindClaim, Log: 7, Term: 1, Data: []byte(`{"id":"before"}`)}
	b := claim.Encode(nil)
	log := &memLog{list: [][]byte{b}}
	db := &simDB{data: map[string]string{}, at: Position{Log: 7, Seq: 1, Term: 1, Chain: sum(0, b), Last: checksum(b), Leader: Claim{ID: "before"}}}
	n, err := Open(Options{ID: "a", Log: memEnd{log, "a"}, Database: db, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	set := func(k string) {
		t.Helper()
		if a, err := n.append(t.Context(), func() ([]Op, error) { return []Op{{Kind: OpSet, Key: []byte(k)}}, nil }); a != nil || err != nil {
			t.Fatalf("set %s: %v, %v", k, a, err)
		}
	}
	unsigned := func() (counted bool) {
		r := Record{Format: 1, Kind: KindTxn, Log: 7, Term: n.fold.Term, N: n.fold.N + 1, Prev: n.fold.Seq, Chain: n.fold.Chain, Data: []byte("\x02\x01k")}
		log.list = append(log.list, r.Encode(nil))
		before := n.stored.N
		if err := n.readOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n.stored.N > before
	}
	if err := n.claim(t.Context()); err != nil || !n.leading {
		t.Fatalf("claim: %v", err)
	}
	set("a")
	if r, err := DecodeRecord(log.list[2], nil); err != nil || r.Format != 1 {
		t.Errorf("before it is raised, the log gets %+v, %v; want format 1, which nodes of before read", r, err)
	}
	if !unsigned() {
		t.Error("a record of a node of before does not count")
	}
	if from, to, err := n.Raise(t.Context()); from != 1 || to != Format || err != nil {
		t.Fatalf("raised: %d, %d, %v", from, to, err)
	}
	set("b")
	if unsigned() || n.halted != nil || n.counts.Unverified != 1 {
		t.Errorf("a record without a code in a raised log: halted %v, %+v; want it void", n.halted, n.counts)
	}
	empty, err := Open(Options{ID: "b", Log: memEnd{log, "b"}, Database: &simDB{data: map[string]string{}}, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if err := empty.readOn(t.Context()); !errors.Is(err, ErrPurged) || !MayHeal(err) || empty.stored.Log != 0 {
		t.Errorf("a node without data: %v at %+v, want that it needs a snapshot", err, empty.stored)
	}
}

// TestPurgedWhole: a log that was purged of all messages goes on with a node that has the last
// of them. One that is behind halts, and says that a snapshot heals it.
func TestPurgedWhole(t *testing.T) {
	key := Key("the key of this cluster")
	first := Record{Format: Format, Kind: KindClaim, Log: 7, Term: 1, Data: []byte(`{"id":"before","format":2}`)}
	b := first.Encode(key)
	at := Position{Log: 7, Seq: 5, Term: 1, Chain: sum(0, b), Last: 9, Leader: Claim{ID: "before", Format: Format}}
	log := &memLog{list: make([][]byte, 5)}
	for has, want := range map[uint64]error{5: nil, 4: ErrPurged} {
		p := at
		p.Seq = has
		end := purgedLog{memEnd{log, "a"}, 5}
		n, err := Open(Options{ID: "a", Log: end, Database: &simDB{data: map[string]string{}, at: p}, Key: key, End: func(context.Context) (uint64, uint64, error) {
			return uint64(len(log.list)) + 1, uint64(len(log.list)), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.claim(t.Context()); !errors.Is(err, want) || n.leading != (want == nil) || want != nil && !MayHeal(n.halted) {
			t.Errorf("with message %d of 5: %v, leading %v, halted %v; want %v", has, err, n.leading, n.halted, want)
		}
		log.list = log.list[:5]
	}
}

// TestWakes: a node that stood still reads what the log got meanwhile before it thinks of
// claiming it, and hears out a leader that it has not heard yet: it deposes nobody.
func TestWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &memLog{}
		open := func(id string) *Node {
			n, err := Open(Options{Begins: true, ID: id, Log: memEnd{log, id}, Database: &simDB{data: map[string]string{}}, Lease: testLease})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		asleep, healthy := open("asleep"), open("healthy")
		if err := asleep.claim(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait := testLease
		asleep.round(t.Context(), &wait, true)
		<-time.After(time.Minute)
		if err := errors.Join(healthy.readOn(t.Context()), healthy.claim(t.Context())); err != nil || !healthy.leading {
			t.Fatalf("nobody else leads: %v", err)
		}
		// It leads by its own word until it reads, and writes nothing that counts.
		if _, err := asleep.append(t.Context(), func() ([]Op, error) { return []Op{{Kind: OpDelete, Key: []byte("k")}}, nil }); err != nil {
			t.Fatal(err)
		}
		asleep.round(t.Context(), &wait, false)
		if asleep.leading || asleep.stored.Leader.ID != "healthy" || len(log.list) != 2 {
			t.Errorf("it has %d messages of the log, leads: %v, knows leader %q; want it to follow", len(log.list), asleep.leading, asleep.stored.Leader.ID)
		}
		// One that only follows has not heard of the leader for as long as it slept.
		<-time.After(time.Minute)
		asleep.round(t.Context(), &wait, true)
		if asleep.leading || len(log.list) != 2 {
			t.Error("a follower that wakes deposes the leader that it has not heard yet")
		}
	})
}

// TestOldBeats: what a node said once does not count again, nor after its next start. So nobody
// who can send keeps the others from claiming by what the leader said before it died.
func TestOldBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []Beat
		leader := Node{o: Options{ID: "a", Send: func(b Beat) { said = append(said, b) }}}
		leader.beats.Store(uint64(time.Now().UnixNano()))
		follower := Node{o: Options{ID: "b"}, wake: make(chan struct{}, 1)}
		follower.status.Store(&Status{})
		follower.heard.init()
		leader.leading = true
		for range 3 {
			leader.sendBeat()
			follower.Hear(said[len(said)-1])
		}
		heard := follower.heard.leader
		time.Sleep(time.Minute)
		for _, b := range said {
			follower.Hear(b)
		}
		if got := follower.heard.leader; got != heard || follower.Repeated() != 3 {
			t.Errorf("a leader that is silent was heard of at %v, want %v; %d beats were refused, want 3", got, heard, follower.Repeated())
		}
		leader.beats.Store(uint64(time.Now().UnixNano())) // it starts again
		leader.sendBeat()
		follower.Hear(said[3])
		if got := follower.heard.leader; !got.After(heard) {
			t.Error("a leader that started again is not heard")
		}
		follower.Hear(Beat{ID: "c", Leading: true})
		follower.Hear(Beat{ID: "c", Leading: true})
		if got := follower.Repeated(); got != 3 {
			t.Errorf("%d beats were refused, want 3: nodes of an older build do not number them", got)
		}
	})
}

// TestOpensLaterFormat: a build that went back, whose database a later build wrote in a format
// that this one does not read, halts and says so. It neither claims nor writes.
func TestOpensLaterFormat(t *testing.T) {
	log := &memLog{list: [][]byte{[]byte("what a later build wrote")}}
	db := &simDB{data: map[string]string{}, at: Position{Log: 7, Seq: 1, Term: 1, Leader: Claim{ID: "a", Format: Format + 1}}}
	n, err := Open(Options{ID: "a", Log: memEnd{log, "a"}, End: memEnd{log, "a"}.end, Database: db})
	if err != nil {
		t.Fatal(err)
	}
	var wait time.Duration // it would claim at once
	n.round(t.Context(), &wait, true)
	if s := n.Status(); !errors.Is(s.Halted, ErrFormat) || MayHeal(s.Halted) || s.Leading || len(log.list) != 1 {
		t.Errorf("a database of format %d: %+v, %d messages in the log; want the node halted by its format", Format+1, s, len(log.list))
	}
}

// TestEarlierLog: what nodes wrote when the cluster had another log, as before a restore, is
// void where somebody puts it into the log of now, and no reason to halt; also for a node
// that begins again behind it. In its place in a stream that was made again it is one.
func TestEarlierLog(t *testing.T) {
	key := Key("the key of this cluster")
	open := func(log *memLog, db *simDB) *Node {
		t.Helper()
		n, err := Open(Options{Begins: true, ID: "a", Log: memEnd{log, "a"}, Database: db, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	set := func(n *Node, k string) {
		t.Helper()
		if a, err := n.append(t.Context(), func() ([]Op, error) { return []Op{{Kind: OpSet, Key: []byte(k)}}, nil }); a != nil || err != nil {
			t.Fatalf("set %s: %v, %v", k, a, err)
		}
	}
	earlier, log := new(memLog), new(memLog)
	was := open(earlier, &simDB{data: map[string]string{}})
	if err := was.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 600 { // more than one answer has
		set(was, fmt.Sprint("old", i))
	}
	db := &simDB{data: map[string]string{}}
	n := open(log, db)
	if err := n.claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	set(n, "new")
	log.list = append(log.list, earlier.list[2:]...) // from the next place on
	if err := n.readOn(t.Context()); err != nil || n.fold.Seq != 601 || n.stored.Seq != 2 || n.counts.Unverified != 599 {
		t.Fatalf("records of an earlier log: %v, at %d, stored %d, %+v; want them void", err, n.fold.Seq, n.stored.Seq, n.counts)
	}
	n = open(log, db) // it starts again
	if err := n.claim(t.Context()); err != nil || !n.leading {
		t.Fatalf("behind them, a new start: %v, leading %v", err, n.leading)
	}
	set(n, "newer")
	if _, ok := db.data["newer"]; !ok || len(db.data) != 2 || n.stored.Seq != 603 {
		t.Errorf("the database has %v at %d, want what nodes of this log wrote", db.data, n.stored.Seq)
	}
	other := open(&memLog{list: log.list}, &simDB{data: map[string]string{}})
	other.Hear(Beat{Log: was.fold.Log, ID: "b", Leading: true, Term: 9, Seq: 5000, Number: 1}) // it knows no log yet
	if err := other.readOn(t.Context()); err != nil || other.fold.Chain != n.fold.Chain || other.Ahead() != 0 || other.heard.term != 0 {
		t.Errorf("a node without data: %v, %+v, want %+v; it waits for message %d, term %d of an earlier log", err, other.fold.Position, n.fold.Position, other.Ahead(), other.heard.term)
	}

	n.o.Log = memEnd{earlier, "a"} // the stream is that of before again, below a node that runs
	earlier.list = append(earlier.list, earlier.list[2:]...)
	r := Record{Format: 2, Kind: KindTxn, Log: was.fold.Log, Term: 1, N: 601, Prev: n.fold.Seq, Chain: was.fold.Chain, Data: []byte("\x02\x01k")}
	earlier.list = append(earlier.list[:n.fold.Seq], r.Encode(key))
	if err := n.readOn(t.Context()); !errors.Is(err, ErrOtherLog) || n.halted == nil {
		t.Errorf("a stream made again: %v, halted %v; want the node halted by another log", err, n.halted)
	}
}

// TestStrayInAnotherLog: a node that reads what somebody put behind its place, in a stream that was
// made again meanwhile, does not take that stream for its own log because of it: neither when it
// reads on, nor when it would claim.
func TestStrayInAnotherLog(t *testing.T) {
	key := Key("the key of this cluster")
	open := func(log *memLog) *Node {
		t.Helper()
		n, err := Open(Options{Begins: true, ID: "a", Log: memEnd{log, "a"}, Database: &simDB{data: map[string]string{}}, Key: key})
		if err == nil {
			err = n.claim(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, behind := range []bool{true, false} {
		was, now := new(memLog), new(memLog)
		n, other := open(was), open(now)
		now.list = append(now.list, []byte("hello"))
		if behind {
			if a, err := other.append(t.Context(), func() ([]Op, error) { return []Op{{Kind: OpSet, Key: []byte("k")}}, nil }); a != nil || err != nil {
				t.Fatal(a, err)
			}
		}
		n.o.Log = memEnd{now, "a"}
		err := n.readOn(t.Context())
		if err == nil {
			err = n.claim(t.Context())
		}
		if !errors.Is(err, ErrOtherLog) || n.halted == nil {
			t.Errorf("with a record behind the message: %v: %v, halted %v; want the node halted by another log", behind, err, n.halted)
		}
	}
}

// TestTwin: a node hears of another one with its own id, as where a data directory was copied,
// and takes its leading for that of any other node. What it said itself it passes over.
func TestTwin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []Beat
		open := func(url string) *Node {
			n, err := Open(Options{ID: "a", URL: url, Log: memEnd{new(memLog), "a"}, Database: &simDB{data: map[string]string{}}, Send: func(b Beat) { said = append(said, b) }})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		first := open("http://first")
		time.Sleep(time.Minute)
		copied := open("http://copied")
		first.sendBeat()
		copied.leading = true
		copied.sendBeat()
		began := first.heard.leader
		for _, n := range []*Node{first, copied} {
			for _, b := range said {
				n.Hear(b)
			}
		}
		if p, ok := first.Twin(); !ok || p.URL != "http://copied" || !first.heard.leader.After(began) {
			t.Errorf("the node that was copied heard of %+v, %v; want the copy, which leads", p, ok)
		}
		if p, ok := copied.Twin(); ok {
			t.Errorf("the copy heard of %+v: one of the two is to lead", p)
		}
	})
}
