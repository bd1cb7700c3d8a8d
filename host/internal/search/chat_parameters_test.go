package search_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
)

// TestChatSearchesAsSet wants every parameter of the setting to hold for the
// searches of a conversation.
func TestChatSearchesAsSet(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"sortableAttributes":["n"],"filterableAttributes":["kind"]}`)
	r.add("a", `[{"id":1,"x":"apple","n":1,"kind":"a"},{"id":2,"x":"apple","n":3,"kind":"b"},{"id":3,"y":"apple","n":2,"kind":"a"}]`)
	for _, tt := range []struct{ parameters, want string }{
		{`{"sort":["n:desc"]}`, "2 3 1"},
		{`{"sort":["n:asc"]}`, "1 3 2"},
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
	r.settings("a", `{"chat":{"searchParameters":{"hybrid":null,"limit":2,"sort":["n:asc"],"distinct":"kind","attributesToSearchOn":["x"]}}}`)
	if got, want := r.setting("a", "chat"), `"searchParameters":{"attributesToSearchOn":["x"],"distinct":"kind","limit":2,"sort":["n:asc"]}`; !strings.Contains(got, want) {
		t.Errorf("chat %s, want %s in it", got, want)
	}
}

// TestChatByMeaning wants a conversation to search by the vectors that an
// embedder makes, and no embedder there that makes none.
func TestChatByMeaning(t *testing.T) {
	r := newRig(t)
	e := newEmbedder(t)
	r.settings("a", e.settings(""))
	r.settings("a", `{"chat":{"searchParameters":{"hybrid":{"embedder":"api"}}}}`)
	r.settings("a", `{"chat":{"searchParameters":{"hybrid":{"semanticRatio":1}}}}`)
	if got, want := r.setting("a", "chat"), `"hybrid":{"embedder":"api","semanticRatio":1}`; !strings.Contains(got, want) {
		t.Errorf("chat %s, want %s in it", got, want)
	}
	r.add("a", `[{"id":1,"text":"war"},{"id":2,"text":"sea"}]`)
	e.texts()
	hits, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "the sea", "")
	if err != nil || len(hits) != 2 || hits[0].ID != "2" || e.texts() != "the sea" {
		t.Errorf("the chat found %+v, %v", hits, err)
	}
	for name, body := range map[string]string{
		"an embedder that takes vectors only": `{"embedders":{"own":{"source":"userProvided","dimensions":2}},"chat":{"searchParameters":{"hybrid":{"embedder":"own"}}}}`,
		"the chat's embedder, changed to one": `{"embedders":{"api":{"source":"userProvided","dimensions":2,"url":null,"request":null,"response":null,"documentTemplate":null}}}`,
	} {
		done := r.run(r.svc.UpdateSettings("a", []byte(body)))
		if done.Error == nil || done.Error.Code != apierr.InvalidSettingsIndexChat.String() || !strings.Contains(done.Error.Message, "`userProvided` makes no vectors") {
			t.Errorf("%s: %+v", name, done.Error)
		}
	}
	if got := r.setting("a", "embedders"); !strings.Contains(got, `"source":"rest"`) || strings.Contains(got, "own") {
		t.Errorf("a refused change left embedders %s", got)
	}
	r.settings("a", `{"embedders":{"api":{"source":"userProvided","dimensions":2,"url":null,"request":null,"response":null,"documentTemplate":null}},"chat":{"searchParameters":{"hybrid":null}}}`)
}
