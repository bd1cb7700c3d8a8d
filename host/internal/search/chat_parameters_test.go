package search_test

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
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
		found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "apple", "")
		hits := found.Hits
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
// embedder makes, and by words where it makes none.
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
	found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "the sea", "")
	hits := found.Hits
	if err != nil || len(hits) != 2 || hits[0].ID != "2" || e.texts() != "the sea" {
		t.Errorf("the chat found %+v, %v", hits, err)
	}
	r.settings("a", `{"embedders":{"own":{"source":"userProvided","dimensions":2}},"chat":{"searchParameters":{"hybrid":{"embedder":"own","semanticRatio":0.5}}}}`)
	found, err = r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "the sea", "")
	if err != nil || len(found.Hits) == 0 || found.Hits[0].ID != "2" {
		t.Errorf("with an embedder that takes vectors only the chat found %+v, %v", found.Hits, err)
	}
}

// TestChatSettingsAlone wants parameters of the chat's searches to be set before
// the settings that they need; a search says what is missing.
func TestChatSettingsAlone(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"chat":{"searchParameters":{"sort":["n:asc"],"distinct":"kind","attributesToSearchOn":["x"],"hybrid":{"embedder":"api"}}}}`)
	r.add("a", `{"id":1,"x":"apple","n":1}`)
	_, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "apple", "")
	if e := apierr.From(err); err == nil || e.Code.Status() != 400 {
		t.Errorf("search by what is not set: %v, want a mistake that is named", err)
	}
	r.settings("a", `{"sortableAttributes":["n"],"filterableAttributes":["kind"],"chat":{"searchParameters":{"hybrid":null}}}`)
	if found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "apple", ""); err != nil || len(found.Hits) != 1 {
		t.Errorf("the chat found %+v, %v", found.Hits, err)
	}
}
