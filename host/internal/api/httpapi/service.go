package httpapi

import (
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
)

// Version says which build runs.
type Version struct {
	Version string // semver
	Commit  string // "unknown" where the build does not know
	Date    string // of the commit
}

// answerHealth answers GET /health: an answer shows that the process
// is alive.
func (s *Server) answerHealth(r *call) error {
	if st := s.Cluster.Status(); st.Halted != "" && st.MayHeal {
		return &apierr.Error{Code: apierr.ClusterHalted, Message: "This node takes nothing from the cluster's log any more, and a new start may heal that: its log says why."}
	}
	return r.OK(struct {
		Status string `json:"status"`
	}{"available"})
}

// retryReady is when it is worth asking again whether the host is ready.
const retryReady = 5 * time.Second

// answerReady answers GET /ready: 503 while requests should go to another host.
// It says nothing of names, for it asks for no key.
func (s *Server) answerReady(r *call) error {
	if err := readiness(s.down.Load(), s.isLoading(), s.Search.Load().NotReady); err != nil {
		return err
	}
	if err := s.inStep(); err != nil {
		return err
	}
	ready := struct {
		Status  string `json:"status"`
		Problem string `json:"problem,omitempty"`
	}{Status: "ready"}
	if s.LockProblem != nil && s.LockProblem() {
		ready.Problem = "plugins.lock cannot be read, or is gone: the host goes by the one that it read last"
	}
	return r.OK(ready)
}

// isLoading reports whether plugins are still to come that workspaces name.
func (s *Server) isLoading() bool {
	if s.Usable == nil {
		return false
	}
	select {
	case <-s.Usable:
		return false
	default:
		return true
	}
}

// readiness says why a host is not ready, where it is not.
func readiness(down, loading bool, building int) error {
	switch {
	case down:
		return shuttingDown()
	case loading:
		return &apierr.Error{
			Code: chaterr.ChatProviderUnavailable, RetryAfter: retryReady,
			Message: "The host is not ready: plugins are being loaded. Chats wait for theirs.",
		}
	case building > 0:
		return &apierr.Error{
			Code: indexerr.IndexNotReady, RetryAfter: retryReady,
			Message: fmt.Sprintf("The host is not ready: indexes that are being rebuilt from their documents: %d.", building),
		}
	}
	return nil
}

// answerVersion answers GET /version.
func (s *Server) answerVersion(r *call) error {
	return r.OK(struct {
		CommitSHA  string `json:"commitSha"`
		CommitDate string `json:"commitDate"`
		PkgVersion string `json:"pkgVersion"`
	}{s.Version.Commit, s.Version.Date, s.Version.Version})
}
