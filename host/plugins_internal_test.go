package host

import (
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// TestNamedPlugins: an answer needs its guards, too, and what is named once is loaded once.
func TestNamedPlugins(t *testing.T) {
	spaces := &chattest.Workspaces{}
	for _, w := range []workspace.Workspace{
		{UID: "a", Source: "vLlm", Guards: []guard.Use{{Plugin: "mask"}}},
		{UID: "b", Source: "vLlm", Guards: []guard.Use{{Plugin: "mask"}, {Plugin: "links"}}},
		{UID: "c", Source: "openAi", Plugin: "other"},
	} {
		if err := spaces.UpdateWorkspace(t.Context(), w.UID, func(*workspace.Workspace) (*workspace.Workspace, error) { return &w, nil }); err != nil {
			t.Fatal(err)
		}
	}
	got := map[provider.Wish]int{}
	for _, w := range namedPlugins(t.Context(), []guard.Use{{Plugin: "secrets"}}, spaces) {
		got[w]++
	}
	want := []provider.Wish{{Plugin: "secrets"}, {Source: "vLlm"}, {Plugin: "mask"}, {Plugin: "links"}, {Source: "openAi", Plugin: "other"}}
	for _, w := range want {
		if got[w] != 1 {
			t.Errorf("%+v is named %d times, want once", w, got[w])
		}
	}
	if len(got) != len(want) {
		t.Errorf("named: %v", got)
	}
}
