package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestV1Embeddings has workspaces and embedders of indexes make vectors for clients of
// OpenAI's API.
func TestV1Embeddings(t *testing.T) {
	t.Parallel()
	api := openEmbedAPIs(t)
	h := house.Open(t, map[string]string{"allow-private-networks": "127.0.0.1"}, house.Shipped(t, "openai"), house.Shipped(t, "ollama"))
	h.Must("PATCH", "/chats/cloud/settings", `{"source":"openAi","apiKey":"sk-of-the-workspace","baseUrl":"`+api.url+`/v1","models":["gpt-*","small"]}`)
	h.Must("PATCH", "/chats/local/settings", `{"source":"ollama","baseUrl":"`+api.url+`/v1","limits":{"tokens":{"amount":1000,"period":"day"}}}`)
	h.Finish(h.Must("PATCH", "/indexes/films/settings", `{"embedders":{"e":{"source":"openAi","apiKey":"sk-of-the-index","url":"`+api.url+`/v1/embeddings","dimensions":2},"own":{"source":"userProvided","dimensions":2}}}`))
	for _, tt := range []struct{ name, body, sent, want string }{
		{"a text", `{"model":"cloud/small","input":"one"}`, `/v1/embeddings {"input":["one"],"model":"small"}`, `"embedding":[3,1]}],"model":"cloud/small","usage":{"prompt_tokens":1,`},
		{"a list", `{"model":"cloud/small","input":["one","three"],"dimensions":2}`, `/v1/embeddings {"dimensions":2,"input":["one","three"],"model":"small"}`, `"index":1,"embedding":[5,1]`},
		{"base64", `{"model":"cloud/small","input":"one","encoding_format":"base64"}`, `/v1/embeddings {"input":["one"],"model":"small"}`, `"embedding":"AABAQAAAgD8="`},
		{"the plugin's model", `{"model":"local","input":"one"}`, `/api/embed {"input":["one"],"model":"nomic-embed-text"}`, `"embedding":[3,1]`},
		{"an index's embedder", `{"model":"films/e","input":["one"],"dimensions":2,"input_type":"query"}`, `/v1/embeddings {"dimensions":2,"input":["one"],"model":"text-embedding-3-small"}`, `"model":"films/e"`},
	} {
		a := h.Must("POST", "/v1/embeddings", tt.body)
		if seen, _ := api.take(); strings.Join(seen, "\n") != tt.sent {
			t.Errorf("%s: sent %q, want %q", tt.name, seen, tt.sent)
		}
		if !strings.Contains(a.Body, tt.want) {
			t.Errorf("%s: answered %s, want %s in it", tt.name, a.Body, tt.want)
		}
	}
	for _, tt := range []struct {
		name, body  string
		status      int
		code, param string
	}{
		{"tokens", `{"model":"cloud/small","input":[1,2]}`, 400, "invalid_type", "input"},
		{"lists of tokens", `{"model":"cloud/small","input":[[1,2]]}`, 400, "invalid_type", "input"},
		{"an empty text", `{"model":"cloud/small","input":["a",""]}`, 400, "invalid_value", "input"},
		{"no texts", `{"model":"cloud/small","input":[]}`, 400, "invalid_value", "input"},
		{"no input", `{"model":"cloud/small"}`, 400, "missing_required_parameter", "input"},
		{"no model", `{"input":"a"}`, 400, "missing_required_parameter", "model"},
		{"dimensions", `{"model":"cloud/small","input":"a","dimensions":0}`, 400, "invalid_value", "dimensions"},
		{"dimensions of an index", `{"model":"films/e","input":"a","dimensions":3}`, 400, "invalid_value", "dimensions"},
		{"format", `{"model":"cloud/small","input":"a","encoding_format":"int8"}`, 400, "invalid_value", "encoding_format"},
		{"type", `{"model":"cloud/small","input":"a","input_type":"image"}`, 400, "invalid_value", "input_type"},
		{"a model that is not allowed", `{"model":"cloud/large","input":"a"}`, 404, "model_not_found", "model"},
		{"no model where some are allowed", `{"model":"cloud","input":"a"}`, 404, "model_not_found", "model"},
		{"an embedder that makes none", `{"model":"films/own","input":"a"}`, 404, "model_not_found", "model"},
		{"an unknown embedder", `{"model":"films/x","input":"a"}`, 404, "model_not_found", "model"},
		{"an unknown index", `{"model":"x/e","input":"a"}`, 404, "model_not_found", "model"},
		{"other dimensions than asked for", `{"model":"cloud/small","input":"a","dimensions":3}`, 502, "llm_provider_error", ""},
	} {
		a := h.Call("POST", "/v1/embeddings", tt.body)
		var got struct{ Error struct{ Code, Param string } }
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != tt.status || got.Error.Code != tt.code || got.Error.Param != tt.param {
			t.Errorf("%s: answered %d %s, want %d, %q and %q", tt.name, a.Status, a.Body, tt.status, tt.code, tt.param)
		}
	}
	if a := h.Must("GET", "/usage", ""); !strings.Contains(a.Body, `"requests":1,"promptTokens":1,"completionTokens":0`) {
		t.Errorf("usage of the workspace = %s", a.Body)
	}
	h.Must("PATCH", "/chats/local/settings", `{"limits":{"tokens":{"amount":1,"period":"day"}}}`)
	if a := h.Call("POST", "/v1/embeddings", `{"model":"local","input":"one more"}`); a.Status != 429 || !strings.Contains(a.Body, "insufficient_quota") {
		t.Errorf("a spent budget is answered %d %s", a.Status, a.Body)
	}
	h.CheckSecret("sk-of-the-workspace", "gpt-*")
}
