package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/httpapi"
)

// handOverWait is how long the next leader is waited for.
const handOverWait = 10 * time.Second

// HandOver implements [httpapi.Cluster].
func (m *member) HandOver(ctx context.Context) (httpapi.ClusterHandover, error) {
	follows := func(p cluster.Peer) bool { return !p.Halted && time.Since(p.At) <= m.host.config.Cluster.Lease }
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
		m.host.log.Warn().Err(err).Msg("this node gave up leading, and the others do not know yet")
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
