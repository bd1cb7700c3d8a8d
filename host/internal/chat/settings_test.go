package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

func TestWorkspacesFake(t *testing.T) { chattest.TestWorkspaces(t, &chattest.Workspaces{}) }

func TestPatchCreatesWithDefaults(t *testing.T) {
	f := newFixture(t)
	s, warning := f.patch(t, "new", `{}`)
	if warning != "" {
		t.Errorf("warning %q", warning)
	}
	var got map[string]any
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if _, ok := got["apiKey"]; ok {
		t.Errorf("PATCH answers with apiKey: %s", b)
	}
	if got["source"] != "openAi" {
		t.Errorf("source = %v, want the default openAi", got["source"])
	}
	for _, name := range []string{"orgId", "projectId", "apiVersion", "deploymentId", "baseUrl", "indexUids", "parameters", "plugin", "pluginVersion", "defaultModel", "models"} {
		if v, ok := got[name]; !ok || v != nil {
			t.Errorf("%s = %v, present %v; want null", name, v, ok)
		}
	}
	prompts, _ := got["prompts"].(map[string]any)
	for _, name := range []string{"system", "searchDescription", "searchQParam", "searchFilterParam", "searchIndexUidParam"} {
		if text, _ := prompts[name].(string); len(text) < 20 {
			t.Errorf("prompts.%s = %q, want a default text", name, text)
		}
	}
	if len(got) != 27 {
		t.Errorf("PATCH answers %d keys, want 27: %s", len(got), b)
	}
}

func TestPatchThreeState(t *testing.T) {
	f := newFixture(t)
	f.patch(t, "w", `{"source":"openAi","orgId":"o","projectId":"p","prompts":{"system":"S","searchQParam":""},
		"indexUids":["movies","movies"],"parameters":{"temperature":0.10, "big":12345678901234567890},"pluginVersion":"1.2.0"}`)

	s, _ := f.patch(t, "w", `{"orgId":null,"prompts":{"system":null,"searchFilterParam":"F"}}`)
	if s.OrgID != nil || s.ProjectID == nil || *s.ProjectID != "p" {
		t.Errorf("orgId %v, projectId %v; want null, p", s.OrgID, s.ProjectID)
	}
	if !strings.Contains(s.Prompts.System, "searchInIndex") || s.Prompts.SearchQParam != "" || s.Prompts.SearchFilterParam != "F" {
		t.Errorf("prompts = %+v", s.Prompts)
	}
	if got := string(s.Parameters); got != `{"temperature":0.10, "big":12345678901234567890}` {
		t.Errorf("parameters = %s, want them as they were sent", got)
	}
	if len(s.IndexUIDs) != 1 || *s.PluginVersion != "1.2.0" {
		t.Errorf("indexUids %q, pluginVersion %v", s.IndexUIDs, s.PluginVersion)
	}

	s, _ = f.patch(t, "w", `{"prompts":null,"indexUids":null,"parameters":null,"pluginVersion":null,"source":null}`)
	if s.Prompts.SearchQParam == "" || s.Prompts.SearchFilterParam == "F" || s.IndexUIDs != nil || s.Parameters != nil || s.PluginVersion != nil || s.Source != "openAi" {
		t.Errorf("after null for all: %+v", s)
	}
	if s, _ = f.patch(t, "w", `{"indexUids":[]}`); s.IndexUIDs == nil || len(s.IndexUIDs) != 0 {
		t.Errorf("indexUids = %#v, want an empty array that is not null", s.IndexUIDs)
	}
}

