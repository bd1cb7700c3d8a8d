package search_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/auth"
)

// TestChatSearchesAsSet wants every parameter of the setting to hold for the
// searches of a conversation.
func TestChatSearchesAsSet(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["n"],"filterableAttributes":["kind"]}`)
	r.add("a", `[{"id":1,"x":"apple","n":1,"kind":"a"},{"id":2,"x":"apple","n":3,"kind":"b"},{"id":3,"y":"apple","n":2,"kind":"a"}]`)
	for _, tt := range []struct{ parameters, want string }{
		{`{"sort":["n:desc"]}`, "2 1 3"},
		{`{"sort":["n:asc"]}`, "1 2 3"},
		{`{"sort":["n:asc"],"distinct":"kind"}`, "1 2"},
		{`{"attributesToSearchOn":["y"]}`, "3"},
		{`{"attributesToSearchOn":["y","nobody has it"]}`, "3"},
		{`{"attributesToSearchOn":["nobody has it"]}`, ""},
		{`{"attributesToSearchOn":["*"],"limit":1}`, "1"},
	} {
		r.settings("a", `{"chat":{"searchParameters":null}}`)
		r.settings("a", `{"chat":{"searchParameters":`+tt.parameters+`}}`)
		hits, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "apple", "")
		if err != nil {
			t.Errorf("%s: %v", tt.parameters, err)
		}
		var ids []string
		for _, h := range hits {
			ids = append(ids, h.ID)
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s: the chat found %q, want %q", tt.parameters, got, tt.want)
		}
	}
	r.settings("a", `{"embedders":{"e":{"source":"userProvided","dimensions":2}},"chat":{"searchParameters":{"hybrid":{"embedder":"e"}}}}`)
	r.settings("a", `{"chat":{"searchParameters":{"hybrid":{"semanticRatio":0.25}}}}`)
	if got, want := r.setting("a", "chat"), `"hybrid":{"embedder":"e","semanticRatio":0.25}`; !strings.Contains(got, want) {
		t.Errorf("chat %s, want %s in it", got, want)
	}
	r.settings("a", `{"chat":{"searchParameters":{"hybrid":null,"limit":2,"sort":["n:asc"],"distinct":"kind","attributesToSearchOn":["x"]}}}`)
	if got, want := r.setting("a", "chat"), `"searchParameters":{"attributesToSearchOn":["x"],"distinct":"kind","limit":2,"sort":["n:asc"]}`; !strings.Contains(got, want) {
		t.Errorf("chat %s, want %s in it", got, want)
	}
}
