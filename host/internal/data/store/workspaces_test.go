package store

import (
	"bytes"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

func openWorkspaces(t *testing.T, s *Store, dir, master string) *Workspaces {
	t.Helper()
	sealer, err := OpenSealer(dir, []byte(master))
	if err != nil {
		t.Fatal(err)
	}
	return s.Workspaces(sealer)
}

func openMemory(t *testing.T) *Store {
	t.Helper()
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestWorkspaces(t *testing.T) {
	chattest.TestWorkspaces(t, openWorkspaces(t, openMemory(t), t.TempDir(), ""))
}

func TestWorkspacesSurvive(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	setKey(t, openWorkspaces(t, s, dir, ""), "w", "sk-1234567890")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := openWorkspaces(t, s, dir, "").Workspace(t.Context(), "w")
	if err != nil || w.APIKey.Reveal() != "sk-1234567890" {
		t.Errorf("after a restart: %+v, %v", w, err)
	}
}

// TestWorkspacesOtherMaster changes the master key: the rest of a workspace is
// still there, a patch keeps the key for whoever can open it, and a new key
// mends it.
func TestWorkspacesOtherMaster(t *testing.T) {
	s, dir := openMemory(t), t.TempDir()
	first, other := openWorkspaces(t, s, dir, "first"), openWorkspaces(t, s, dir, "other")
	setKey(t, first, "w", "sk-1234567890")

	err := other.UpdateWorkspace(t.Context(), "w", func(old *workspace.Workspace) (*workspace.Workspace, error) {
		if !old.KeyUnreadable || !old.APIKey.IsZero() {
			t.Errorf("under another master key: KeyUnreadable %v, a key %v; want true, false", old.KeyUnreadable, !old.APIKey.IsZero())
		}
		old.OrgID = "o"
		return old, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if w, err := first.Workspace(t.Context(), "w"); err != nil || w.APIKey.Reveal() != "sk-1234567890" || w.OrgID != "o" {
		t.Errorf("under the first master key again: %+v, %v; want the key kept and orgId o", w, err)
	}
	setKey(t, other, "w", "sk-new-key")
	if w, err := other.Workspace(t.Context(), "w"); err != nil || w.APIKey.Reveal() != "sk-new-key" || w.KeyUnreadable {
		t.Errorf("after the key was set again: %+v, %v", w, err)
	}
}

// TestWorkspacesSealed looks at the bytes: no key lies in the clear, and a
// record that is copied to another uid does not open.
func TestWorkspacesSealed(t *testing.T) {
	s := openMemory(t)
	w := openWorkspaces(t, s, t.TempDir(), "")
	setKey(t, w, "a", "sk-1234567890")
	err := s.update(func(tx txn) error {
		value, err := get(tx, []byte(prefixWorkspace+"a"))
		if err != nil {
			return err
		}
		if bytes.Contains(value, []byte("1234")) {
			t.Errorf("the record holds the key: %s", value)
		}
		return tx.Set([]byte(prefixWorkspace+"b"), value)
	})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := w.Workspace(t.Context(), "b")
	if err != nil || !copied.KeyUnreadable || !copied.APIKey.IsZero() {
		t.Errorf("a copied record: %+v, %v; want its key unreadable", copied, err)
	}
}

func setKey(t *testing.T, s workspace.Workspaces, uid, key string) {
	t.Helper()
	err := s.UpdateWorkspace(t.Context(), uid, func(w *workspace.Workspace) (*workspace.Workspace, error) {
		if w == nil {
			w = &workspace.Workspace{UID: uid, Source: "openAi"}
		}
		w.APIKey, w.KeyUnreadable = secret.New(key), false
		return w, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