func TestPatchRefused(t *testing.T) {
	tests := []struct {
		body string
		code apierr.Code
		want string // in the message
	}{
		{``, apierr.MissingPayload, "empty"},
		{`{"source":}`, apierr.MalformedPayload, "line 1, column 11"},
		{"{\n\"orgId\": 1,,}", apierr.MalformedPayload, "line 2, column 12"},
		{`[]`, apierr.BadRequest, "a JSON object, not an array"},
		{`{"sorce":"openAi"}`, apierr.BadRequest, "`source`"},
		{`{"prompts":{"sytem":"x"}}`, apierr.BadRequest, "`system`"},
		{`{"source":"openai"}`, chaterr.InvalidChatSource, "the source \"openai\": did you mean \"openAi\"? Sources: azureOpenAi, openAi, test, vLlm. Choose one of them, or add a plugin that answers it by `parley plugin install`"},
		{`{"source":"somethingElse"}`, chaterr.InvalidChatSource, "the source \"somethingElse\". Sources: azureOpenAi, openAi, test, vLlm. Choose"},
		{`{"source":3}`, chaterr.InvalidChatSource, "not a number"},
		{`{"orgId":3}`, chaterr.InvalidChatOrgID, "`orgId` must be a string or null, not a number"},
		{`{"projectId":[]}`, chaterr.InvalidChatProjectID, "`projectId`"},
		{`{"apiVersion":true}`, chaterr.InvalidChatAPIVersion, "`apiVersion`"},
		{`{"deploymentId":{}}`, chaterr.InvalidChatDeploymentID, "`deploymentId`"},
		{`{"deploymentId":"a\nb"}`, chaterr.InvalidChatDeploymentID, "control character"},
		{`{"orgId":"` + strings.Repeat("x", 3000) + `"}`, chaterr.InvalidChatOrgID, "longer than 2048"},
		{`{"apiKey":7}`, chaterr.InvalidChatAPIKey, "`apiKey` must be a string or null"},
		{`{"apiKey":"a\r\nx: y"}`, chaterr.InvalidChatAPIKey, "control character"},
		{`{"apiKey":"XXX..."}`, chaterr.InvalidChatAPIKey, "send the key itself"},
		{`{"prompts":"x"}`, chaterr.InvalidChatPrompts, "`prompts` must be an object or null"},
		{`{"prompts":{"system":1}}`, chaterr.InvalidChatSystemPrompt, "`prompts.system`"},
		{`{"prompts":{"searchDescription":1}}`, chaterr.InvalidChatSearchDescription, "`prompts.searchDescription`"},
		{`{"prompts":{"searchQParam":1}}`, chaterr.InvalidChatSearchQParam, "`prompts.searchQParam`"},
		{`{"prompts":{"searchFilterParam":1}}`, chaterr.InvalidChatSearchFilterParam, "`prompts.searchFilterParam`"},
		{`{"prompts":{"searchIndexUidParam":1}}`, chaterr.InvalidChatSearchIndexUIDParam, "`prompts.searchIndexUidParam`"},
		{`{"indexUids":"movies"}`, chaterr.InvalidChatIndexUIDs, "an array"},
		{`{"indexUids":["a","b c"]}`, chaterr.InvalidChatIndexUIDs, "`indexUids[1]`"},
		{`{"parameters":[]}`, chaterr.InvalidChatParameters, "an object or null"},
		{`{"parameters":{"stream":false}}`, chaterr.InvalidChatParameters, "`parameters.stream`"},
		{`{"plugin":"absent"}`, chaterr.InvalidChatPlugin, "null for the one that the deployment binds"},
		{`{"plugin":7}`, chaterr.InvalidChatPlugin, "a string or null"},
		{`{"pluginVersion":"latest"}`, chaterr.InvalidChatPluginVersion, "~1.2"},
		{`{"pluginVersion":"9.9.9"}`, chaterr.InvalidChatPluginVersion, "the deployment's pin is 1.2.0"},
		{`{"baseUrl":"llm.example.com/v1"}`, chaterr.InvalidChatBaseURL, "http://"},
		{`{"baseUrl":"ftp://a"}`, chaterr.InvalidChatBaseURL, "http://"},
		{`{"baseUrl":"https:///v1"}`, chaterr.InvalidChatBaseURL, "no host"},
		{`{"baseUrl":"https://u:p@a/v1"}`, chaterr.InvalidChatBaseURL, "user info"},
		{`{"baseUrl":"https://a/v1?x=1"}`, chaterr.InvalidChatBaseURL, "query"},
		{`{"baseUrl":"https://a/v1?"}`, chaterr.InvalidChatBaseURL, "query"},
		{`{"baseUrl":"https://a/v1#"}`, chaterr.InvalidChatBaseURL, "fragment"},
		{`{"baseUrl":"https://a:99999"}`, chaterr.InvalidChatBaseURL, "port"},
		{`{"baseUrl":"https://a b"}`, chaterr.InvalidChatBaseURL, "space"},
		{`{"baseUrl":"https://%zz"}`, chaterr.InvalidChatBaseURL, "malformed"},
		{`{"source":"vLlm"}`, chaterr.InvalidChatBaseURL, "`baseUrl` (what it is)"},
		{`{"source":"azureOpenAi","orgId":"o","baseUrl":"https://a"}`, chaterr.InvalidChatAPIVersion, "`apiVersion` (what it is), `deploymentId`"},
		{`{"source":"azureOpenAi","orgId":"","apiVersion":"v","deploymentId":"d","baseUrl":"https://a"}`, chaterr.InvalidChatOrgID, "`orgId`"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.40s", tt.body), func(t *testing.T) {
			f := newFixture(t)
			_, _, err := f.Patch(t.Context(), "w", []byte(tt.body))
			if !apierr.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Patch: %v, want %s with %q", err, tt.code, tt.want)
			}
			if _, err := f.workspaces.Workspace(t.Context(), "w"); !apierr.Is(err, chaterr.ChatNotFound) {
				t.Errorf("a refused PATCH left a workspace behind: %v", err)
			}
		})
	}
}

