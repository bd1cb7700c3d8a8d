package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/credential"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/sdk/plugintest"
)

// TestCorpus sends recorded responses the whole way that a user's answer goes:
// HTTP, framing, the built module in its sandbox, rendering. What a client has
// at the end must be what was recorded. Cases are the recordings, where they
// are, and those that lie beside each plugin.
func TestCorpus(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	for _, tt := range []struct{ plugin, source, corpus string }{
		{"openai", "openAi", "openAi"},
		{"openai", "openAi", "other"},
		{"vllm", "vLlm", "vLlm"},
		{"vllm", "vLlm", "other"},
	} {
		t.Run(tt.source+"/"+tt.corpus, func(t *testing.T) {
			cases, err := plugintest.ReadCorpus(tt.corpus)
			if err != nil {
				t.Logf("recordings skipped: %v", err)
			}
			own, err := response.ReadCases(filepath.Join(house.Repository(t), "plugins", "provider", tt.plugin, "testdata"))
			if err != nil {
				t.Fatal(err)
			}
			// Lists are no answers: TestReplayCorpus and the plugins' own tests read those.
			own = slices.DeleteFunc(own, func(c response.Case) bool { return c.Kind == response.KindList })
			if cases = append(cases, own...); len(cases) == 0 {
				t.Fatal("no cases at all")
			}
			w := newWay(t, tt.plugin, tt.source)
			passed := 0
			for _, c := range cases {
				if t.Run(c.Name, func(t *testing.T) { w.check(t, c) }) {
					passed++
				}
			}
			t.Logf("%s through %s: %d of %d", tt.corpus, tt.source, passed, len(cases))
		})
	}
}

// A way is everything between a provider and a client, but the HTTP server.
type way struct {
	chat     *chat.Service
	provider *plugin.Provider
	serve    *response.Case // what the provider answers
}

func newWay(t *testing.T, name, source string) *way {
	t.Helper()
	w := &way{}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for name, value := range w.serve.Headers {
			if n := strings.ToLower(name); n == "content-type" || strings.HasPrefix(n, "retry-after") || strings.HasPrefix(n, "x-") {
				rw.Header().Set(name, value)
			}
		}
		rw.WriteHeader(w.serve.Status)
		rw.Write(w.serve.Body)
	}))
	t.Cleanup(srv.Close)

	settings := fmt.Sprintf(`{"source":%q,"baseUrl":"%s/v1","apiKey":"sk-test-of-the-corpus"}`, source, srv.URL)
	w.chat, w.provider = newChat(t, house.Shipped(t, name), name, upstream.New(upstream.Options{Private: upstream.AnyPrivate(), Signer: credential.New(credential.Options{Transport: http.DefaultTransport})}), settings)
	return w
}

