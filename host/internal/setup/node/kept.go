package node

import (
	"context"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/cluster/jetstream"
)

// lookLog is the time between two looks at how NATS keeps the cluster's log.
const lookLog = 15 * time.Second

// kept is what NATS keeps for the cluster.
type kept struct {
	state            jetstream.State
	err              error // of the question for state: the stream has no leader, or is out of reach
	snapshot, backup time.Time
	snapshotSeq      uint64
}

// watchLog looks at how NATS keeps the log, until ctx ends.
func (m *member) watchLog(ctx context.Context) {
	tick := time.NewTicker(lookLog)
	defer tick.Stop()
	for {
		m.lookLog(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lookLog looks once. What cannot be asked now is as it was.
func (m *member) lookLog(ctx context.Context) {
	var k kept
	if last := m.kept.Load(); last != nil {
		k = *last
	}
	var state jetstream.State
	if state, k.err = m.log.State(ctx); k.err == nil {
		k.state = state
		list, backup, err := m.log.Kept(ctx, m.node.Status().Position.Log)
		if err == nil {
			k.backup, k.snapshot, k.snapshotSeq = backup, time.Time{}, 0
			if len(list) > 0 {
				k.snapshot, k.snapshotSeq = list[0].At, list[0].Seq
			}
		}
	}
	if ctx.Err() == nil {
		m.kept.Store(&k)
	}
}

// natsStatus is what was seen last; nil: nothing.
func (m *member) natsStatus() *httpapi.ClusterNATS {
	k := m.kept.Load()
	if k == nil {
		return nil
	}
	out := &httpapi.ClusterNATS{
		Server: m.log.Server(), Quorum: k.err == nil, Replicas: k.state.Replicas, Servers: []httpapi.NATSServer{},
		LogBytes: k.state.Bytes, LogMessages: k.state.Last + 1 - k.state.First, SnapshotSeq: k.snapshotSeq,
	}
	if k.state.First == 0 { // nobody answered yet
		out.LogMessages = 0
	}
	if out.Quorum { // else nobody knows
		for _, s := range k.state.Servers {
			out.Servers = append(out.Servers, httpapi.NATSServer(s))
		}
	}
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return &t
	}
	out.SnapshotAt, out.BackupAt = at(k.snapshot), at(k.backup)
	return out
}
