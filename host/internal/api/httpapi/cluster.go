package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/cluster"
)

// A Cluster is what a [Server] knows of the cluster that its host is a node of. [Alone] is
// none.
type Cluster interface {
	// Leader reports whether this node takes writes in the term that it knows, and where
	// else they go; "": nobody is known who takes them.
	Leader() (url string, term uint64, here bool)
	// TermEnds returns once this node has the claim of a later term than term, and so
	// whatever counts of it, or ctx ends.
	TermEnds(ctx context.Context, term uint64) error
	// Position is which log the database follows, and how far; zero: none.
	Position() (log, seq uint64)
	// WaitFor returns once this node has message seq; with words, once searches
	// have, too: those of one index, or of all where uid is empty.
	WaitFor(ctx context.Context, seq uint64, words bool, uid string) error
	// Refuses reports whether this node was cut off for longer than it may answer.
	Refuses() bool
	Status() ClusterStatus
	// Vouch returns a code of parts that the other nodes verify by Vouched, 32 bytes of
	// hexadecimal; "": they are of a build that has none.
	Vouch(parts string) (code string)
	Vouched(code, parts string) bool
	// Snapshot keeps a snapshot that has a message, with the log; 0: the newest
	// message. Where ctx ends first, the snapshot goes on, and Done is false.
	Snapshot(ctx context.Context, message uint64) (ClusterSnapshot, error)
	// HandOver has another node lead, and returns once one does, or ctx ends. The
	// error is [ErrNoFollower], or that of a node that does not lead.
	HandOver(ctx context.Context) (ClusterHandover, error)
	// Raise has the log be written in the highest format that this node has. The
	// error is a [cluster.OldNodeError] where another node does not read that.
	Raise(ctx context.Context) (ClusterUpgrade, error)
}

// A ClusterStatus is what GET /cluster says; the zero value: of a host that is alone.
type ClusterStatus struct {
	Name, Log            string
	Leader               string // id of who claimed the term; "": nobody
	Node                 ClusterNode
	Nodes                []ClusterNode // the others
	Words, Ahead         uint64
	Halted               string // why; "": it is not
	MayHeal              bool   // by a new start, what halted it
	Plugins              string // why this node does not run those that the cluster shares; "": it does
	Stale                bool
	Format               int    // of the records that are written now
	Trouble              string // why the log cannot be reached, or nobody can lead; "": nothing is wrong
	Claims, Failed, Void uint64
	Unverified           uint64 // messages and beats that no node of the cluster wrote, or that somebody sent again
	Empty                bool   // this node has nothing of the log yet
	Appends              uint64 // of transactions, answered
	AppendTime           time.Duration
	NATS                 *ClusterNATS // nil: this node has not looked yet
}

// A ClusterNATS is how the servers of NATS keep the cluster's log, as a node saw it within a
// minute.
type ClusterNATS struct {
	Server      string       `json:"server"`   // that the node is connected to; "": none
	Quorum      bool         `json:"quorum"`   // the stream has a leader, which answers
	Replicas    int          `json:"replicas"` // servers that have to keep the log
	Servers     []NATSServer `json:"servers"`  // those that do; none where there is no quorum
	LogBytes    uint64       `json:"logBytes"`
	LogMessages uint64       `json:"logMessages"`
	SnapshotSeq uint64       `json:"snapshotSeq"` // message of the newest snapshot; 0: there is none
	SnapshotAt  *time.Time   `json:"snapshotAt"`
	BackupAt    *time.Time   `json:"backupAt"` // of the last `parley cluster backup`
}

// A NATSServer is one of those that keep the log.
type NATSServer struct {
	Name  string `json:"name"`
	State string `json:"state"` // leader, current, behind or offline
}

// Current is how many servers keep all of the log.
func (n *ClusterNATS) Current() (servers int) {
	for _, s := range n.Servers {
		if s.State == "leader" || s.State == "current" {
			servers++
		}
	}
	return servers
}

// A ClusterNode is a node of the cluster.
type ClusterNode struct {
	ID, URL, Version string
	Role             string // leader, follower, halted or silent
	Format           int    // of records, the highest that it reads
	Term, Seq        uint64
	Seen             time.Time // zero: this node
}

