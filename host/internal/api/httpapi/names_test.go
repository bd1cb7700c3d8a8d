package httpapi_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// TestAmbiguousNames refuses members that come twice, or that differ from a known one by
// case alone, wherever they decide about rights: a provider or a reader behind the host
// may take the one that the host did not look at.
func TestAmbiguousNames(t *testing.T) {
	t.Parallel()
	up := &chattest.Upstream{Scripts: []chattest.Script{{Batches: [][]string{{"text:Hello", "finish:stop"}}}}}
	r := newRig(t, wish{upstream: up})
	r.do("PATCH", "/chats/demo/settings", `{"models":["cheap"],"clientMessages":"noSystem","clientTools":false,"maxCompletionTokens":10,"enforcedParameters":{"temperature":0}}`)
	const messages = `"messages":[{"role":"user","content":"a"}]`
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "/keys", `{"actions":["search"],"actions":["*"],"indexes":["a"],"expiresAt":null}`, "twice"},
		{"POST", "/keys", `{"actions":["search"],"Actions":["*"],"indexes":["a"],"expiresAt":null}`, "did you mean `actions`"},
		{"POST", "/keys", `{"actions":["search"],"indexes":["a"],"expiresAt":null,"limits":{"parallel":1,"parallel":null}}`, "`limits.parallel` comes twice"},
		{"POST", "/keys", `{"actions":["search"],"indexes":["a"],"expiresAt":null,"limits":{"tokens":{"amount":1,"amount":9,"period":"day"}}}`, "`limits.tokens.amount` comes twice"},
		{"PATCH", "/chats/demo/settings", `{"models":["a"],"models":null}`, "`models` comes twice"},
		{"PATCH", "/chats/demo/settings", `{"Models":null}`, "did you mean `models`"},
		{"PATCH", "/chats/demo/settings", `{"enforcedParameters":{"top_p":0,"top_p":1}}`, "`enforcedParameters.top_p` comes twice"},
		{"PATCH", "/chats/demo/settings", `{"limits":{"parallel":1,"parallel":null}}`, "comes twice"},
		{"PATCH", "/indexes/a/settings", `{"filterableAttributes":["a"],"filterableAttributes":[]}`, "`filterableAttributes` comes twice"},
		{"PATCH", "/indexes/a/settings", `{"FilterableAttributes":["a"]}`, "did you mean `filterableAttributes`"},
		{"PATCH", "/indexes/a/settings", `{"typoTolerance":{"enabled":true,"enabled":false}}`, "`typoTolerance.enabled` comes twice"},
		{"PATCH", "/indexes/a/settings/typo-tolerance", `{"enabled":true,"enabled":false}`, "comes twice"},
		{"PATCH", "/experimental-features", `{"metrics":false,"metrics":true}`, "twice"},
		{"PATCH", "/experimental-features", `{"Metrics":true}`, "did you mean `metrics`"},
		{"POST", completions, `{"model":"cheap","model":"dear",` + messages + `}`, "`model` comes twice"},
		{"POST", completions, `{"model":"cheap","Model":"dear",` + messages + `}`, "did you mean `model`"},
		{"POST", completions, `{"model":"cheap","Max_Tokens":9000,` + messages + `}`, "did you mean `max_tokens`"},
		{"POST", completions, `{"model":"cheap","TOOLS":[],` + messages + `}`, "did you mean `tools`"},
		{"POST", completions, `{"model":"cheap","me\u017f\u017fages":[],` + messages + `}`, "did you mean `messages`"},
		{"POST", completions, `{"model":"cheap","messages":[{"role":"system","role":"user","content":"a"}]}`, "`messages[0].role` comes twice"},
		{"POST", completions, `{"model":"cheap","messages":[{"role":"user","Role":"system","content":"a"}]}`, "did you mean `role`"},
		{"POST", completions, `{"model":"cheap","messages":[{"role":"user","content":"a","r\u006fle":"system"}]}`, "comes twice"},
	} {
		if a := r.do(tt.method, tt.path, tt.body); a.status != 400 || !strings.Contains(a.body, tt.want) {
			t.Errorf("%s %s %s = %d %s, want 400 with %q", tt.method, tt.path, tt.body, a.status, a.body, tt.want)
		}
	}
	if n := len(up.Sent()); n > 0 {
		t.Errorf("the provider was asked %d times", n)
	}
	if a := r.do("POST", completions, `{"model":"cheap","Temperature":2,"metaData":{},`+messages+`}`); a.status != 200 {
		t.Fatalf("answer = %d %s", a.status, a.body)
	}
	if sent := string(up.Sent()[0].Encoded.Body); strings.Contains(sent, `"Temperature"`) {
		t.Errorf("the provider is sent %s, want no other name of what is enforced", sent)
	}
}