// newChat is a chat service with one plugin and a workspace w.
func newChat(t *testing.T, module []byte, name string, up outbound.Sender, settings string) (*chat.Service, *plugin.Provider) {
	t.Helper()
	runtime, err := wasm.Open(wasm.Options{CacheDir: house.CompiledModules(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.Close() })
	set := plugin.NewSet(runtime, plugin.Options{})
	t.Cleanup(func() { set.Close() })
	provider, err := set.Add(t.Context(), module, name)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	found, err := search.Open(search.Options{Dir: t.TempDir(), DB: db, Bodies: db})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { found.Close() })
	sealer, err := store.OpenSealer(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	chats := chat.New(chat.Deps{Workspaces: db.Workspaces(sealer), Sources: set, Upstream: up, Searcher: found})
	if _, _, err := chats.Patch(t.Context(), "w", []byte(settings)); err != nil {
		t.Fatal(err)
	}
	return chats, provider
}

// check sends one case the whole way. A client that got an error before the
// first event sees a status; all others see a stream.
func (w *way) check(t *testing.T, c response.Case) {
	// The host's own function would be run, not passed on.
	c.Body = bytes.ReplaceAll(c.Body, []byte("searchInIndex"), []byte("findInIndex"))
	c.Expected = bytes.ReplaceAll(c.Expected, []byte("searchInIndex"), []byte("findInIndex"))
	w.serve = &c
	var want map[string]any
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	q, err := chat.ParseRequest(request(t, want))
	if err != nil {
		t.Fatal(err)
	}
	q.UID, q.Caller = "w", auth.Everyone()
	answer, err := w.chat.Start(ctx, cancel, q)
	if c.Kind == "error" {
		w.checkError(t, c, want, err)
		return
	}
	if err != nil {
		if want["error"] == nil {
			t.Fatalf("Start: %v, want a stream", err)
		}
		return
	}
	var out house.Frames
	if err := answer.WriteTo(openai.NewChunks(&out, false)); err != nil {
		t.Fatalf("WriteTo: %v", err)
	}
	got := out.Aggregate(t)
	if want["error"] != nil {
		if got["error"] == nil {
			t.Errorf("stream ended without an error, want %v", want["error"])
		}
		return
	}
	for _, key := range []string{"text", "reasoning", "refusal", "tool_calls", "finish_reason", "usage", "error"} {
		value := want[key]
		if key == "usage" {
			value = house.Counts(value)
		}
		if key == "tool_calls" && value == nil {
			value = []any{}
		}
		if !reflect.DeepEqual(orEmpty(got[key]), orEmpty(value)) {
			t.Errorf("%s = %#v, want %#v", key, got[key], value)
		}
	}
}

// request is what a client sends that knows the functions which the recorded
// answer calls.
func request(t *testing.T, want map[string]any) []byte {
	t.Helper()
	tools := []any{}
	calls, _ := want["tool_calls"].([]any)
	for _, c := range calls {
		name := c.(map[string]any)["name"]
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": name}})
	}
	body := map[string]any{
		"model": "m", "messages": []any{map[string]any{"role": "user", "content": "hi"}},
		"stream_options": map[string]any{"include_usage": true},
	}
	if len(tools) > 0 {
		body["tools"] = tools
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkError compares what the plugin made of a response that is not a success,
// and the status that the client sees.
func (w *way) checkError(t *testing.T, c response.Case, want map[string]any, err error) {
	headers := map[string]string{}
	for name, value := range c.Headers {
		headers[strings.ToLower(name)] = value
	}
	e, perr := w.provider.Error(t.Context(), &abi.ErrorRequest{Status: c.Status, Headers: headers, Body: string(c.Body)})
	if perr != nil {
		t.Fatal(perr)
	}
	got := map[string]any{"status": float64(c.Status), "kind": e.Kind, "message": e.Message, "retry_after_ms": nil}
	if e.RetryAfterMS > 0 {
		got["retry_after_ms"] = float64(e.RetryAfterMS)
	}
	if want["message"] == nil {
		want["message"] = e.Message // a sentence of ours, where the provider gave none
	}
	for _, key := range []string{"status", "kind", "message", "retry_after_ms"} {
		if !reflect.DeepEqual(orEmpty(got[key]), orEmpty(want[key])) {
			t.Errorf("%s = %v, want %v", key, got[key], want[key])
		}
	}
	status := map[int]apierr.Code{
		400: chaterr.LLMProviderRejectedRequest, 404: chaterr.LLMProviderRejectedRequest, 422: chaterr.LLMProviderRejectedRequest,
		401: chaterr.LLMProviderUnauthorized, 403: chaterr.LLMProviderUnauthorized, 429: chaterr.LLMProviderRateLimited,
	}
	code, ok := status[c.Status]
	if !ok {
		code = chaterr.LLMProviderError
	}
	if !apierr.Is(err, code) {
		t.Errorf("Start: %v, want code %s", err, code)
	}
}

// orEmpty makes no value and an empty text the same.
func orEmpty(v any) any {
	if v == "" {
		return nil
	}
	return v
}