// Headers of a cluster's nodes.
const (
	headerSeq = "X-Parley-Seq" // <log>-<message>: what an answer knows, or a request wants known
	headerHop = "X-Parley-Hop" // the request came from another node: a voucher, or of older builds 1
)

// errStale is the answer of a node that was cut off from the log for too long.
var errStale = &apierr.Error{
	Code: apierr.ClusterStale, RetryAfter: time.Second,
	Message: "This node has not reached the cluster's log for longer than --cluster-max-lag, and may not know of keys that were deleted: ask another node.",
}

// noLeader is the error of a write that nobody takes now.
func noLeader() *apierr.Error {
	return &apierr.Error{Code: apierr.ClusterNoLeader, RetryAfter: time.Second, Message: "The cluster has no leader that takes writes just now; nothing was changed: send it again in a moment."}
}

// ofCluster turns errors of the cluster's log into what a client is told.
func ofCluster(err error) error {
	switch {
	case errors.Is(err, cluster.ErrUnknown):
		return &apierr.Error{Code: apierr.ClusterUnknown, Err: err, Message: "The cluster's log did not answer: the write may count, or it may not. Read whether it does before you send it again."}
	case errors.Is(err, cluster.ErrNotLeader), errors.Is(err, cluster.ErrLost):
		e := noLeader()
		e.Err = err
		return e
	}
	return err
}

// inCluster does what a cluster needs before a handler: it sends
// writes to the leader, and waits for what the request wants known. done says that
// the request is answered.
func (s *Server) inCluster(r *call, rt *route) (done bool, err error) {
	if st := r.Get(headerSeq); st != "" {
		if err := s.waitForSeq(r, rt, st); err != nil {
			return false, err
		}
	}
	if !rt.isWrite() && !rt.progress {
		return false, nil
	}
	url, term, here := s.Cluster.Leader()
	if v, ok := parseVoucher(r.Get(headerHop)); ok && here {
		if v.term != term && rt.isWrite() { // who sent it does not wait for it any more
			return false, noLeader()
		}
		r.Origin, r.Unframe = v.origin, s.unframeBody(&v)
	}
	switch {
	case here:
		return false, nil
	case rt.progress:
		return s.askLeader(r, url, term), nil
	case url == "" || r.Get(headerHop) != "": // one hop: the other one knew no better
		return false, noLeader()
	}
	return true, s.forwardWrite(r, rt, url, term)
}

// isWrite reports whether a request of the route is for the leader.
func (rt *route) isWrite() bool {
	if rt.method == fiber.MethodGet || rt.writes {
		return rt.writes
	}
	for _, a := range rt.actions {
		if a.Changes() {
			return true
		}
	}
	return false
}

// seqWait is how long a request waits for what it wants known.
const seqWait = 5 * time.Second

// waitForSeq waits until this node has what the header X-Parley-Seq says.
func (s *Server) waitForSeq(r *call, rt *route, header string) error {
	log, seq, ok := parseSeq(header)
	if !ok {
		return apierr.Newf(apierr.InvalidClusterSeq, "The header `%s` is %.60q: send it as an answer of the cluster had it.", headerSeq, header)
	}
	if own, _ := s.Cluster.Position(); own != 0 && log != own {
		return apierr.Newf(apierr.InvalidClusterSeq, "The header `%s` is of another log: the cluster has %016x.", headerSeq, own)
	}
	uid := ""
	words := true
	switch {
	case strings.HasPrefix(rt.path, "/indexes/:uid"):
		uid = strings.Clone(r.Params("uid"))
	case strings.HasPrefix(rt.path, "/tasks"), strings.HasPrefix(rt.path, "/batches"), strings.HasPrefix(rt.path, "/keys"), rt.isWrite():
		words = false
	}
	ctx, cancel := context.WithTimeout(s.ctx, seqWait)
	defer cancel()
	if err := s.Cluster.WaitFor(ctx, seq, words, uid); err != nil {
		return &apierr.Error{
			Code: apierr.ClusterBehind, RetryAfter: time.Second, Err: err,
			Message: fmt.Sprintf("This node does not have message %d of the cluster's log yet: ask again in a moment, or another node.", seq),
		}
	}
	return nil
}

