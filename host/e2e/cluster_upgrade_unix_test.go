//go:build unix

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/internal/base/waittest"
)

// TestClusterUpgrade upgrades the nodes of a cluster one after another, as the runbook
// says, from the program that BEFORE names, while clients write, search and chat.
func TestClusterUpgrade(t *testing.T) {
	before := os.Getenv("BEFORE")
	if before == "" {
		t.Skip("upgrades from another build: BEFORE=FILE names its program")
	}
	s := openStorm(t, stormWishes{seed: 1, before: before})
	s.begin(1)
	last := s.leader()
	upgrade := func(node int) {
		t.Helper()
		s.hit(node)
		s.nodes[node].signal(syscall.SIGTERM)
		s.nodes[node].program = s.program
		s.nodes[node].start()
		s.ready(node)
		// Both builds write and are read by each other meanwhile.
		n := s.count()
		waittest.For(t, "writes are taken", func() bool { return s.count() > n+50 })
	}
	for i := range s.nodes {
		if i != last {
			upgrade(i)
		}
	}
	waittest.For(t, "another node leads", func() bool {
		status, _, _ := s.call(last, "POST", "/cluster/resign", "")
		return status == http.StatusOK
	})
	upgrade(last)
	waittest.For(t, "the log is in the newest format", func() bool {
		status, b, _ := s.call(last, "POST", "/cluster/upgrade", "")
		var done struct{ From, To int }
		return status == http.StatusOK && json.Unmarshal(b, &done) == nil && done.To >= 2
	})
	s.calm()
	s.check()
	t.Logf("%d writes acknowledged; of nodes that nobody hit meanwhile: %d searches answered, %d failed; %d chats written to their end, %d broken off",
		s.count(), s.seen.answered.Load(), s.seen.failed.Load(), s.seen.written.Load(), s.seen.cut.Load())
}

// count returns how many writes were acknowledged.
func (s *storm) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.acks)
}
