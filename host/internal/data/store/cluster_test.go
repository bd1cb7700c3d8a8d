package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/access/auth/authtest"
	"github.com/parley-search/parley/host/internal/access/limit/limittest"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/clustertest"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/search/network/networktest"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/task"
)

// A group is stores of one cluster: the first leads.
type group struct {
	t      *testing.T
	log    *clustertest.Memory
	stores []*Store
	nodes  []*cluster.Node
}

func joinStores(t *testing.T, n int) *group {
	t.Helper()
	return join(t, n, openMemory)
}

// openDisk opens a store in a directory: only there large values have a place.
func openDisk(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func join(t *testing.T, n int, open func(*testing.T) *Store) *group {
	t.Helper()
	g := &group{t: t, log: new(clustertest.Memory)}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for i := range n {
		g.stores = append(g.stores, open(t))
		g.nodes = append(g.nodes, g.join(i))
	}
	for _, n := range g.nodes {
		wg.Go(func() { n.Run(ctx) })
	}
	t.Cleanup(func() {
		stop()
		wg.Wait()
	})
	// Its claim.
	if err := g.nodes[0].WaitFor(ctx, 1); err != nil {
		t.Fatal(err)
	}
	for !g.nodes[0].Status().Leading {
		if err := g.nodes[0].Write(ctx, func() ([]cluster.Op, error) { return nil, nil }); err != nil && !errors.Is(err, cluster.ErrNotLeader) {
			t.Fatal(err)
		}
	}
	g.stores[0].Admit(g.nodes[0].Status().Position.Term)
	return g
}

// join makes store i a node.
func (g *group) join(i int) *cluster.Node {
	g.t.Helper()
	n, err := cluster.Open(cluster.Options{
		Begins: true, ID: strconv.Itoa(i), Log: g.log, Database: g.stores[i], Observer: i > 0, Lease: 6 * time.Millisecond,
		Event: func(msg string, err error) {
			if err != nil {
				g.t.Logf("node %d: %s: %v", i, msg, err)
			}
		},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	g.stores[i].Join(n, nil)
	return n
}

// level waits until all stores have what the first one has.
func (g *group) level() {
	g.t.Helper()
	for _, n := range g.nodes {
		if err := n.WaitFor(g.t.Context(), uint64(g.log.Len())); err != nil {
			g.t.Fatal(err)
		}
	}
}

// records returns all that a store has, one line each, without its own.
func (s *Store) records(t *testing.T) (out []string) {
	t.Helper()
	must(t, s.db.View(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if bytes.HasPrefix(it.Item().Key(), []byte(prefixLocal)) {
				continue
			}
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprintf("%q %q %d", it.Item().Key(), v, it.Item().ExpiresAt()))
		}
		return nil
	}))
	return out
}

// equal wants the same records on all nodes.
func (g *group) equal() {
	g.t.Helper()
	g.level()
	want := g.stores[0].records(g.t)
	for i, s := range g.stores {
		got := s.records(g.t)
		if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
			g.t.Errorf("node %d has %d records, the leader %d, and they differ", i, len(got), len(want))
		}
	}
	if len(want) < 3 {
		g.t.Errorf("only %d records to compare", len(want))
	}
}

// TestClusterKeepsContracts has a leader do what a single node's store does, and
// wants its followers equal.
func TestClusterKeepsContracts(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *Store){
		"limits":     func(t *testing.T, s *Store) { limittest.TestStorage(t, s) },
		"keys":       func(t *testing.T, s *Store) { authtest.TestKeys(t, s) },
		"network":    func(t *testing.T, s *Store) { networktest.TestStore(t, openNetwork(t, s, t.TempDir(), "")) },
		"workspaces": func(t *testing.T, s *Store) { chattest.TestWorkspaces(t, openWorkspaces(t, s, t.TempDir(), "")) },
		"tasks":      testFindTasks,
	} {
		t.Run(name, func(t *testing.T) {
			g := joinStores(t, 3)
			test(t, g.stores[0])
			// What the test left, however little, and something of each kind of change.
			must(t, g.stores[0].PutFeatures(t.Context(), map[string]bool{"a": true}))
			must(t, g.stores[0].AppendTask(t.Context(), task.Task{UID: 1 << 30, Type: task.Types()[0]}, []byte("payload")))
			g.equal()
		})
	}
}

