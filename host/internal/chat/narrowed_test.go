package chat_test

import (
	"encoding/json"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// TestNarrowed lists what asks for a version of its own, also where that
// version has gone since.
func TestNarrowed(t *testing.T) {
	f := newFixture(t)
	f.patch(t, "b", `{"source":"openAi","pluginVersion":"1.2.0"}`)
	f.patch(t, "a", `{"source":"openAi","pluginVersion":"1.2.0"}`)
	f.patch(t, "c", `{"source":"test","pluginVersion":"1.0.0"}`)
	f.patch(t, "reset", `{"source":"test","pluginVersion":"1.0.0"}`)
	f.patch(t, "reset", `{"pluginVersion":null}`)
	f.source.Is.Version = "2.0.0"
	f.sources["openAi"] = f.source
	err := f.workspaces.UpdateWorkspace(t.Context(), "a", func(w *workspace.Workspace) (*workspace.Workspace, error) {
		w.PluginVersion = "2.0.0"
		return w, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	narrowed, err := f.Narrowed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(narrowed)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"test":[{"uid":"a","pluginVersion":"2.0.0","version":"2.0.0"},{"uid":"b","pluginVersion":"1.2.0","version":null},` +
		`{"uid":"c","pluginVersion":"1.0.0","version":null}]}` // the plugin of both sources is called test
	if string(got) != want {
		t.Errorf("Narrowed = %s, want %s", got, want)
	}
}
