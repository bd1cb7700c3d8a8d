package node

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// Snapshots of a cluster.
const (
	keptSnapshots = 2
	lookSnapshots = time.Minute // at most, between two looks at whether one is due
	heardLately   = time.Hour   // the log keeps what a node lacks that was heard of since
)

// keepSnapshots has this node make snapshots where it is its turn, and purge the
// log while it leads, until ctx ends.
func (m *member) keepSnapshots(ctx context.Context) {
	c := &m.Config.Cluster
	tick := time.NewTicker(min(lookSnapshots, c.Snapshots/4+1))
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wanted:
			_, _, err := m.makeSnapshot(ctx)
			if err != nil && ctx.Err() == nil {
				m.Log.Warn().Err(err).Msg("no snapshot of the cluster is kept, though somebody asks for one")
			}
			continue
		case <-tick.C:
		}
		err := m.lookSnapshots(ctx, c)
		if ctx.Err() == nil && err != nil && !failing {
			m.Log.Warn().Err(err).Msg("the cluster's log is not purged for now")
		}
		failing = err != nil
	}
}

func (m *member) lookSnapshots(ctx context.Context, c *config.ClusterConfig) error {
	s := m.node.Status()
	leads := s.Leading
	if s.Halted != nil || s.Position.Log == 0 {
		return nil
	}
	state, err := m.log.State(ctx)
	if err != nil {
		return err
	}
	if !leads && !m.isTurn() {
		return nil
	}
	list, err := m.log.Snapshots(ctx, s.Position.Log)
	if err != nil {
		return err
	}
	if m.isTurn() && isDue(c, state, list, s.Position.Seq) {
		seq, size, err := m.makeSnapshot(ctx)
		if err != nil {
			return err
		}
		m.Log.Info().Uint64("message", seq).Int64("bytes", size).Msg("a snapshot of the cluster is kept")
	}
	if leads {
		return m.purge(ctx, c, state, list)
	}
	return nil
}

// isTurn reports whether of all nodes this one makes snapshots: a follower, where
// there is one, and of those the one with the first name.
func (m *member) isTurn() bool {
	leads, follows := m.node.Status().Leading, false
	for _, p := range m.node.Peers() {
		if p.Halted || p.Leading || time.Since(p.At) > 2*m.Config.Cluster.Lease {
			continue
		}
		follows = true
		if !leads && p.ID < m.node.ID() {
			return false
		}
	}
	return !leads || !follows
}

// isDue reports whether a snapshot is wanted by a node at seq.
func isDue(c *config.ClusterConfig, state jetstream.State, list []jetstream.Snapshot, seq uint64) bool {
	if len(list) == 0 {
		return true
	}
	last := &list[0]
	if seq <= last.Seq {
		return false
	}
	since := float64(state.Bytes) * float64(seq-last.Seq) / float64(state.Last-state.First+1)
	return time.Since(last.At) >= c.Snapshots || since > float64(c.LogSize)/2
}

// A shot is the last snapshot that this node made, or why it made none.
type shot struct {
	seq  uint64
	size int64
	err  error         // of the last try
	next chan struct{} // closed with the next try
}

// Snapshot implements [httpapi.Cluster].
func (m *member) Snapshot(ctx context.Context, message uint64) (httpapi.ClusterSnapshot, error) {
	if seq := m.node.Status().Position.Seq; message == 0 || message > seq {
		message = seq
	}
	m.shots.Lock()
	last := m.shot
	m.shots.Unlock()
	for {
		if last.seq >= message {
			return httpapi.ClusterSnapshot{Message: message, Kept: last.seq, Bytes: last.size, Done: true}, nil
		}
		select {
		case m.wanted <- struct{}{}:
		default:
		}
		select {
		case <-last.next:
		case <-ctx.Done():
			return httpapi.ClusterSnapshot{Message: message, Kept: last.seq, Bytes: last.size}, nil
		}
		m.shots.Lock()
		last = m.shot
		m.shots.Unlock()
		if last.err != nil {
			return httpapi.ClusterSnapshot{}, last.err
		}
	}
}

