package store

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// setOrg stores a workspace with an orgId.
func setOrg(t testing.TB, w *Workspaces, uid, org string) {
	t.Helper()
	err := w.UpdateWorkspace(t.Context(), uid, func(old *workspace.Workspace) (*workspace.Workspace, error) {
		if old == nil {
			old = &workspace.Workspace{UID: uid, Source: "openAi"}
		}
		old.OrgID = org
		return old, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHammerWorkspaceReads reads a workspace while it changes: none may get what
// was stored before a change that had already returned.
func TestHammerWorkspaceReads(t *testing.T) {
	w := openWorkspaces(t, openMemory(t), t.TempDir(), "")
	setOrg(t, w, "w", "0")
	var stored atomic.Int64
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				least := stored.Load()
				got, err := w.Workspace(t.Context(), "w")
				if err != nil {
					t.Error(err)
					return
				}
				if n, _ := strconv.ParseInt(got.OrgID, 10, 64); n < least {
					t.Errorf("change %d was read after change %d was stored", n, least)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range 300 {
		setOrg(t, w, "w", strconv.Itoa(n))
		stored.Store(int64(n))
	}
	close(done)
	readers.Wait()
}

// TestWorkspaceReads changes and deletes what was read, and reads more than is
// kept.
func TestWorkspaceReads(t *testing.T) {
	w := openWorkspaces(t, openMemory(t), t.TempDir(), "")
	read := func(uid string) string {
		t.Helper()
		got, err := w.Workspace(t.Context(), uid)
		if err != nil {
			t.Fatal(err)
		}
		return got.OrgID
	}
	for n := range maxRead + 10 {
		uid := "w" + strconv.Itoa(n)
		setOrg(t, w, uid, "before")
		if got := read(uid) + read(uid); got != "beforebefore" {
			t.Fatalf("%s was read as %s", uid, got)
		}
	}
	if n := len(w.read.byUID); n > maxRead {
		t.Errorf("%d workspaces are kept, want %d at most", n, maxRead)
	}
	setOrg(t, w, "w1009", "after")
	if got := read("w1009"); got != "after" {
		t.Errorf("after a change: %s", got)
	}
	if err := w.DeleteWorkspace(t.Context(), "w1009"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Workspace(t.Context(), "w1009"); !apierr.Is(err, chaterr.ChatNotFound) {
		t.Errorf("after it was deleted: %v", err)
	}
}

// BenchmarkWorkspace reads a workspace as an answer does.
func BenchmarkWorkspace(b *testing.B) {
	s, err := OpenInMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	sealer, err := OpenSealer(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	w := s.Workspaces(sealer)
	setOrg(b, w, "w", "o")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Workspace(b.Context(), "w"); err != nil {
			b.Fatal(err)
		}
	}
}
