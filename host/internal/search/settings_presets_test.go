package search_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// A knownAPI answers as OpenAI and Ollama do, with vectors of two numbers. It
// notes the requests, and refuses the first one as one too many.
type knownAPI struct {
	url string

	mu      sync.Mutex
	asked   []string // path, key, body
	refused bool
}

func newKnownAPI(t *testing.T) *knownAPI {
	t.Helper()
	a := &knownAPI{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = append(a.asked, r.URL.Path+" "+r.Header.Get("Authorization")+" "+strings.TrimSpace(string(body)))
		if !a.refused {
			a.refused = true
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		var in struct{ Input []string }
		if r.URL.Path != "/api/embeddings" {
			if err := json.Unmarshal(body, &in); err != nil {
				t.Errorf("the API was sent %s", body)
			}
		}
		vectors := make([]string, len(in.Input))
		for i, text := range in.Input {
			vectors[i] = fmt.Sprintf("[%d,1]", strings.Count(text, "sea"))
		}
		switch r.URL.Path {
		case "/v1/embeddings":
			fmt.Fprintf(w, `{"object":"list","data":[{"object":"embedding","embedding":%s}]}`, strings.Join(vectors, `},{"embedding":`))
		case "/api/embed":
			fmt.Fprintf(w, `{"model":"m","embeddings":[%s]}`, strings.Join(vectors, ","))
		case "/api/embeddings":
			fmt.Fprint(w, `{"embedding":[0.5,1]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	a.url = srv.URL
	return a
}

// requests returns what was asked since the last call.
func (a *knownAPI) requests() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := strings.Join(a.asked, "\n")
	a.asked = nil
	return all
}

// TestEmbedderPresets has documents and queries embedded by the sources openAi
// and ollama, through a restart.
func TestEmbedderPresets(t *testing.T) {
	one := 1.0
	for _, tt := range []struct {
		name, embedder string
		document       string // the request for two documents, sent twice
		query          string
		shown          string
	}{
		{
			"openAi", `{"source":"openAi","url":"%s/v1/embeddings","apiKey":"sk-0123456789","dimensions":2,"documentTemplate":"{{doc.t}}"}`,
			`/v1/embeddings Bearer sk-0123456789 {"dimensions":2,"input":["sea","land"],"model":"text-embedding-3-small"}`,
			`/v1/embeddings Bearer sk-0123456789 {"dimensions":2,"input":["sea"],"model":"text-embedding-3-small"}`,
			`{"apiKey":"skXXXX...","dimensions":2,"documentTemplate":"{{doc.t}}","documentTemplateMaxBytes":400,"model":"text-embedding-3-small","source":"openAi","url":"%s/v1/embeddings"}`,
		},
		{
			"ollama", `{"source":"ollama","url":"%s/api/embed","model":"all-minilm","documentTemplate":"{{doc.t}}","binaryQuantized":false}`,
			`/api/embed  {"input":["sea","land"],"model":"all-minilm"}`,
			`/api/embed  {"input":["sea"],"model":"all-minilm"}`,
			`{"binaryQuantized":false,"documentTemplate":"{{doc.t}}","documentTemplateMaxBytes":400,"model":"all-minilm","source":"ollama","url":"%s/api/embed"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			api := newKnownAPI(t)
			r := newRig(t)
			r.settings("a", `{"embedders":{"e":`+fmt.Sprintf(tt.embedder, api.url)+`}}`)
			r.add("a", `[{"id":1,"t":"sea"},{"id":2,"t":"land"}]`)
			if got := api.requests(); got != tt.document+"\n"+tt.document {
				t.Errorf("documents made the requests\n%s\nwant twice\n%s", got, tt.document)
			}
			r.reopen()
			if got, want := r.setting("a", "embedders"), `{"e":`+fmt.Sprintf(tt.shown, api.url)+`}`; got != want {
				t.Errorf("embedders %s\nwant %s", got, want)
			}
			if got := r.ids("a", search.Query{Q: "sea", Hybrid: &settings.Hybrid{Embedder: "e", SemanticRatio: &one}}); got != "1 2" {
				t.Errorf("found %q, want the document about the sea first", got)
			}
			if got := api.requests(); got != tt.query {
				t.Errorf("a query made the request\n%s\nwant\n%s", got, tt.query)
			}
			// Settings as they are shown change nothing, least of all the key.
			r.settings("a", `{"embedders":`+r.setting("a", "embedders")+`}`)
			if got := api.requests(); got != "" {
				t.Errorf("the same settings made the requests\n%s", got)
			}
		})
	}
}

// TestOllamaSingle uses the older route of Ollama, which takes one text.
func TestOllamaSingle(t *testing.T) {
	api := newKnownAPI(t)
	api.refused = true
	r := newRig(t)
	r.settings("a", `{"embedders":{"e":{"source":"ollama","url":"`+api.url+`/api/embeddings","documentTemplate":"{{doc.t}}"}}}`)
	r.add("a", `[{"id":1,"t":"sea"},{"id":2,"t":"land"}]`)
	want := `/api/embeddings  {"model":"nomic-embed-text","prompt":"sea"}` + "\n" + `/api/embeddings  {"model":"nomic-embed-text","prompt":"land"}`
	if got := api.requests(); got != want {
		t.Errorf("requests\n%s\nwant\n%s", got, want)
	}
}

// TestPresetKeyStays sends a preset's key elsewhere only where it is sent anew.
func TestPresetKeyStays(t *testing.T) {
	r := newRig(t)
	r.settings("a", `{"embedders":{"e":{"source":"openAi","apiKey":"`+embedderKey+`"}}}`)
	r.settings("a", `{"embedders":{"e":{"url":"https://api.openai.com/v1/embeddings"}}}`)
	if got := r.key(); got != embedderKey {
		t.Errorf("with the default URL spelled out the key is %q, want it as it was", got)
	}
	r.settings("a", `{"embedders":{"e":{"url":"https://elsewhere.example.com/v1/embeddings"}}}`)
	if got := r.key(); got != "" {
		t.Errorf("another host gets the key %q", got)
	}
}

func TestPresetsRefused(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct{ embedder, says string }{
		{`{"source":"openAi","request":"{{text}}"}`, "`embedders.e.request` is not for the source \"openAi\""},
		{`{"source":"openAi","headers":{"X-A":"b"}}`, "`embedders.e.headers` is not for the source"},
		{`{"source":"openAi","model":"text-embedding-ada-002","dimensions":3}`, "always have 1536 numbers"},
		{`{"source":"ollama","url":"http://localhost:11434"}`, "`embedders.e.url` must end with"},
		{`{"source":"rest","model":"m","url":"http://x/","request":"{{text}}","response":"{{embedding}}"}`, "`embedders.e.model` is not for the source \"rest\""},
		{`{"source":"userProvided","dimensions":2,"model":"m"}`, "`embedders.e.model` is not for the source"},
	} {
		got := r.run(r.svc.UpdateSettings("a", []byte(`{"embedders":{"e":`+tt.embedder+`}}`)))
		if got.Status != task.Failed || got.Error.Code != indexerr.InvalidSettingsEmbedders.String() || !strings.Contains(got.Error.Message, tt.says) {
			t.Errorf("%s: task %s, %+v; want it failed and to say %s", tt.embedder, got.Status, got.Error, tt.says)
		}
	}
}

// TestHuggingFaceAlone refuses an embedder whose model would run here, and
// applies what was sent with it.
func TestHuggingFaceAlone(t *testing.T) {
	r := newRig(t)
	hugging := `{"source":"huggingFace","model":"BAAI/bge-base-en-v1.5","revision":"main","pooling":"useModel"}`
	for _, refused := range []string{hugging, `{"source":"composite","searchEmbedder":` + hugging + `,"indexingEmbedder":` + hugging + `}`} {
		for range 2 { // where the index is made by it, and where it is there
			got := r.run(r.svc.UpdateSettings("a", []byte(`{"stopWords":["the"],"embedders":{"h":`+refused+`,"own":{"source":"userProvided","dimensions":2}}}`)))
			if got.Status != task.Failed || got.Error.Code != indexerr.InvalidSettingsEmbedders.String() ||
				!strings.Contains(got.Error.Message, "`embedders.h`: the source \"huggingFace\" is not offered") || !strings.Contains(got.Error.Message, "Ollama") {
				t.Fatalf("task %s, %+v; want it to fail for the embedder h", got.Status, got.Error)
			}
			if got := r.setting("a", "stop-words") + r.setting("a", "embedders"); got != `["the"]{"own":{"dimensions":2,"source":"userProvided"}}` {
				t.Errorf("the settings beside it are %s", got)
			}
		}
	}
}