// TestClusterDocuments: documents, vectors, large ones and deletions of whole
// indexes are on all nodes; what bleve lacks is noted by each on its own.
func TestClusterDocuments(t *testing.T) {
	g := join(t, 3, openDisk)
	s := g.stores[0]
	must(t, s.Write(storage.Change{IndexUID: "a", Meta: []byte("{}"), Docs: "x", Task: 3, Put: documents(300), Delete: []string{"gone"}}))
	large := storage.Document{ID: "large", Seq: 1, Body: bytes.Repeat([]byte("large "), 1<<20)}
	must(t, s.Write(storage.Change{Docs: "x", Task: 3, Part: 1, Put: []storage.Document{large}}))
	must(t, s.Write(storage.Change{Docs: "y", Task: 4, Put: documents(2), Prune: 4}))
	must(t, s.Write(storage.Change{Docs: "x", Task: 5, Prune: 5}))
	g.equal()
	seen := func(s *Store, docs string, after uint64) (out string) {
		must(t, s.View(func(m storage.Moment) error {
			return m.Notes(docs, after, func(seq uint64, ids []string) error {
				out += fmt.Sprintf("%d:%d ", seq, len(ids))
				return nil
			})
		}))
		return out
	}
	for i, s := range g.stores {
		// The claim is message 1; the large document took 13.
		if got, want := seen(s, "x", 0), "2:301 15:1 "; got != want {
			t.Errorf("node %d has notes %q of x, want %q", i, got, want)
		}
		if got, want := seen(s, "x", 2), "15:1 "; got != want {
			t.Errorf("node %d has notes %q of x after 2, want %q", i, got, want)
		}
		if got, want := seen(s, "y", 0), "16:2 "; got != want {
			t.Errorf("node %d has notes %q of y, want %q", i, got, want)
		}
		docs, err := s.Documents("x", []string{"large"})
		if err != nil || !bytes.Equal(docs[0].Body, large.Body) {
			t.Errorf("node %d has %d bytes of the large document, %v", i, len(docs[0].Body), err)
		}
	}
	must(t, g.stores[1].PruneNotes("x", 2))
	if a, b := seen(g.stores[1], "x", 0), seen(g.stores[2], "x", 0); a != "15:1 " || b != "2:301 15:1 " {
		t.Errorf("after node 1 pruned its notes it has %q, node 2 %q", a, b)
	}
	must(t, s.Sweep(func(docs string) bool { return docs == "y" }))
	g.equal()
	for i, s := range g.stores {
		if got := seen(s, "x", 0); got != "" {
			t.Errorf("node %d has notes %q of an index that is gone", i, got)
		}
		n := 0
		must(t, s.Scan(t.Context(), "x", func(storage.Document) error { n++; return nil }))
		must(t, s.Scan(t.Context(), "y", func(storage.Document) error { n += 100; return nil }))
		if n != 200 {
			t.Errorf("node %d has documents %d, want 2 of y and none of x", i, n)
		}
	}
	var big []storage.Document
	for i := range 8 {
		big = append(big, storage.Document{ID: strconv.Itoa(i), Body: make([]byte, 150<<10)})
	}
	if err := s.Write(storage.Change{Docs: "y", Put: big}); !errors.Is(err, storage.ErrTooBig) {
		t.Errorf("1.2 MB of documents in one transaction: %v, want ErrTooBig", err)
	}
	must(t, s.Write(storage.Change{Docs: "y", Put: big[:3]}))
	g.equal()
}

// TestClusterFollowerRefuses: a follower changes nothing by itself.
func TestClusterFollowerRefuses(t *testing.T) {
	g := joinStores(t, 2)
	ran := false
	err := g.stores[1].update(func(tx txn) error {
		ran = true
		return tx.Set([]byte("m/a"), nil)
	})
	if !errors.Is(err, cluster.ErrNotLeader) || ran {
		t.Errorf("update on a follower: %v, ran %v", err, ran)
	}
	if err := g.stores[1].deleteAll([]byte("d/")); !errors.Is(err, cluster.ErrNotLeader) {
		t.Errorf("deletion on a follower: %v", err)
	}
}

