package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/cluster"
)

// handOverWait is how long the next leader is waited for.
const handOverWait = 10 * time.Second

// Raise implements [httpapi.Cluster].
func (m *member) Raise(ctx context.Context) (httpapi.ClusterUpgrade, error) {
	from, to, err := m.node.Raise(ctx)
	return httpapi.ClusterUpgrade{From: from, To: to}, err
}

// watchRoom has this node hand over where it leads and its disk is full: it refuses
// every write, and another node may have room.
func (m *member) watchRoom(ctx context.Context) {
	tick := time.NewTicker(m.Config.Cluster.Lease / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !m.node.Status().Leading {
			continue
		}
		full := m.db.HasRoom()
		if full == nil {
			continue
		}
		if _, err := m.HandOver(ctx); !errors.Is(err, httpapi.ErrNoFollower) && ctx.Err() == nil {
			m.Log.Warn().Err(full).Msg("this node gave up leading: its disk is full")
		}
	}
}

// HandOver implements [httpapi.Cluster].
func (m *member) HandOver(ctx context.Context) (httpapi.ClusterHandover, error) {
	follows := func(p cluster.Peer) bool { return !p.Halted && time.Since(p.At) <= m.Config.Cluster.Lease }
	if !slices.ContainsFunc(m.node.Peers(), follows) {
		return httpapi.ClusterHandover{}, httpapi.ErrNoFollower
	}
	out := httpapi.ClusterHandover{From: m.node.ID()}
	ctx, cancel := context.WithTimeout(ctx, handOverWait)
	defer cancel()
	err := m.node.HandOver(ctx)
	if errors.Is(err, cluster.ErrNotLeader) {
		return out, err
	}
	if err != nil { // it does not lead any more, and the others wait for the lease
		m.Log.Warn().Err(err).Msg("this node gave up leading, and the others do not know yet")
	}
	for {
		s := m.node.Status()
		out.Term = s.Position.Term
		if id := s.Position.Leader.ID; id != "" && (s.Leading || id != out.From) {
			out.Leader = &id
			return out, nil
		}
		if m.node.WaitFor(ctx, s.Position.Seq+1) != nil {
			return out, nil
		}
	}
}
