package search_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/clustertest"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/index"
)

// A sharedRig makes a rig a node of a cluster.
type sharedRig struct {
	rig     *rig
	log     *clustertest.Memory
	leads   bool
	node    *cluster.Node
	told    atomic.Pointer[search.Service]
	changed atomic.Uint64 // the newest message that changed something
	running sync.WaitGroup
}

// newShared opens n rigs that are nodes of one cluster. The first leads.
func newShared(t *testing.T, n int) (rigs []*rig) {
	t.Helper()
	up := upstream.New(upstream.Options{Private: upstream.AnyPrivate()})
	t.Cleanup(func() { _ = up.Close() })
	log := new(clustertest.Memory)
	for i := range n {
		r := &rig{tb: t, dir: t.TempDir(), upstream: up}
		r.shared = &sharedRig{rig: r, log: log, leads: i == 0}
		r.open()
		t.Cleanup(r.close)
		rigs = append(rigs, r)
	}
	return rigs
}

// openShared opens the rig's store as that of a node.
func (r *rig) openShared() (err error) {
	s := r.shared
	if r.store, err = store.OpenShared(r.dir); err != nil {
		return err
	}
	s.told.Store(nil)
	s.node, err = cluster.Open(cluster.Options{
		Begins: true, ID: r.dir, Log: s.log, Database: r.store, Observer: !s.leads, Lease: 30 * time.Millisecond,
		Applied: func(p cluster.Position, ops []cluster.Op) {
			s.changed.Store(p.Seq)
			if svc := s.told.Load(); svc != nil {
				svc.Tell(newsOf(p.Seq, ops))
			}
		},
		Event: func(msg string, err error) {
			if err != nil {
				r.tb.Logf("%s: %v", msg, err)
			}
		},
	})
	if err == nil {
		r.store.Join(s.node, nil)
	}
	return err
}

func newsOf(seq uint64, ops []cluster.Op) index.News {
	c := store.ChangesOf(ops)
	n := index.News{Seq: seq, Indexes: c.Indexes, Docs: c.Docs}
	for _, v := range c.Vectors {
		n.Vectors = append(n.Vectors, index.ChangedVectors(v))
	}
	return n
}

func (r *rig) notes() index.Notes {
	if r.shared == nil {
		return nil
	}
	if r.wrapNotes != nil {
		return r.wrapNotes(r.store)
	}
	return r.store
}

// run follows, or leads, until ctx ends.
func (s *sharedRig) run(ctx context.Context) {
	s.told.Store(s.rig.svc)
	s.running.Go(func() { s.node.Run(ctx) })
	if !s.leads {
		return
	}
	waittest.For(s.rig.tb, "the node leads", func() bool { return s.node.Status().Leading })
	s.rig.store.Admit(s.node.Status().Position.Term)
	if err := s.rig.svc.Lead(ctx); err != nil {
		s.rig.tb.Fatal(err)
	}
}