// TestClusterGroups: changes that wait for the log go into one message, each sees
// those before it, and one that fails leaves nothing.
func TestClusterGroups(t *testing.T) {
	g := joinStores(t, 2)
	s := g.stores[0]
	g.level()
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	g.log.Before = func() error {
		once.Do(func() {
			close(entered)
			<-release
		})
		return nil
	}
	add := func(fail error) func(tx txn) error {
		return func(tx txn) error {
			n := uint64(0)
			b, err := get(tx, []byte("m/sum"))
			if err == nil {
				n = binary.BigEndian.Uint64(b)
			} else if !errors.Is(err, badger.ErrKeyNotFound) {
				return err
			}
			if err := tx.Set([]byte("m/sum"), binary.BigEndian.AppendUint64(nil, n+1)); err != nil {
				return err
			}
			return fail
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { must(t, s.update(add(nil))) })
	<-entered
	failure := errors.New("no")
	for i := range 20 {
		wg.Go(func() {
			switch i % 4 {
			case 0:
				if err := s.update(add(failure)); err != failure {
					t.Errorf("a change that fails: %v", err)
				}
			case 1:
				if err := s.update(func(txn) error { return failure }); err != failure {
					t.Errorf("a change that fails at once: %v", err)
				}
			default:
				must(t, s.update(add(nil)))
			}
		})
	}
	for {
		s.shared.mu.Lock()
		n := len(s.shared.waiting)
		s.shared.mu.Unlock()
		if n == 20 {
			break
		}
	}
	close(release)
	wg.Wait()
	g.equal()
	if got := g.log.Len(); got != 3 {
		t.Errorf("%d messages, want the claim, one change and one message of ten", got)
	}
	must(t, g.stores[1].db.View(func(tx *badger.Txn) error {
		b, err := get(tx, []byte("m/sum"))
		if err == nil && binary.BigEndian.Uint64(b) != 11 {
			t.Errorf("the sum is %d, want 11", binary.BigEndian.Uint64(b))
		}
		return err
	}))
}

// TestHammerClusterUpdate: many change one record, with large changes between
// that fit into no message with others.
func TestHammerClusterUpdate(t *testing.T) {
	g := joinStores(t, 2)
	s := g.stores[0]
	var wg sync.WaitGroup
	const callers, each = 16, 40
	for c := range callers {
		wg.Go(func() {
			for i := range each {
				must(t, s.update(func(tx txn) error {
					n := 0
					if b, err := get(tx, []byte("m/sum")); err == nil {
						n, _ = strconv.Atoi(string(b))
					}
					if (c+i)%7 == 0 {
						for j := range 3 {
							if err := tx.Set(fmt.Appendf(nil, "p/%d", j), make([]byte, 150<<10)); err != nil {
								return err
							}
						}
					}
					return tx.Set([]byte("m/sum"), []byte(strconv.Itoa(n+1)))
				}))
			}
		})
	}
	wg.Wait()
	g.equal()
	must(t, g.stores[1].db.View(func(tx *badger.Txn) error {
		b, err := get(tx, []byte("m/sum"))
		if string(b) != strconv.Itoa(callers*each) {
			t.Errorf("the sum is %s, want %d", b, callers*each)
		}
		return err
	}))
}

// TestApplyAgain: what was applied in part before a crash is applied whole after
// it, and the position comes with the changes.
func TestApplyAgain(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	must(t, s.Apply(cluster.Position{Seq: 1}, []cluster.Op{
		{Kind: cluster.OpSet, Key: []byte("d/x/1"), Value: []byte("1")}, {Kind: cluster.OpSet, Key: []byte("d/x/2"), Value: []byte("2")},
	}))
	must(t, s.deleteHere([]byte("d/x/1"))) // as a crash in the middle leaves it
	must(t, s.Close())
	if s, err = OpenShared(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Position()
	if err != nil || p.Seq != 1 {
		t.Fatalf("position %+v, %v", p, err)
	}
	want := cluster.Position{Log: 1, Seq: 2, Term: 3, N: 4, Chain: 5, Last: 6, Leader: cluster.Claim{ID: "a"}}
	must(t, s.Apply(want, []cluster.Op{
		{Kind: cluster.OpSet, Key: []byte("d/x/3"), Value: []byte("3")}, {Kind: cluster.OpDeletePrefix, Key: []byte("d/x/")},
	}))
	if p, err := s.Position(); err != nil || p != want {
		t.Errorf("position %+v, %v, want %+v", p, err, want)
	}
	got := strings.Join(s.records(t), "\n")
	if !strings.Contains(got, "d/x/3") || strings.Contains(got, "d/x/2") {
		t.Errorf("records %s, want d/x/3: deletions of a prefix come first", got)
	}
	if err := s.Apply(cluster.Position{Seq: 3}, []cluster.Op{{Kind: cluster.OpSet, Key: []byte("d/x/4")}, {Kind: 9, Key: []byte("k")}}); err == nil {
		t.Error("an unknown operation: no error")
	}
	if p, _ := s.Position(); p != want || strings.Contains(strings.Join(s.records(t), "\n"), "d/x/4") {
		t.Errorf("after a failure the position is %+v, and some of it is there", p)
	}
}

// TestLargestTransactionFits: whatever the log takes, the database takes.
func TestLargestTransactionFits(t *testing.T) {
	s := openDisk(t)
	many := make([]cluster.Op, cluster.MaxOps)
	for i := range many {
		many[i] = cluster.Op{Kind: cluster.OpSet, Key: fmt.Appendf(nil, "k%04d", i), Value: make([]byte, cluster.MaxBytes/cluster.MaxOps-105)}
	}
	few := make([]cluster.Op, 4)
	for i := range few {
		few[i] = cluster.Op{Kind: cluster.OpSet, Key: fmt.Appendf(nil, "k%d", i), Value: make([]byte, cluster.MaxBytes/4-102)}
	}
	huge := make([]cluster.Op, 200)
	for i := range huge {
		huge[i] = cluster.Op{Kind: cluster.OpSet, Key: fmt.Appendf(nil, "k%d", i), Value: make([]byte, 256<<10)}
	}
	// Below what counts nothing, and above what Badger keeps elsewhere.
	between := []cluster.Op{few[0], few[1]}
	for i := range between {
		between[i].Value = make([]byte, 256<<10-1)
	}
	for what, ops := range map[string][]cluster.Op{"5,000 small values": many, "four values": few, "values of the value log": huge, "two values of 256 KiB": between} {
		cost := 0
		for i := range ops {
			cost += ops[i].Cost()
		}
		if cost > cluster.MaxBytes {
			t.Fatalf("%s cost %d, which the log refuses", what, cost)
		}
		if err := s.Apply(cluster.Position{Leader: cluster.Claim{URL: strings.Repeat("u", 2000)}}, ops); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestLargestPlugin: the largest plugin that a host takes, with its signature, is shared
// by the log, and looked for without being read.
func TestLargestPlugin(t *testing.T) {
	g := join(t, 2, openDisk) // memory has no place for large values
	s := g.stores[0]
	module := make([]byte, plugin.MaxModule)
	for i := range module {
		module[i] = byte(i * i >> 7)
	}
	signature := make([]byte, 16<<10)
	const sha = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
	must(t, s.ShareModule(sha, module, signature))
	g.level()
	for i, s := range g.stores {
		m, sig, err := s.SharedModule(sha)
		if has, wrong := s.HasModule(sha); err != nil || wrong != nil || !has || !bytes.Equal(m, module) || !bytes.Equal(sig, signature) {
			t.Errorf("node %d has %v: a module of %d bytes, a signature of %d, %v %v", i, has, len(m), len(sig), err, wrong)
		}
		if has, err := s.HasModule(sha[1:]); has || err != nil {
			t.Errorf("node %d has a module that nobody shared: %v, %v", i, has, err)
		}
	}
}

// TestUpdateAllocations: a store that is not a part of a cluster pays nothing for
// what a cluster needs.
func TestUpdateAllocations(t *testing.T) {
	s := openMemory(t)
	key, value := []byte("m/a"), []byte("b")
	direct := func(tx *badger.Txn) error { return tx.Set(key, value) }
	for range 2000 { // the first ones take less
		must(t, s.db.Update(direct))
	}
	want, got := 1e9, 1e9 // the least of several: Badger does some of its work beside
	for i := 0; i < 8 || got > want && i < 64; i++ {
		want = min(want, testing.AllocsPerRun(500, func() { must(t, s.db.Update(direct)) }))
		got = min(got, testing.AllocsPerRun(500, func() {
			must(t, s.update(func(tx txn) error { return tx.Set(key, value) }))
		}))
	}
	if got > want {
		t.Errorf("an update takes %v allocations, one of Badger %v", got, want)
	}
}

func BenchmarkUpdate(b *testing.B) {
	s, err := OpenInMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	key, value := []byte("m/a"), []byte("b")
	b.Run("badger", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := s.update(func(tx txn) error { return tx.Set(key, value) }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
