package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// A fragmentAPI makes a vector of whatever JSON it is sent: how many times it
// has "sea" and "war" in it. It notes what it was sent.
type fragmentAPI struct {
	url   string
	mu    sync.Mutex
	asked []string
}

func newFragmentAPI(t *testing.T) *fragmentAPI {
	t.Helper()
	f := &fragmentAPI{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in struct{ Inputs []json.RawMessage }
		if err := json.Unmarshal(body, &in); err != nil {
			t.Errorf("the embedder was sent %.100s", body)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		var parts []string
		for _, one := range in.Inputs {
			f.asked = append(f.asked, string(one[:min(len(one), 100)]))
			parts = append(parts, fmt.Sprintf(`[%d,%d]`, strings.Count(string(one), "sea"), strings.Count(string(one), "war")))
		}
		fmt.Fprintf(w, `{"vs":[%s]}`, strings.Join(parts, ","))
	}))
	t.Cleanup(srv.Close)
	f.url = srv.URL
	return f
}

// sent returns what was sent since the last call, sorted.
func (f *fragmentAPI) sent() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.asked)
	all := strings.Join(f.asked, " ")
	f.asked = nil
	return all
}

const (
	ofDocuments = `"indexingFragments":{"text":{"value":{"text":"{{doc.text}}"}},"image":{"value":["{{doc.image}}"]}}`
	ofQueries   = `"searchFragments":{"words":{"value":"about {{q}}"},"picture":{"value":["{{media.picture.url}}"]},"sound":{"value":{"sound":"{{media.sound}}"}}}`
)

// embedder is this API with fields.
func (f *fragmentAPI) embedder(fields string) string {
	return fmt.Sprintf(`{"source":"rest","url":%q,"request":{"inputs":["{{fragment}}","{{..}}"]},"response":{"vs":["{{embedding}}","{{..}}"]},%s}`, f.url, fields)
}

func settingsOf(embedder string) string { return `{"embedders":{"api":` + embedder + `}}` }

// about looks for meaning alone.
func about(q, media string) search.Query {
	one := 1.0
	query := search.Query{Q: q, Hybrid: &settings.Hybrid{Embedder: "api", SemanticRatio: &one}}
	if media != "" {
		if err := json.Unmarshal([]byte(media), &query.Media); err != nil {
			panic(err)
		}
	}
	return query
}

// TestMultimodal makes a vector of each fragment of a document, of which the
// nearest one counts, and one of the fragment that fits a query.
func TestMultimodal(t *testing.T) {
	r, api := newRig(t), newFragmentAPI(t)
	asked := func(what, want string) {
		t.Helper()
		if got := api.sent(); got != want {
			t.Errorf("%s: the embedder was sent %s, want %s", what, got, want)
		}
	}
	find := func(q, media, want, sent string) {
		t.Helper()
		if got := r.ids("a", about(q, media)); got != want {
			t.Errorf("%s %s: hits %s, want %s", q, media, got, want)
		}
		asked(q+media, sent)
	}
	r.settings("a", settingsOf(api.embedder(ofDocuments+","+ofQueries)))
	r.add("a", `[{"id":1,"text":"sea"},{"id":2,"text":"sea war","image":"war"},{"id":3,"image":null},{"id":4,"text":"sea war","_vectors":{"api":[3,1]}}]`)
	asked("documents", `["war"] {"text":"sea war"} {"text":"sea"}`)
	r.wantVectors("a", "1", `{"api":{"embeddings":[[1,0]],"regenerate":true}}`)
	r.wantVectors("a", "2", `{"api":{"embeddings":[[0,1],[1,1]],"regenerate":true}}`)
	r.wantVectors("a", "3", `{"api":{"embeddings":[],"regenerate":true}}`)

	find("", `{"picture":{"url":"war"}}`, "2 4 1 3", `["war"]`) // its picture, not its text
	find("sea war", "", "2 4 1 3", `"about sea war"`)
	find("", `{"picture":{"url":"sea war"},"sound":null}`, "2 4 1 3", `["sea war"]`)
	find("the sea", "{}", "1 4 2 3", `"about the sea"`)

	r.update("a", `{"id":1,"image":"war war"}`)
	asked("a document with one more fragment", `["war war"] {"text":"sea"}`)
	r.wantVectors("a", "1", `{"api":{"embeddings":[[0,2],[1,0]],"regenerate":true}}`)
	r.settings("a", `{"embedders":{"api":{"searchFragments":{"sound":null}}}}`)
	asked("a search fragment less", "")
	find("", `{"picture":{"url":"sea"},"sound":"x"}`, "1 4 2 3", `["sea"]`)
	r.settings("a", `{"embedders":{"api":{"indexingFragments":{"image":null}}}}`)
	asked("an indexing fragment less", `{"text":"sea war"} {"text":"sea"}`)
	r.wantVectors("a", "2", `{"api":{"embeddings":[[1,1]],"regenerate":true}}`)
	r.wantVectors("a", "4", `{"api":{"embeddings":[[3,1]],"regenerate":false}}`)

	shown := r.setting("a", "embedders")
	if want := `"indexingFragments":{"text":{"value":{"text":"{{doc.text}}"}}}`; !strings.Contains(shown, want) || !strings.Contains(shown, `"searchFragments":{"picture":{"value":["{{media.picture.url}}"]},"words":`) {
		t.Errorf("embedders %s, want %s in them", shown, want)
	}
	r.reopen()
	if got := r.setting("a", "embedders"); got != shown {
		t.Errorf("after a restart embedders are %s, want %s", got, shown)
	}
	r.settings("a", `{"embedders":`+shown+`}`)
	asked("settings sent back", "")

	// A model asks by words.
	r.settings("a", `{"chat":{"searchParameters":{"limit":1,"hybrid":{"embedder":"api","semanticRatio":1}}}}`)
	found, err := r.svc.ChatSearch(t.Context(), auth.Everyone(), "a", "sea war", "")
	hits := found.Hits
	if err != nil || len(hits) != 1 || hits[0].ID != "2" {
		t.Errorf("ChatSearch = %v, %v; want the document 2", hits, err)
	}
	asked("a chat", `"about sea war"`)
}

