package node

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/setup/figures"
	"github.com/parley-search/parley/host/internal/setup/metrics"
)

var _ Node = (*member)(nil)

// Leader implements [httpapi.Cluster].
func (m *member) Leader() (url string, term uint64, here bool) {
	s := m.node.Status()
	if s.Leading {
		return "", s.Position.Term, m.leads.Load() == s.Position.Term
	}
	return s.Position.Leader.URL, s.Position.Term, false
}

// TermEnds implements [httpapi.Cluster].
func (m *member) TermEnds(ctx context.Context, term uint64) error {
	for {
		p := m.node.Status().Position
		if p.Term > term {
			return nil
		}
		if err := m.node.WaitFor(ctx, p.Seq+1); err != nil {
			return err
		}
	}
}

// Position implements [httpapi.Cluster].
func (m *member) Position() (log, seq uint64) {
	p := m.node.Status().Position
	return p.Log, p.Seq
}

// WaitFor implements [httpapi.Cluster].
func (m *member) WaitFor(ctx context.Context, seq uint64, words bool, uid string) error {
	if err := m.node.WaitFor(ctx, seq); err != nil {
		return err
	}
	if words {
		// A message that changes nothing is not told to the search.
		m.mu.Lock()
		seq = min(seq, m.told)
		m.mu.Unlock()
		if err := m.parts.Search.WaitFor(ctx, uid, seq); err != nil {
			return err
		}
	}
	return m.waitSeen(ctx, seq)
}

// vouchers is the purpose of the codes of [member.Vouch].
const vouchers = "voucher"

// Vouch implements [httpapi.Cluster].
func (m *member) Vouch(parts string) string {
	if !m.signed() { // the leader may be of a build of before
		return ""
	}
	return hex.EncodeToString(m.key.MAC(vouchers, []byte(parts)))
}

// Vouched implements [httpapi.Cluster].
func (m *member) Vouched(code, parts string) bool {
	b, err := hex.DecodeString(code)
	return err == nil && m.key.Verify(b, vouchers, []byte(parts))
}

// Refuses implements [httpapi.Cluster].
func (m *member) Refuses() bool { return m.isStale() && !m.Config.Cluster.ServeStale }

// isStale reports whether this node has not known for too long that it has all of
// the log.
func (m *member) isStale() bool {
	c := &m.Config.Cluster
	return time.Since(m.node.Level()) > c.MaxLag
}

// Status implements [httpapi.Cluster].
func (m *member) Status() httpapi.ClusterStatus {
	s, c := m.node.Status(), &m.Config.Cluster
	p := &s.Position
	_, _, here := m.Leader()
	out := httpapi.ClusterStatus{
		Name: c.Name, Log: fmt.Sprintf("%016x", p.Log), Leader: p.Leader.ID, Words: min(m.parts.Search.Level(), p.Seq), Stale: m.isStale(), Format: p.Format(),
		Claims: s.Counts.Claims, Failed: s.Counts.Failed, Void: s.Counts.Void, Unverified: s.Counts.Unverified + m.log.Unverified() + m.node.Repeated(),
		Appends: s.Counts.Wrote, AppendTime: s.Counts.Took,
		Node: httpapi.ClusterNode{ID: m.node.ID(), URL: m.url, Version: m.node.Version(), Role: "follower", Format: cluster.Format, Term: p.Term, Seq: p.Seq},
	}
	if told := m.toldSeq(); out.Words >= told { // what came since changed nothing
		out.Words = p.Seq
	}
	out.Empty = p.Log == 0 || out.Words == 0
	trouble := m.parts.Search.Halted()
	if s.Trouble != nil {
		trouble = append([]string{s.Trouble.Error()}, trouble...)
	}
	if twin, ok := m.node.Twin(); ok && time.Since(twin.At) <= c.Lease {
		trouble = append(trouble, fmt.Sprintf("the node at %s has this one's id: one of the two data directories is a copy of the other's; begin one of them anew, with an empty --db-path", twin.URL))
	}
	out.Trouble = strings.Join(trouble, "; ")
	switch {
	case s.Halted != nil:
		out.Node.Role, out.Halted, out.MayHeal = "halted", s.Halted.Error(), cluster.MayHeal(s.Halted)
	case here:
		out.Node.Role = "leader"
	}
	for _, peer := range m.node.Peers() {
		n := httpapi.ClusterNode{ID: peer.ID, URL: peer.URL, Version: peer.Version, Role: "follower", Format: peer.Format, Term: peer.Term, Seq: peer.Seq, Seen: peer.At}
		switch {
		case time.Since(peer.At) > c.Lease:
			n.Role = "silent"
		case peer.Halted:
			n.Role = "halted"
		case peer.Leading:
			n.Role = "leader"
		}
		out.Nodes = append(out.Nodes, n)
	}
	if why := m.unplugged.Load(); why != nil {
		out.Plugins = *why
	}
	out.Ahead = max(m.node.Ahead(), p.Seq)
	out.NATS = m.natsStatus()
	return out
}

// Families are what GET /metrics has of the cluster.
func (m *member) Families() []metrics.Family {
	st := m.Status()
	return figures.Cluster(&figures.Membership{
		NATS:  st.NATS,
		Leads: st.Node.Role == "leader", Halted: st.Halted != "", Stale: st.Stale,
		Term: st.Node.Term, Seq: st.Node.Seq, Ahead: st.Ahead, Words: st.Words, Nodes: len(st.Nodes) + 1,
		Claims: st.Claims, Failed: st.Failed, Void: st.Void, Unverified: st.Unverified, Forwarded: m.parts.Forwarded(),
		LagSeconds: time.Since(m.node.Level()).Seconds(), Appends: st.Appends, AppendSeconds: st.AppendTime.Seconds(),
	})
}
