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
		if err := s.PutFeedback(ctx, uid, &f); err != nil {
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