// makeSnapshot keeps a snapshot of what this node has.
func (m *member) makeSnapshot(ctx context.Context) (seq uint64, size int64, err error) {
	seq, size, err = m.writeSnapshot(ctx)
	m.shots.Lock()
	defer m.shots.Unlock()
	close(m.shot.next)
	m.shot.err, m.shot.next = err, make(chan struct{})
	if err == nil {
		m.shot.seq, m.shot.size = seq, size
	}
	return seq, size, err
}

func (m *member) writeSnapshot(ctx context.Context) (seq uint64, size int64, err error) {
	err = m.db.WriteSnapshot(func(p cluster.Position, write func(io.Writer) error) error {
		seq = p.Seq
		return m.log.PutSnapshot(ctx, p.Log, p.Seq, func(w io.Writer) error {
			n := counting{w: w}
			err := write(&n)
			size = n.n
			return err
		})
	})
	return seq, size, err
}

type counting struct {
	w io.Writer
	n int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// purge forgets snapshots but the last two, and what the log has before the older
// of them. What a node lacks that follows now stays, and, while the log is not too
// large, what one lacks that was heard of lately.
func (m *member) purge(ctx context.Context, c *config.ClusterConfig, state jetstream.State, list []jetstream.Snapshot) error {
	for _, old := range list[min(len(list), keptSnapshots):] {
		if err := m.log.DropSnapshot(ctx, old); err != nil {
			return err
		}
	}
	if len(list) < keptSnapshots {
		return nil
	}
	before := list[keptSnapshots-1].Seq
	for _, p := range m.node.Peers() {
		silent := time.Since(p.At)
		if silent < 2*c.Lease && !p.Halted || silent < heardLately && state.Bytes <= uint64(c.LogSize) {
			before = min(before, p.Seq)
		}
	}
	if before <= state.First {
		return nil
	}
	if err := m.log.Purge(ctx, before); err != nil {
		return err
	}
	m.Log.Info().Uint64("first", before).Msg("the cluster's log is purged up to its last snapshot but one")
	return nil
}

// catchUp has a node that the log does not reach back to begin with a snapshot of
// it: one without data, or one that was away for long. It returns the database,
// open. Where NATS cannot be asked, the node goes on with what it has.
func (m *member) catchUp(ctx context.Context) (*store.Store, error) {
	c, db := m.Config, m.db
	p, err := db.Position()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	log, _, err := openLog(c, nil, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	defer log.Close()
	of, err := wantedSnapshot(ctx, log, p)
	if err != nil {
		m.Log.Warn().Err(err).Msg("whether this node needs a snapshot of the cluster is not known; it goes on with what it has")
		return db, nil
	}
	if of == nil {
		return db, nil
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	p, err = restoreFrom(ctx, log, *of, c.DBPath)
	if err != nil {
		return nil, err
	}
	m.Log.Info().Uint64("message", p.Seq).Uint64("bytes", of.Bytes).Msg("this node begins with a snapshot of the cluster")
	return store.OpenShared(c.DBPath)
}

// wantedSnapshot returns the one that a node at p has to begin with; nil: none.
func wantedSnapshot(ctx context.Context, log *jetstream.Log, p cluster.Position) (*jetstream.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	state, err := log.State(ctx)
	if err != nil {
		return nil, err
	}
	if p.Seq > 0 && p.Seq+1 >= state.First || p.Log > 0 && p.Seq == 0 { // behind a reset it is the first
		return nil, nil
	}
	if state.Last == 0 {
		return nil, nil
	}
	id, err := log.ID(ctx)
	if err != nil || p.Log != 0 && id != 0 && p.Log != id { // the node halts, and says so
		return nil, err
	}
	list, err := log.Snapshots(ctx, cmp.Or(id, p.Log))
	if err != nil || len(list) == 0 || list[0].Seq <= p.Seq {
		return nil, err
	}
	return &list[0], nil
}

func restoreFrom(ctx context.Context, log *jetstream.Log, of jetstream.Snapshot, dir string) (p cluster.Position, err error) {
	r, _, err := log.OpenSnapshot(ctx, of)
	if err != nil {
		return p, err
	}
	p, err = store.RestoreSnapshot(dir, r)
	return p, errors.Join(err, r.Close())
}
