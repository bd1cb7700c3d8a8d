package chat_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

func page(body string) chattest.Script { return chattest.Script{Body: body} }

// listing is a fixture whose source lists models.
func listing(t *testing.T, scripts ...chattest.Script) *fixture {
	t.Helper()
	f := newFixture(t, scripts...)
	f.source.Is.Does = []string{abi.OpChat, abi.OpModels}
	f.patch(t, "demo", `{"baseUrl":"https://llm.example.com","apiKey":"`+demoKey+`","models":["b*"],"defaultModel":null}`)
	return f
}

func TestProviderModels(t *testing.T) {
	f := listing(t,
		page(`{"models":[{"name":"test/b2"},{"name":"test/a"},{"name":"other/x"}],"next":"2"}`),
		page(`{"models":[{"name":"test/b1"},{"name":"test/a"},{"name":"test/x `+demoKey+`"}],"next":""}`))
	got, err := f.ProviderModels(t.Context(), "demo", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []chat.ProviderModel{{ID: "a"}, {ID: "b1", Allowed: true}, {ID: "b2", Allowed: true}, {ID: "x [redacted]"}}
	if got.Source != "test" || len(got.Results) != len(want) {
		t.Fatalf("ProviderModels = %+v, want %+v", got, want)
	}
	for i := range want {
		if i < 3 && got.Results[i] != want[i] || strings.Contains(got.Results[i].ID, demoKey) {
			t.Errorf("model %d = %+v, want %+v", i, got.Results[i], want[i])
		}
	}
	sent := f.upstream.Sent()
	if len(sent) != 2 || sent[0].Encoded.Method != "GET" || !strings.HasSuffix(sent[1].Encoded.URL, "?page=2") || sent[0].Secrets["apiKey"] != demoKey || sent[0].Grants.HTTP[0] != "https://llm.example.com" {
		t.Errorf("sent %+v", sent)
	}
	if n := f.upstream.Open(); n != 0 {
		t.Errorf("%d responses are left open", n)
	}
}

// A provider whose pages never end is asked so often and no more.
func TestProviderModelsBounded(t *testing.T) {
	var scripts []chattest.Script
	for i := range 100 {
		scripts = append(scripts, page(`{"models":[{"name":"test/m"}],"next":"`+strings.Repeat("x", i+1)+`"}`))
	}
	f := listing(t, scripts...)
	if got, err := f.ProviderModels(t.Context(), "demo", nil); err != nil || len(got.Results) != 1 || len(f.upstream.Sent()) != 20 {
		t.Errorf("ProviderModels = %+v, %v after %d requests, want one model after 20", got, err, len(f.upstream.Sent()))
	}
	f = listing(t, page(`{"models":[{"name":"test/m"}],"next":"same"}`))
	if _, err := f.ProviderModels(t.Context(), "demo", nil); err != nil || len(f.upstream.Sent()) != 2 {
		t.Errorf("a page that leads to itself: %v after %d requests, want 2", err, len(f.upstream.Sent()))
	}
}

func TestProviderModelsFails(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script chattest.Script
		code   apierr.Code
		says   string
		sent   int
	}{
		{"refused key", chattest.Script{Status: 401, Head: http.Header{"X-Kind": {"auth"}}, Body: "no " + demoKey}, chaterr.LLMProviderUnauthorized, "did not accept", 1},
		{"no such route", chattest.Script{Status: 404, Head: http.Header{"X-Kind": {"not_found"}}, Body: "404"}, chaterr.LLMProviderRejectedRequest, "404", 1},
		{"nobody there", chattest.Script{Err: &outbound.Error{Kind: outbound.Connect, Message: "nobody listens", Retryable: true}}, chaterr.LLMProviderError, "nobody listens", 2},
		{"no list", page(`{"object":"page of ` + demoKey + `"}`), chaterr.LLMProviderError, "has nothing at `models`", 1},
		{"cut off", page(`{"models":[{"na`), chaterr.LLMProviderError, "is not JSON", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := listing(t, tt.script)
			_, err := f.ProviderModels(t.Context(), "demo", nil)
			e, ok := errors.AsType[*apierr.Error](err)
			if !ok || e.Code != tt.code || !strings.Contains(e.Message, tt.says) || strings.Contains(e.Error(), demoKey) {
				t.Errorf("error %v, want %s with %q and without the key", err, tt.code, tt.says)
			}
			if n := len(f.upstream.Sent()); n != tt.sent || f.upstream.Open() != 0 {
				t.Errorf("%d requests, %d open; want %d and none", n, f.upstream.Open(), tt.sent)
			}
		})
	}
}

// What a workspace lacks is told before anything is sent.
func TestProviderModelsRefused(t *testing.T) {
	f := listing(t, page(`{"models":[]}`))
	f.patch(t, "bare", `{"source":"test"}`)
	if _, err := f.ProviderModels(t.Context(), "bare", nil); !apierr.Is(err, chaterr.MissingChatAPIKey) {
		t.Errorf("without a key: %v", err)
	}
	if _, err := f.ProviderModels(t.Context(), "demo", []byte(`{"baseUrl":"https://elsewhere.example/v1"}`)); !apierr.Is(err, chaterr.MissingChatAPIKey) {
		t.Errorf("elsewhere, without a key sent along: %v", err)
	}
	if _, err := f.ProviderModels(t.Context(), "nope", nil); !apierr.Is(err, chaterr.ChatNotFound) {
		t.Errorf("no workspace: %v", err)
	}
	f.source.EncodeErr = &provider.CallError{Kind: provider.Declared, Code: abi.CodeRefused, Message: "`region` is not set"}
	if _, err := f.ProviderModels(t.Context(), "demo", nil); !apierr.Is(err, chaterr.LLMProviderRejectedRequest) || !strings.Contains(err.Error(), "`region` is not set") {
		t.Errorf("a plugin that refuses: %v", err)
	}
	f.source.Is.Does = nil
	if _, err := f.ProviderModels(t.Context(), "demo", nil); !apierr.Is(err, chaterr.ChatModelsUnimplemented) {
		t.Errorf("a plugin that lists none: %v", err)
	}
	if n := len(f.upstream.Sent()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
