package search_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// part is this embedder as one of a composite's two.
func (e *embedderAPI) part(more string) string {
	return fmt.Sprintf(`{"source":"rest","url":%q,"request":{"input":["{{text}}","{{..}}"]},"response":{"data":[{"embedding":"{{embedding}}"},"{{..}}"]}%s}`, e.url, more)
}

// composite are settings of the embedder api, made of two.
func composite(searching, indexing string) string {
	return `{"embedders":{"api":{"source":"composite","searchEmbedder":` + searching + `,"indexingEmbedder":` + indexing + `}}}`
}

const ofText = `,"documentTemplate":"{{doc.text}}"`

// TestCompositeEmbedder has documents embedded by the one and queries by the
// other, and the documents anew only where theirs changed.
func TestCompositeEmbedder(t *testing.T) {
	r, queries, docs := newRig(t), newEmbedder(t), newEmbedder(t)
	asked := func(what, ofDocs, ofQueries string) {
		t.Helper()
		if d, q := docs.texts(), queries.texts(); d != ofDocs || q != ofQueries {
			t.Errorf("%s: the documents' embedder was asked about %q, that of queries about %q; want %q and %q", what, d, q, ofDocs, ofQueries)
		}
	}
	one := 1.0
	sea := search.Query{Q: "sea", Hybrid: &settings.Hybrid{Embedder: "api", SemanticRatio: &one}}
	r.settings("a", docs.settings("")) // one embedder for all
	r.add("a", `[{"id":1,"text":"sea"},{"id":2,"text":"war"},{"id":3,"text":"sea war"}]`)
	asked("one embedder", "sea|war|sea war", "")
	r.settings("a", `{"embedders":{"api":{"source":"composite","url":null,"request":null,"response":null,"documentTemplate":null,`+
		`"searchEmbedder":`+queries.part("")+`,"indexingEmbedder":`+docs.part(ofText)+`}}}`)
	asked("the same one for documents alone", "", "")
	if got := r.ids("a", sea); got != "1 3 2" {
		t.Errorf("hits %s, want 1 3 2", got)
	}
	asked("a search", "", "sea")
	r.add("a", `{"id":2,"text":"sea sea"}`)
	asked("a document", "sea sea", "")
	r.wantVectors("a", "2", `{"api":{"embeddings":[[2,0]],"regenerate":true}}`)

	// The chat's searches go the same way.
	r.settings("a", `{"chat":{"searchParameters":{"limit":1,"hybrid":{"embedder":"api","semanticRatio":1}}}}`)
	found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "sea war", "")
	hits := found.Hits
	if err != nil || len(hits) != 1 || hits[0].ID != "3" {
		t.Errorf("ChatSearch = %v, %v; want the document 3", hits, err)
	}
	asked("a chat", "", "sea war")

	r.settings("a", `{"embedders":{"api":{"searchEmbedder":{"headers":{"X-A":"b"}}}}}`)
	asked("another way to ask about queries", "", "")
	r.reopen()
	if got := r.ids("a", sea); got != "1 2 3" {
		t.Errorf("after a restart hits %s, want 1 2 3", got)
	}
	asked("a search after a restart", "", "sea")
	r.settings("a", `{"embedders":{"api":{"indexingEmbedder":{"documentTemplate":"war {{doc.text}}"}}}}`)
	asked("another template", "war sea|war sea sea|war sea war", "")

	// Vectors that are not as long as the documents'.
	queries.mu.Lock()
	queries.dims = 1
	queries.mu.Unlock()
	_, err = r.svc.Search(context.Background(), auth.Everyone(), "a", sea)
	wantCode(t, "a query of three numbers among documents of two", err, indexerr.VectorEmbeddingError)
	if !strings.Contains(fmt.Sprint(err), "`api.searchEmbedder`: the answer has vectors of 3 numbers; expected 2") {
		t.Errorf("a query of three numbers: %v", err)
	}
}

