package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// A fixture is a service over small real parts, with a workspace "demo" whose
// source is "test".
type fixture struct {
	*chat.Service
	workspaces *chattest.Workspaces
	sources    chattest.Sources
	source     *chattest.Source // "test"
	upstream   *chattest.Upstream
	searcher   *chattest.Searcher
	deps       chat.Deps
	carries    []chat.Carry // of what ask and Start ask
	seal       func(*chat.Carry) string
}

const demoKey = "sk-0123456789-secret"

func newFixture(t *testing.T, scripts ...chattest.Script) *fixture {
	t.Helper()
	required := func(names ...string) map[string]abi.Setting {
		m := make(map[string]abi.Setting)
		for _, n := range names {
			m[n] = abi.Setting{Required: true, Description: "what it is."}
		}
		return m
	}
	f := &fixture{
		workspaces: &chattest.Workspaces{},
		source: &chattest.Source{Is: abi.Manifest{
			Name: "test", Version: "1.0.0", Source: "test", Settings: required("apiKey"),
			Grants: abi.Grants{HTTP: []string{"https://llm.example.com"}, Secrets: []string{"apiKey"}},
			Auth:   []abi.Auth{{Name: abi.AuthPlaceholder, Scheme: abi.AuthPlaceholder}},
		}},
		upstream: &chattest.Upstream{Scripts: scripts},
		searcher: &chattest.Searcher{
			Indexes: []chat.Index{
				{UID: "books", Description: "Novels."},
				{UID: "movies", Filterable: []chat.Facet{{Attribute: "genre", Values: []string{"drama", `a "b"`}}}},
			},
			Documents: map[string][]chat.Hit{
				"movies": {{ID: "1", Text: "Alien", Document: json.RawMessage(`{"id":1,"title":"Alien"}`)}, {ID: "2", Text: "Aliens \"2\""}},
				"books":  {{ID: "b", Text: "Solaris"}},
			},
		},
	}
	f.sources = chattest.Sources{
		"test":        f.source,
		"azureOpenAi": &chattest.Source{Is: abi.Manifest{Name: "azureopenai", Version: "1.0.0", Settings: required("apiKey", "orgId", "apiVersion", "deploymentId", "baseUrl")}},
		"openAi":      &chattest.Source{Is: abi.Manifest{Name: "openai", Version: "1.2.0", Settings: required("apiKey")}},
		"vLlm":        &chattest.Source{Is: abi.Manifest{Name: "vllm", Version: "1.0.0", Settings: required("baseUrl")}},
	}
	f.deps = chat.Deps{
		Workspaces: f.workspaces, Sources: f.sources, Upstream: f.upstream, Searcher: f.searcher,
		Limits: chat.Limits{RetryDelay: 1},
	}
	f.Service = chat.New(f.deps)
	f.patch(t, "demo", `{"source":"test","apiKey":"`+demoKey+`","prompts":{"system":"Be brief."}}`)
	return f
}

func (f *fixture) patch(t *testing.T, uid, body string) (workspace.PatchedSettings, string) {
	t.Helper()
	s, warning, err := f.Patch(t.Context(), uid, []byte(body))
	if err != nil {
		t.Fatalf("Patch(%s): %v", body, err)
	}
	return s, warning
}

func (f *fixture) workspace(t *testing.T, uid string) *workspace.Workspace {
	t.Helper()
	w, err := f.workspaces.Workspace(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// hello is a request that asks nothing special.
const hello = `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`

// ask runs a request to its end and returns what was streamed.
func (f *fixture) ask(t *testing.T, body string) *transcript {
	t.Helper()
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(body))
	if err != nil {
		t.Fatalf("Start(%s): %v", body, err)
	}
	tr := &transcript{t: t}
	if err := a.WriteTo(openai.NewChunks(tr, false)); err != nil {
		t.Fatalf("WriteTo: %v", err)
	}
	tr.outcome = a.Outcome()
	if n := f.upstream.Open(); n != 0 {
		t.Errorf("%d responses of the provider were left open", n)
	}
	tr.check()
	return tr
}

// refuse runs a request that must not start.
func (f *fixture) refuse(t *testing.T, body string) *apierr.Error {
	t.Helper()
	a, err := f.Start(t.Context(), auth.Everyone(), "demo", []byte(body))
	if err == nil {
		a.Close()
		t.Fatalf("Start(%.200s) began an answer", body)
	}
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		t.Fatalf("Start(%.200s): %v, want an apierr.Error", body, err)
	}
	if strings.Contains(e.Error(), demoKey) {
		t.Errorf("the error holds the key: %s", e.Error())
	}
	if n := f.upstream.Open(); n != 0 {
		t.Errorf("%d responses of the provider were left open", n)
	}
	return e
}

// Start is that of the service, with a context that is the answer's alone.
func (f *fixture) Start(ctx context.Context, caller *auth.Caller, uid string, body []byte) (*chat.Answer, error) {
	q, err := chat.ParseRequest(body)
	if err != nil {
		return nil, err
	}
	q.UID, q.Caller, q.Carries = uid, caller, f.carries
	q.Seal = f.seal
	ctx, cancel := context.WithCancelCause(ctx)
	return f.Service.Start(ctx, cancel, q)
}
