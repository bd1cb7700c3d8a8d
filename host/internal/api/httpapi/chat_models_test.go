package httpapi_test

import (
	"slices"
	"testing"

	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// TestListProviderModels asks a provider for its models, and has a test of a
// workspace tell the nearest one.
func TestListProviderModels(t *testing.T) {
	t.Parallel()
	list := chattest.Script{Body: `{"models":[{"name":"test/gpt-4.1-mini"},{"name":"test/gpt-4.1"}],"next":null}`}
	unknown := chattest.Script{Status: 404, Head: chattest.Head("X-Kind", "not_found"), Body: "The model `gpt-4.1-mni` does not exist"}
	failures := []chattest.Script{
		{Status: 500, Body: "oops " + demoKey},
		{Status: 429, Head: chattest.Head("X-Kind", "rate_limit")},
		{Err: &outbound.Error{Kind: outbound.Timeout, Message: "nothing came"}},
	}
	r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: slices.Concat([]chattest.Script{list, unknown, list, list}, failures, failures)}})
	reader := "Bearer " + r.key([]string{"chatsSettings.get"}, []string{"*"})
	chats := "Bearer " + r.key([]string{"chatCompletions", "search"}, []string{"*"})
	r.do("PATCH", "/chats/shop/settings", `{"source":"openAi","apiKey":"`+demoKey+`","models":["*mini"]}`)
	r.play(t, []scenario{
		{name: "lists", method: "GET", path: "/chats/shop/models", header: []string{"Authorization", reader}, status: 200, contains: []string{`{"source":"openAi","results":[{"id":"gpt-4.1","allowed":false},{"id":"gpt-4.1-mini","allowed":true}]}`}},
		{name: "near", method: "POST", path: "/chats/shop/test", body: `{"model":"gpt-4.1-mni-mini"}`, status: 200, contains: []string{`"problem":"model"`, "Did you mean `gpt-4.1-mini`?"}},
		{name: "of what is not stored", method: "POST", path: "/chats/new/models", body: `{"source":"openAi","apiKey":"` + demoKey + `","models":["*4.1"]}`, status: 200, contains: []string{`"id":"gpt-4.1","allowed":true`}},
		{name: "nothing was stored", method: "GET", path: "/chats/new/settings", status: 404, code: "chat_not_found"},
		{name: "wrong settings", method: "POST", path: "/chats/new/models", body: `{"baseUrl":7}`, status: 400, code: "invalid_chat_completion_base_api"},
		{name: "another right", method: "POST", path: "/chats/shop/models", body: `{}`, header: []string{"Authorization", reader}, status: 403, code: "invalid_api_key"},
		{name: "fails", method: "GET", path: "/chats/shop/models", status: 502, code: "llm_provider_error"},
		{name: "too often", method: "GET", path: "/chats/shop/models", status: 429, code: "llm_provider_rate_limited"},
		{name: "silent", method: "GET", path: "/chats/shop/models", status: 504, code: "llm_provider_timeout"},
		{name: "no workspace", method: "GET", path: "/chats/nope/models", status: 404, code: "chat_not_found"},
		{name: "no plugin", method: "GET", path: "/chats/orphan/models", status: 503, code: "chat_provider_unavailable"},
		{name: "fails, as it is stored", method: "POST", path: "/chats/shop/models", status: 502, code: "llm_provider_error"},
		{name: "too often, as it is stored", method: "POST", path: "/chats/shop/models", status: 429, code: "llm_provider_rate_limited"},
		{name: "silent, as it is stored", method: "POST", path: "/chats/shop/models", status: 504, code: "llm_provider_timeout"},
		{name: "no workspace, as it is stored", method: "POST", path: "/chats/nope/models", status: 404, code: "chat_not_found"},
		{name: "no plugin, as it is stored", method: "POST", path: "/chats/orphan/models", status: 503, code: "chat_provider_unavailable"},
		{name: "no list, as it is stored", method: "POST", path: "/chats/demo/models", status: 501, code: "unimplemented_chat_models"},
		{name: "a front end's key", method: "GET", path: "/chats/shop/models", header: []string{"Authorization", chats}, status: 403, code: "invalid_api_key", contains: []string{"chatsSettings.get"}},
	})
}
