package chat_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
)

func TestKeyRules(t *testing.T) {
	const key = "sk-abcdefghijklmnop" // 19 characters: skXXXX...
	tests := []struct {
		name, patch string
		want        string // the key afterwards
		warns       bool
	}{
		{"other fields", `{"orgId":"o"}`, key, false},
		{"obfuscated", `{"apiKey":"skXXXX..."}`, key, false},
		{"another key", `{"apiKey":"sk-new"}`, "sk-new", false},
		{"null", `{"apiKey":null}`, "", false},
		{"empty", `{"apiKey":""}`, "", false},
		{"source", `{"source":"openAi"}`, "", true},
		{"source with key", `{"source":"openAi","apiKey":"sk-new"}`, "sk-new", false},
		{"source with obfuscated key", `{"source":"openAi","apiKey":"skXXXX..."}`, "", true},
		{"source with null", `{"source":"openAi","apiKey":null}`, "", false},
		{"same source", `{"source":"vLlm"}`, key, false},
		{"baseUrl", `{"baseUrl":"https://evil.example"}`, "", true},
		{"baseUrl with obfuscated key", `{"baseUrl":"https://evil.example","apiKey":"skXXXX..."}`, "", true},
		{"baseUrl with a slash more", `{"baseUrl":"https://a.example/v1/"}`, key, false},
		{"source and baseUrl to default", `{"source":null,"baseUrl":null}`, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.patch(t, "w", `{"source":"vLlm","baseUrl":"https://a.example/v1","apiKey":"`+key+`"}`)
			_, warning := f.patch(t, "w", tt.patch)
			if got := f.workspace(t, "w").APIKey.Reveal(); got != tt.want {
				t.Errorf("key afterwards = %q, want %q", got, tt.want)
			}
			if (warning != "") != tt.warns || tt.warns && !strings.HasPrefix(warning, `299 parley "The stored apiKey was dropped`) {
				t.Errorf("warning = %q, want one: %v", warning, tt.warns)
			}
		})
	}
}

func TestKeyShown(t *testing.T) {
	f := newFixture(t)
	s, err := f.Workspace(t.Context(), "demo")
	if err != nil || s.APIKey == nil || *s.APIKey != "sk-XXXXX..." {
		t.Errorf("apiKey of GET = %v, %v; want sk-XXXXX...", *s.APIKey, err)
	}
	reset, err := f.ResetSettings(t.Context(), "demo")
	if err != nil || reset.APIKey != nil || reset.Source != "openAi" || reset.Prompts.System == "Be brief." {
		t.Errorf("ResetSettings = %+v, %v; want the defaults", reset, err)
	}
	if w := f.workspace(t, "demo"); !w.APIKey.IsZero() {
		t.Error("the key outlived DELETE settings")
	}
}

func TestList(t *testing.T) {
	f := newFixture(t)
	f.patch(t, "b", `{}`)
	uids, total, err := f.Workspaces(t.Context(), auth.Everyone(), 0, 20)
	if fmt.Sprint(uids) != "[b demo]" || total != 2 || err != nil {
		t.Errorf("Workspaces = %q, %d, %v", uids, total, err)
	}
	if err := f.Delete(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	if p, err := f.Prompts(t.Context(), "demo"); err != nil || p.UID != "demo" || p.System != "Be brief." || p.SearchDescription == "" {
		t.Errorf("Prompts = %+v, %v", p, err)
	}
}

// TestPatchHammer has many clients patch one field each, time and again: none
// takes back what another one did.
func TestPatchHammer(t *testing.T) {
	f := newFixture(t)
	fields := []string{"orgId", "projectId", "apiVersion", "deploymentId"}
	var wg sync.WaitGroup
	for _, name := range fields {
		for range 2 {
			wg.Go(func() {
				for i := range 50 {
					if _, _, err := f.Patch(t.Context(), "busy", fmt.Appendf(nil, `{%q:"%d"}`, name, i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	w := f.workspace(t, "busy")
	for i, got := range []string{w.OrgID, w.ProjectID, w.APIVersion, w.DeploymentID} {
		if got != "49" {
			t.Errorf("%s = %q after the last PATCH said 49", fields[i], got)
		}
	}
}

// TestRemovedPlugin patches a workspace whose plugin is gone: its prompts can
// still be set.
func TestRemovedPlugin(t *testing.T) {
	f := newFixture(t)
	delete(f.sources, "test")
	if s, _ := f.patch(t, "demo", `{"prompts":{"system":"New."}}`); s.Prompts.System != "New." || s.Source != "test" {
		t.Errorf("settings = %+v", s)
	}
}