// TestMultimodalComposite has fragments for documents alone.
func TestMultimodalComposite(t *testing.T) {
	r, docs, queries := newRig(t), newFragmentAPI(t), newEmbedder(t)
	r.settings("a", composite(queries.part(""), docs.embedder(ofDocuments)))
	r.add("a", `[{"id":1,"text":"sea","image":"war"},{"id":2,"text":"sea"}]`)
	if got := r.ids("a", about("war", "")); got != "1 2" {
		t.Errorf("hits %s, want 1 2", got)
	}
	if d, q := docs.sent(), queries.texts(); d != `["war"] {"text":"sea"} {"text":"sea"}` || q != "war" {
		t.Errorf("sent %s about documents and %s about the query", d, q)
	}
	_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", about("", `{"picture":{"url":"x"}}`))
	wantCode(t, "media for an embedder of texts", err, indexerr.VectorEmbeddingError)
}

// TestMultimodalLarge sends what is too much for one request in several, and
// leaves out a fragment that is too much for any: with new documents, and with
// new settings for those that are there.
func TestMultimodalLarge(t *testing.T) {
	r, api := newRig(t), newFragmentAPI(t)
	image := strings.Repeat("x", 2200<<10)
	r.settings("a", settingsOf(api.embedder(ofDocuments)))
	check := func(what string) {
		t.Helper()
		for id, want := range map[string]string{"1": "[0,1]", "2": "[1,0]", "3": "[0,2]", "4": "[1,0]"} {
			r.wantVectors("a", id, `{"api":{"embeddings":[`+want+`],"regenerate":true}}`)
		}
		if got := strings.Count(api.sent(), "x") / 80; got != 3 { // images, of which the beginning is noted
			t.Errorf("%s: sent %d images, want 3", what, got)
		}
	}
	r.add("a", fmt.Sprintf(`[{"id":1,"image":"war%[1]s"},{"id":2,"image":"sea%[1]s"},{"id":3,"image":"warwar%[1]s"},{"id":4,"image":"%[1]s%[1]s","text":"sea"}]`, image))
	check("documents")
	r.settings("a", `{"embedders":{"api":{"indexingFragments":{"image":{"value":{"image":"{{doc.image}}"}}}}}}`)
	check("settings")
}

func TestMultimodalMistakes(t *testing.T) {
	r, api := newRig(t), newFragmentAPI(t)
	r.settings("a", `{"embedders":{"api":`+api.embedder(ofDocuments+","+ofQueries)+`,"texts":`+newEmbedder(t).part("")+`,"half":`+api.embedder(ofDocuments)+`}}`)
	with := func(name string, q search.Query) search.Query {
		q.Hybrid.Embedder = name
		return q
	}
	vector := about("", "{}")
	vector.Vector = []float32{1, 2}
	alone := about("x", "{}")
	alone.Hybrid = nil
	half := about("x", `{"sound":"y"}`)
	*half.Hybrid.SemanticRatio = 0.5 // even so: words alone are not what was asked for
	for name, tt := range map[string]struct {
		q    search.Query
		code apierr.Code
		says string
	}{
		"none fits":          {about("", `{"video":"x"}`), indexerr.VectorEmbeddingError, "no search fragment that fits the query: send all values, in `q` and `media`, that one of them shows; they are `picture`, `sound`, `words`"},
		"null is none":       {about("", `{"sound":null}`), indexerr.VectorEmbeddingError, "no search fragment"},
		"several fit":        {about("", `{"sound":"x","picture":{"url":"y"}}`), indexerr.VectorEmbeddingError, "several search fragments that fit the query, `picture` and `sound` among them"},
		"words fit, too":     {half, indexerr.VectorEmbeddingError, "`sound` and `words`"},
		"no search fragment": {with("half", about("x", "")), indexerr.VectorEmbeddingError, "`half` has no `searchFragments`"},
		"texts alone":        {with("texts", about("x", "{}")), indexerr.VectorEmbeddingError, "`texts` makes vectors of texts alone"},
		"a vector, too":      {vector, searcherr.InvalidSearchMediaAndVector, "`media` and `vector`"},
		"no hybrid":          {alone, searcherr.MissingSearchHybrid, "`hybrid`"},
	} {
		_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", tt.q)
		wantCode(t, name, err, tt.code)
		if !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %v does not say %s", name, err, tt.says)
		}
	}
	if got := api.sent(); got != "" {
		t.Errorf("the embedder was sent %s", got)
	}
}