func TestPatchRefusedKeepsAll(t *testing.T) {
	f := newFixture(t)
	before, err := f.Workspace(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Patch(t.Context(), "demo", []byte(`{"orgId":"new","prompts":{"system":"new"},"apiKey":"sk-new","source":"vLlm"}`)); err == nil {
		t.Fatal("a PATCH to vLlm without baseUrl went through")
	}
	after, err := f.Workspace(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(after.OrgID, after.Prompts, *after.APIKey) != fmt.Sprint(before.OrgID, before.Prompts, *before.APIKey) {
		t.Errorf("a refused PATCH changed %+v to %+v", before, after)
	}
}

func TestBaseURLTaken(t *testing.T) {
	f := newFixture(t)
	for _, u := range []string{"http://127.0.0.1:8000/v1", "https://a.example/", "HTTPS://[::1]:8443/x/y/", "https://bücher.example"} {
		s, _ := f.patch(t, "w", `{"source":"vLlm","baseUrl":"`+u+`"}`)
		if *s.BaseURL != u {
			t.Errorf("baseUrl = %q, want it as it was sent, %q", *s.BaseURL, u)
		}
	}
}

func TestUIDs(t *testing.T) {
	f := newFixture(t)
	for uid, ok := range map[string]bool{
		"a": true, "A-z_9": true, strings.Repeat("x", 400): true,
		"": false, strings.Repeat("x", 401): false, "a b": false, "a/b": false, "ü": false, "a.b": false, "a\x00": false,
	} {
		_, _, err := f.Patch(t.Context(), uid, []byte(`{}`))
		if ok != (err == nil) || !ok && !apierr.Is(err, chaterr.InvalidChatWorkspaceUID) {
			t.Errorf("Patch of uid %.10q: %v, want success: %v", uid, err, ok)
		}
	}
	ctx := t.Context()
	for name, call := range map[string]func(uid string) error{
		"Workspace":     func(uid string) error { _, err := f.Workspace(ctx, uid); return err },
		"Prompts":       func(uid string) error { _, err := f.Prompts(ctx, uid); return err },
		"Delete":        func(uid string) error { return f.Delete(ctx, uid) },
		"ResetSettings": func(uid string) error { _, err := f.ResetSettings(ctx, uid); return err },
		"Start":         func(uid string) error { _, err := f.Start(ctx, auth.Everyone(), uid, []byte(hello)); return err },
	} {
		if err := call("a b"); !apierr.Is(err, chaterr.InvalidChatWorkspaceUID) {
			t.Errorf("%s of a bad uid: %v", name, err)
		}
		if err := call("nope"); !apierr.Is(err, chaterr.ChatNotFound) {
			t.Errorf("%s of an absent workspace: %v", name, err)
		}
	}
}

// A loading deployment still loads all plugins but one: who asks for all of them would
// wait.
type loading struct {
	provider.Sources
	t *testing.T
}

func (l loading) SourceNames() []string {
	l.t.Error("the names of all sources were asked for")
	return l.Sources.SourceNames()
}

func (l loading) Plugins(source string) []string {
	l.t.Errorf("the plugins of %s were asked for", source)
	return l.Sources.Plugins(source)
}

// TestPatchWaitsForOnePlugin patches settings of a host that still loads its plugins:
// the one that they name is enough.
func TestPatchWaitsForOnePlugin(t *testing.T) {
	f := newFixture(t)
	f.deps.Sources = loading{f.deps.Sources, t}
	f.Service = chat.New(f.deps)
	for _, body := range []string{`{"source":"vLlm","baseUrl":"https://provider.example"}`, `{"prompts":{"system":"x"}}`, `{"source":null}`} {
		if _, _, err := f.Patch(t.Context(), "fresh", []byte(body)); err != nil {
			t.Errorf("Patch %s: %v", body, err)
		}
	}
}
