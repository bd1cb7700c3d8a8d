package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

func setOptions(t *testing.T, s workspace.Workspaces, uid string) {
	t.Helper()
	err := s.UpdateWorkspace(t.Context(), uid, func(*workspace.Workspace) (*workspace.Workspace, error) {
		return &workspace.Workspace{
			UID: uid, Source: "aws", Options: map[string]json.RawMessage{"region": json.RawMessage(`"eu-1"`)},
			OptionSecrets: map[string]secret.Text{"keyId": secret.New("canary-id"), "secretKey": secret.New("canary-secret")},
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWorkspaceOptions keeps options: secrets sealed, each in its own place, kept
// where they cannot be opened, and sealed anew with the rest.
func TestWorkspaceOptions(t *testing.T) {
	s, dir := openMemory(t), t.TempDir()
	first, other := openWorkspaces(t, s, dir, "first"), openWorkspaces(t, s, dir, "other")
	setOptions(t, first, "w")
	check := func(how string, by *Workspaces) {
		t.Helper()
		w, err := by.Workspace(t.Context(), "w")
		if err != nil || string(w.Options["region"]) != `"eu-1"` || w.OptionSecrets["keyId"].Reveal() != "canary-id" ||
			w.OptionSecrets["secretKey"].Reveal() != "canary-secret" || w.OptionsUnreadable != nil {
			t.Errorf("%s: %+v, %v", how, w, err)
		}
	}
	check("stored", first)
	err := other.UpdateWorkspace(t.Context(), "w", func(old *workspace.Workspace) (*workspace.Workspace, error) {
		if !slices.Equal(old.OptionsUnreadable, []string{"keyId", "secretKey"}) || old.OptionSecrets != nil {
			t.Errorf("under another master key: %+v", old)
		}
		old.OrgID = "o"
		return old, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check("patched under another master key", openWorkspaces(t, s, dir, "first"))

	err = s.update(func(tx txn) error {
		value, err := get(tx, []byte(prefixWorkspace+"w"))
		if err != nil {
			return err
		}
		if bytes.Contains(value, []byte("canary")) {
			t.Errorf("the record holds a secret: %s", value)
		}
		// One secret in the place of the other, and of another workspace.
		var r workspaceRecord
		if err := json.Unmarshal(value, &r); err != nil {
			return err
		}
		r.SealedOptions = map[string][]byte{"keyId": r.SealedOptions["secretKey"]}
		swapped, err := json.Marshal(&r)
		if err != nil {
			return err
		}
		if err := tx.Set([]byte(prefixWorkspace+"swapped"), swapped); err != nil {
			return err
		}
		return tx.Set([]byte(prefixWorkspace+"copied"), value)
	})
	if err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[string][]string{"swapped": {"keyId"}, "copied": {"keyId", "secretKey"}} {
		if w, err := first.Workspace(t.Context(), uid); err != nil || !slices.Equal(w.OptionsUnreadable, want) || w.OptionSecrets != nil {
			t.Errorf("%s: %+v, %v; want unreadable %q", uid, w, err, want)
		}
		if err := first.DeleteWorkspace(t.Context(), uid); err != nil {
			t.Fatal(err)
		}
	}

	from, to := first.sealer, other.sealer
	done, err := s.Reseal(t.Context(), from, to, false)
	if err != nil || len(done.Kept) != 2 {
		t.Fatalf("Reseal = %+v, %v", done, err)
	}
	check("sealed anew", openWorkspaces(t, s, dir, "other"))
}