// parseSeq reads the header X-Parley-Seq.
func parseSeq(v string) (log, seq uint64, ok bool) {
	first, second, found := strings.Cut(v, "-")
	log, err := strconv.ParseUint(first, 16, 64)
	if err != nil || !found {
		return 0, 0, false
	}
	seq, err = strconv.ParseUint(second, 10, 64)
	return log, seq, err == nil
}

// setSeq says what the answer knows.
func (s *Server) setSeq(c *fiber.Ctx) {
	if log, seq := s.Cluster.Position(); log != 0 && len(c.Response().Header.Peek(headerSeq)) == 0 {
		c.Set(headerSeq, fmt.Sprintf("%016x-%d", log, seq))
	}
}

// A ClusterNodeBody is a node as GET /cluster shows it.
type ClusterNodeBody struct {
	ID      string     `json:"id"`
	URL     string     `json:"url"`
	Version string     `json:"version"`
	Role    string     `json:"role"`
	Format  int        `json:"format"`
	Term    uint64     `json:"term"`
	Seq     uint64     `json:"seq"`
	SeenAt  *time.Time `json:"seenAt,omitempty"`
}

func newClusterNode(n *ClusterNode) ClusterNodeBody {
	b := ClusterNodeBody{ID: n.ID, URL: n.URL, Version: n.Version, Role: n.Role, Format: n.Format, Term: n.Term, Seq: n.Seq}
	if !n.Seen.IsZero() {
		seen := n.Seen.UTC()
		b.SeenAt = &seen
	}
	return b
}

// A ClusterBody is what GET /cluster answers.
type ClusterBody struct {
	Enabled bool              `json:"enabled"`
	Name    string            `json:"name"`
	Log     string            `json:"log"`
	Leader  *string           `json:"leader"`
	Node    *ClusterNodeBody  `json:"node"`
	Nodes   []ClusterNodeBody `json:"nodes"`
	Words   uint64            `json:"words"`
	Ahead   uint64            `json:"ahead"`
	Stale   bool              `json:"stale"`
	Format  int               `json:"format"`
	Trouble string            `json:"trouble,omitempty"`
	Halted  string            `json:"halted,omitempty"`
	Plugins string            `json:"plugins,omitempty"`
	NATS    *ClusterNATS      `json:"nats"`
}

// getCluster answers GET /cluster.
func (s *Server) getCluster(r *call) error {
	b := ClusterBody{Nodes: []ClusterNodeBody{}}
	st := s.Cluster.Status()
	if st.Name == "" {
		return r.OK(b)
	}
	node := newClusterNode(&st.Node)
	b.Enabled, b.Name, b.Log, b.Node, b.Words, b.Ahead, b.Stale, b.Halted, b.Plugins = true, st.Name, st.Log, &node, st.Words, st.Ahead, st.Stale, st.Halted, st.Plugins
	b.Format, b.Trouble, b.NATS = st.Format, st.Trouble, st.NATS
	if st.Leader != "" {
		b.Leader = &st.Leader
	}
	for i := range st.Nodes {
		b.Nodes = append(b.Nodes, newClusterNode(&st.Nodes[i]))
	}
	return r.OK(b)
}

// inStep returns why a node of a cluster should not be asked; nil: it may be.
func (s *Server) inStep() error {
	st := s.Cluster.Status()
	switch {
	case st.Halted != "":
		return &apierr.Error{Code: apierr.ClusterHalted, Message: "This node takes nothing from the cluster's log any more: its log says why."}
	case s.Cluster.Refuses():
		return errStale
	case st.Empty:
		return &apierr.Error{Code: apierr.ClusterBehind, RetryAfter: retryReady, Message: "This node has nothing of the cluster's log yet."}
	}
	return nil
}

// inTime refuses what a node of a cluster that was cut off for long does not
// answer: all but whether it is there.
func (s *Server) inTime(rt *route) error {
	if rt.public || rt.id == "getCluster" || rt.id == "getMetrics" {
		return nil
	}
	if s.Cluster.Refuses() {
		return errStale
	}
	return nil
}