func TestFragmentsRefused(t *testing.T) {
	r, api := newRig(t), newFragmentAPI(t)
	fragments := func(all string) string { return settingsOf(api.embedder(`"indexingFragments":` + all)) }
	for _, tt := range []struct{ body, says string }{
		{fragments(`[]`), "`embedders.api.indexingFragments` must be an object"},
		{fragments(`{"":{"value":1}}`), "is not the name of a fragment"},
		{fragments(`{"x":"{{doc.text}}"}`), "`embedders.api.indexingFragments.x` must be an object"},
		{fragments(`{"x":{}}`), "`embedders.api.indexingFragments.x.value` is missing"},
		{fragments(`{"x":{"value":null}}`), "`embedders.api.indexingFragments.x.value` is missing"},
		{fragments(`{"x":{"valeu":1}}`), "did you mean `value`?"},
		{fragments(`{"x":{"value":["{{ doc.text "]}}`), "`embedders.api.indexingFragments.x.value`: not a Liquid template"},
		{fragments(`{"x":{"value":"` + strings.Repeat("x", 33<<10) + `"}}`), "at most 32768"},
		{settingsOf(strings.Replace(api.embedder(ofQueries), `"{{fragment}}"`, `"{{fragment}}","{{text}}"`, 1)), "must have \"{{text}}\" or \"{{fragment}}\" once"},
		{composite(api.embedder(ofDocuments), api.embedder(ofDocuments)), "`embedders.api.searchEmbedder.indexingFragments`"},
		{composite(api.embedder(ofQueries), api.embedder(ofQueries)), "`embedders.api.indexingEmbedder.searchFragments`"},
	} {
		_, err := r.svc.UpdateSettings("a", []byte(tt.body))
		wantCode(t, tt.body, err, indexerr.InvalidSettingsEmbedders)
		if !strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%.200s: %v does not say %s", tt.body, err, tt.says)
		}
	}
	text := strings.TrimSuffix(newEmbedder(t).part(""), "}")
	for _, tt := range []struct{ body, says string }{
		{settingsOf(text + "," + ofDocuments + "}"), "`embedders.api.request` has \"{{text}}\", but the embedder has fragments"},
		{settingsOf(api.embedder(`"searchFragments":{}`)), "`embedders.api.request` has \"{{fragment}}\", but the embedder has no fragments"},
		{settingsOf(api.embedder(ofDocuments + ofText)), "`embedders.api.documentTemplate` is not for an embedder with fragments"},
		{settingsOf(`{"source":"userProvided","dimensions":2,` + ofDocuments + `}`), "`embedders.api.indexingFragments` is not for the source"},
	} {
		got := r.run(r.svc.UpdateSettings("a", []byte(tt.body)))
		if got.Status != task.Failed || got.Error.Code != indexerr.InvalidSettingsEmbedders.String() || !strings.Contains(got.Error.Message, tt.says) {
			t.Errorf("%s: task %s, %+v; want it failed and to say %s", tt.body, got.Status, got.Error, tt.says)
		}
	}
}

// TestMultimodalFeature refuses what needs the feature while it is off, and
// lets what was set before go on.
func TestMultimodalFeature(t *testing.T) {
	r, api := newRig(t), newFragmentAPI(t)
	r.settings("a", settingsOf(api.embedder(ofDocuments+","+ofQueries)))
	r.close()
	r.plain = true
	r.open()
	for _, fields := range []string{ofDocuments, ofQueries} {
		_, err := r.svc.UpdateSettings("a", []byte(settingsOf(api.embedder(fields))))
		wantCode(t, fields, err, apierr.FeatureNotEnabled)
		if want := "`embedders.api` with fragments needs the feature `multimodal`, which is off: switch it on by PATCH /experimental-features"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %s", fields, err, want)
		}
	}
	r.add("a", `{"id":1,"text":"sea"}`)
	_, err := r.svc.Search(context.Background(), auth.Everyone(), "a", about("", `{"sound":"x"}`))
	wantCode(t, "media", err, apierr.FeatureNotEnabled)
	if got := r.ids("a", about("sea", "")); got != "1" {
		t.Errorf("by words hits %s, want 1", got)
	}
	if got := api.sent(); got != `"about sea" {"text":"sea"}` {
		t.Errorf("with the feature off the embedder was sent %s", got)
	}
}