// TestCompositeShown wants settings that a client can send back as they are.
func TestCompositeShown(t *testing.T) {
	r := newRig(t)
	part := `{"source":"rest","url":"http://127.0.0.1:9/","request":{"i":"{{text}}"},"response":"{{embedding}}"`
	r.settings("a", composite(part+`,"dimensions":3}`, part+`,"documentTemplateMaxBytes":90}`))
	want := `{"api":{` +
		`"indexingEmbedder":{"apiKey":null,"dimensions":null,"documentTemplate":null,"documentTemplateMaxBytes":90,"headers":{},"request":{"i":"{{text}}"},"response":"{{embedding}}","source":"rest","url":"http://127.0.0.1:9/"},` +
		`"searchEmbedder":{"apiKey":null,"dimensions":3,"headers":{},"request":{"i":"{{text}}"},"response":"{{embedding}}","source":"rest","url":"http://127.0.0.1:9/"},"source":"composite"}}`
	if got := r.setting("a", "embedders"); got != want {
		t.Errorf("embedders %s, want %s", got, want)
	}
	r.settings("a", `{"embedders":`+want+`}`)
	r.reopen()
	if got := r.setting("a", "embedders"); got != want {
		t.Errorf("sent back and after a restart: %s, want %s", got, want)
	}
	r.settings("a", `{"embedders":{"api":null}}`)
	if got := r.setting("a", "embedders"); got != "{}" {
		t.Errorf("taken out: %s", got)
	}
}

func TestCompositeRefused(t *testing.T) {
	r := newRig(t)
	rest := newEmbedder(t).part("")
	with := func(fields string) string { return strings.TrimSuffix(rest, "}") + `,` + fields + `}` }
	for _, tt := range []struct{ body, says string }{
		{composite(`{"source":"userProvided","dimensions":2}`, rest), "`embedders.api.searchEmbedder.source` must be \"openAi\" or \"ollama\" or \"rest\", but is \"userProvided\""},
		{composite(rest, `{"source":"composite"}`), "`embedders.api.indexingEmbedder.source` must be \"openAi\" or \"ollama\" or \"rest\""},
		{composite(rest, with(`"searchEmbedder":null`)), "`embedders.api.indexingEmbedder.searchEmbedder`"},
		{composite(with(`"documentTemplate":"x"`), rest), "`embedders.api.searchEmbedder.documentTemplate`"},
		{composite(with(`"binaryQuantized":true`), rest), "`embedders.api.searchEmbedder.binaryQuantized`"},
		{composite(rest, with(`"distribution":null`)), "`embedders.api.indexingEmbedder.distribution`"},
		{composite(rest, with(`"apiKey":"skXXXX..."`)), "`embedders.api.indexingEmbedder.apiKey` is a key as it is shown"},
		{composite(rest, with(`"dimensions":0`)), "`embedders.api.indexingEmbedder.dimensions` must be a whole number"},
		{composite(rest, `7`), "`embedders.api.indexingEmbedder` must be an object"},
	} {
		_, err := r.svc.UpdateSettings("a", []byte(tt.body))
		wantCode(t, tt.body, err, indexerr.InvalidSettingsEmbedders)
		if !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v does not say %s", tt.body, err, tt.says)
		}
	}
	for _, tt := range []struct{ body, says string }{
		{composite("null", rest), "`embedders.api.searchEmbedder` is missing"},
		{composite(rest, "null"), "`embedders.api.indexingEmbedder` is missing"},
		{composite(rest, `{}`), "`embedders.api.indexingEmbedder.source` is missing"},
		{composite(rest, `{"source":"rest"}`), "`embedders.api.indexingEmbedder.url` is missing"},
		{composite(with(`"dimensions":2`), with(`"dimensions":3`)), "`embedders.api.searchEmbedder.dimensions` is 2, but `embedders.api.indexingEmbedder.dimensions` is 3"},
		{strings.Replace(composite(rest, rest), `"composite"`, `"composite","dimensions":2`, 1), "`embedders.api.dimensions` is not for the source \"composite\""},
		{strings.Replace(composite(rest, rest), `"composite"`, `"composite","documentTemplateMaxBytes":2`, 1), "`embedders.api.documentTemplateMaxBytes` is not for the source"},
		{strings.Replace(composite(rest, rest), `"composite"`, `"userProvided","dimensions":2`, 1), "`embedders.api.searchEmbedder` is not for the source \"userProvided\""},
		{`{"embedders":{"api":` + with(`"indexingEmbedder":`+rest) + `}}`, "`embedders.api.indexingEmbedder` is not for the source \"rest\""},
	} {
		got := r.run(r.svc.UpdateSettings("a", []byte(tt.body)))
		if got.Status != task.Failed || got.Error.Code != indexerr.InvalidSettingsEmbedders.String() || !strings.Contains(got.Error.Message, tt.says) {
			t.Errorf("%s: task %s, %+v; want it failed and to say %s", tt.body, got.Status, got.Error, tt.says)
		}
	}
}

