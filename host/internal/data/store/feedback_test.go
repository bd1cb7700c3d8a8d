package store

import (
	"fmt"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// TestFeedbackIsBounded has the oldest go beyond the bound, and all of a workspace with it, but
// nothing of one whose name begins alike.
func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx := t.Context()
	put := func(uid, question string) string {
		t.Helper()
		f := workspace.Feedback{Question: question}
		if err := s.PutFeedback(ctx, uid, workspace.Sender{}, &f); err != nil {
			t.Fatal(err)
		}
		return f.ID
	}
	questions := func(uid string) (all []string) {
		t.Helper()
		if err := s.EachFeedback(ctx, uid, func(f *workspace.Feedback) error {
			all = append(all, f.Question)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	first := put("a", "0")
	put("ab", "other")
	for i := range workspace.MaxFeedback {
		put("a", fmt.Sprint(i+1))
	}
	if all := questions("a"); len(all) != workspace.MaxFeedback || all[0] != "1000" || all[len(all)-1] != "1" {
		t.Errorf("%d are kept, from %s to %s; want 1000 from 1000 to 1", len(all), all[0], all[len(all)-1])
	}
	if err := s.DeleteFeedback(ctx, "a", first); !apierr.Is(err, chaterr.ChatFeedbackNotFound) {
		t.Errorf("DeleteFeedback of the oldest: %v", err)
	}
	sealer, err := OpenSealer(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	spaces := s.Workspaces(sealer)
	if err := spaces.UpdateWorkspace(ctx, "a", func(*workspace.Workspace) (*workspace.Workspace, error) { return &workspace.Workspace{UID: "a"}, nil }); err != nil {
		t.Fatal(err)
	}
	if err := spaces.DeleteWorkspace(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if all := questions("a"); len(all) != 0 {
		t.Errorf("%d are left of a workspace that is deleted", len(all))
	}
	if all := questions("ab"); len(all) != 1 {
		t.Errorf("of the workspace ab %q are left", all)
	}
}

// TestFeedbackShares has the key that sent most lose its oldest, and of its callers the one who did; nobody changes what
// others sent.
func TestFeedbackShares(t *testing.T) {
	t.Parallel()
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	put := func(key, caller, id, question string) string {
		t.Helper()
		f := workspace.Feedback{ID: id, Question: question}
		if err := s.PutFeedback(t.Context(), "a", workspace.Sender{Key: key, Caller: caller}, &f); err != nil {
			t.Fatal(err)
		}
		return f.ID
	}
	first := put("k1", "ann", "", "ann's")
	put("k2", "bea", "", "bea's")
	for i := range workspace.MaxFeedback + 50 {
		put("k2", "greedy", "", fmt.Sprint("greedy ", i))
	}
	if again := put("k2", "greedy", first, "forged"); again == first {
		t.Errorf("another caller replaces %s", first)
	}
	if again := put("k1", "ann", first, "ann's, changed"); again != first {
		t.Errorf("sent again it has the id %s, want %s", again, first)
	}
	count, found := 0, ""
	if err := s.EachFeedback(t.Context(), "a", func(f *workspace.Feedback) error {
		if count++; f.ID == first || f.Question == "bea's" {
			found += f.Question + "; "
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if count != workspace.MaxFeedback || found != "bea's; ann's, changed; " {
		t.Errorf("of %d are left %q, want those of ann and bea among 1000", count, found)
	}
}
