package httpapi

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/cluster"
)

// A ClusterSnapshot is the result of a request for a snapshot.
type ClusterSnapshot struct {
	Message uint64 `json:"message"` // that it has to have
	Kept    uint64 `json:"kept"`    // that of the last one that this node made; 0: it made none
	Bytes   int64  `json:"bytes"`   // of that one
	Done    bool   `json:"done"`
}

// A ClusterHandover says who led, and who does now.
type ClusterHandover struct {
	From   string  `json:"from"`
	Leader *string `json:"leader"` // nil: nobody yet
	Term   uint64  `json:"term"`
}

// A ClusterUpgrade says in which format the log was written, and is from now on.
type ClusterUpgrade struct {
	From int `json:"from"`
	To   int `json:"to"` // From: there is no higher one
}

// ErrNoFollower is the error of HandOver where nobody else could lead.
var ErrNoFollower = errors.New("no other node is there")

// leadWait bounds what a request waits for works of the leader. A node that sent
// the request on waits longer.
const leadWait = 20 * time.Second

// makeClusterSnapshot answers POST /cluster/snapshot.
func (s *Server) makeClusterSnapshot(r *call) error {
	var message uint64
	if v, ok := r.Query["message"]; ok {
		var err error
		if message, err = strconv.ParseUint(v, 10, 64); err != nil {
			return apierr.Newf(apierr.BadRequest, "The query parameter `message` must be the number of a message of the log, but is %.64q.", v)
		}
	}
	ctx, cancel := context.WithTimeout(r.Base, leadWait)
	defer cancel()
	done, err := s.Cluster.Snapshot(ctx, message)
	if errors.Is(err, errAlone) {
		return err
	}
	if err != nil {
		return &apierr.Error{Code: apierr.ClusterNotKept, RetryAfter: time.Second, Err: err, Message: "No snapshot of the cluster was kept: " + err.Error() + "."}
	}
	return r.OK(done)
}

// resignCluster answers POST /cluster/resign.
func (s *Server) resignCluster(r *call) error {
	ctx, cancel := context.WithTimeout(r.Base, leadWait)
	defer cancel()
	done, err := s.Cluster.HandOver(ctx)
	if errors.Is(err, ErrNoFollower) {
		return apierr.Newf(apierr.ClusterNoFollower, "No other node of the cluster was heard of just now that could lead: nothing was changed. `GET /cluster` shows the nodes.")
	}
	if err != nil {
		return err
	}
	return r.OK(done)
}

// upgradeCluster answers POST /cluster/upgrade.
func (s *Server) upgradeCluster(r *call) error {
	ctx, cancel := context.WithTimeout(r.Base, leadWait)
	defer cancel()
	done, err := s.Cluster.Raise(ctx)
	if old, ok := errors.AsType[*cluster.OldNodeError](err); ok {
		return apierr.Newf(apierr.ClusterOldNode, "The log stays as it is: %s. Upgrade that node first; one that is gone for good is forgotten a day after it was heard of last.", old)
	}
	if err != nil {
		return err
	}
	return r.OK(done)
}