// TestCompositeFeature refuses what needs the feature while it is off, and lets
// what was set before go on.
func TestCompositeFeature(t *testing.T) {
	r, queries, docs := newRig(t), newEmbedder(t), newEmbedder(t)
	r.settings("a", composite(queries.part(""), docs.part(ofText)))
	r.close()
	r.plain = true
	r.open()
	for _, body := range []string{composite(queries.part(""), docs.part("")), `{"embedders":{"api":{"searchEmbedder":{"headers":null}}}}`} {
		_, err := r.svc.UpdateSettings("a", []byte(body))
		wantCode(t, body, err, apierr.FeatureNotEnabled)
		if want := "`embedders.api` with the source \"composite\" needs the feature `compositeEmbedders`, which is off: switch it on by PATCH /experimental-features"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
	r.add("a", `[{"id":1,"text":"sea"}]`)
	r.search("a", search.Query{Q: "war", Hybrid: &settings.Hybrid{Embedder: "api"}})
	if d, q := docs.texts(), queries.texts(); d != "sea" || q != "war" {
		t.Errorf("with the feature off the embedders were asked about %q and %q, want sea and war", d, q)
	}
	r.settings("a", `{"embedders":null}`)
}

// TestCompositeKeys wants both keys sealed, each kept with its own place and
// not given to another host.
func TestCompositeKeys(t *testing.T) {
	r, e := newRig(t), newEmbedder(t)
	keyed := func(key string) string { return fmt.Sprintf(`,"apiKey":%q`, key) }
	const searchKey, indexKey = "search-key-0123456789", "index-key-0123456789"
	n, err := r.svc.UpdateSettings("a", []byte(composite(e.part(keyed(searchKey)), e.part(keyed(indexKey)))))
	done := r.ok(n, err)
	for _, key := range []string{searchKey, indexKey} {
		if bytes.Contains(n.Payload, []byte(key)) || bytes.Contains(done.Details, []byte(key)) || strings.Contains(r.setting("a", "embedders"), key) {
			t.Errorf("the key %s is in a task or in the settings", key)
		}
	}
	open := func() string {
		t.Helper()
		api := mustSettings(t, r, "a").Embedders["api"]
		of, err := api.Searching.Key.Open(r.sealer)
		if err != nil {
			t.Fatal(err)
		}
		with, err := api.Indexing.Key.Open(r.sealer)
		if err != nil {
			t.Fatal(err)
		}
		return of.Reveal() + " " + with.Reveal()
	}
	want := func(what, want string) {
		t.Helper()
		if got := open(); got != want {
			t.Errorf("%s: keys %q, want %q", what, got, want)
		}
	}
	want("set", searchKey+" "+indexKey)
	shown := r.setting("a", "embedders")
	r.settings("a", `{"embedders":`+shown+`}`)
	r.reopen()
	want("sent back as shown, and after a restart", searchKey+" "+indexKey)
	list, err := r.svc.ExportIndexes()
	if err != nil || strings.Join(list[0].Keyless, " ") != "api.searchEmbedder api.indexingEmbedder" || bytes.Contains(list[0].Settings, []byte("XXX...")) {
		t.Errorf("ExportIndexes = %s, %v, %v; want no key, and both named", list[0].Settings, list[0].Keyless, err)
	}
	want("after an export", searchKey+" "+indexKey)
	r.settings("a", `{"embedders":{"api":{"indexingEmbedder":{"url":"http://other.example/"}}}}`)
	want("one to another host", searchKey+" ")
	r.settings("a", `{"embedders":{"api":{"searchEmbedder":{"apiKey":null}}}}`)
	want("taken out", " ")
}

// TestChatEmbedsAsAsked: a search of whole documents orders the words of a question for its search by words, and has
// the question embedded as it was asked.
func TestChatEmbedsAsAsked(t *testing.T) {
	r, e := newRig(t), newEmbedder(t)
	r.settings("a", e.settings(""))
	r.add("a", `[{"id":1,"text":"sea"},{"id":2,"text":"war"}]`)
	r.settings("a", `{"chat":{"documentTemplate":"{{doc.text}}","searchParameters":{"hybrid":{"embedder":"api","semanticRatio":1}}}}`)
	e.texts()
	const question = "Which war was at the Black sea?"
	if _, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", question, ""); err != nil {
		t.Fatal(err)
	}
	if got := e.texts(); got != question {
		t.Errorf("embedded %q, want %q", got, question)
	}
}
