package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// embedAPIs answer as the APIs of all shipped plugins that make vectors do: the
// first number of a vector is the length of its text.
type embedAPIs struct {
	url string

	mu   sync.Mutex
	seen []string // path, body
	auth []string
}

func openEmbedAPIs(t *testing.T) *embedAPIs {
	t.Helper()
	a := &embedAPIs{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.seen = append(a.seen, r.URL.EscapedPath()+" "+string(body))
		a.auth = append(a.auth, r.Header.Get("Authorization")+r.Header.Get("X-Goog-Api-Key"))
		a.mu.Unlock()
		var in struct {
			Input, Texts []string
			InputText    string
			Requests     []struct {
				Content struct{ Parts []struct{ Text string } }
			}
		}
		if err := json.Unmarshal(body, &in); err != nil {
			t.Errorf("%s was sent %s", r.URL.Path, body)
		}
		texts := append(in.Input, in.Texts...)
		for _, q := range in.Requests {
			texts = append(texts, q.Content.Parts[0].Text)
		}
		each := func(form string) string {
			all := make([]string, len(texts))
			for i, s := range texts {
				all[i] = fmt.Sprintf(form, len(s))
			}
			return strings.Join(all, ",")
		}
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/v1/embeddings"):
			fmt.Fprintf(w, `{"object":"list","data":[%s]}`, each(`{"embedding":[%d,1]}`))
		case strings.HasSuffix(path, "/api/embed"):
			fmt.Fprintf(w, `{"embeddings":[%s]}`, each(`[%d,1]`))
		case strings.HasSuffix(path, "/v2/embed"):
			fmt.Fprintf(w, `{"embeddings":{"float":[%s]}}`, each(`[%d,1]`))
		case strings.HasSuffix(path, ":batchEmbedContents"):
			fmt.Fprintf(w, `{"embeddings":[%s]}`, each(`{"values":[%d,1]}`))
		case strings.HasSuffix(path, "/invoke"):
			fmt.Fprintf(w, `{"embedding":[%d,1],"inputTextTokenCount":1}`, len(in.InputText))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(srv.Close)
	a.url = srv.URL
	return a
}

// take returns what was asked since the last call.
func (a *embedAPIs) take() (seen, auth []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen, auth, a.seen, a.auth = a.seen, a.auth, nil, nil
	return seen, auth
}

// TestEmbedderPlugins has the shipped plugins make vectors of documents and of a
// query. What openAi and ollama send is what it was before plugins made it.
func TestEmbedderPlugins(t *testing.T) {
	t.Parallel()
	const text = `Grüße "<sea>" & \ 😀`
	quoted := `"Grüße \"<sea>\" & \\ 😀 \u2028"`
	const secret = "sk-a-key-of-an-embedder"
	var modules [][]byte
	names := []string{"openai", "ollama", "bedrock"} // to build and compile the others takes long
	if house.Long() {
		names = append(names, "mistral", "cohere", "gemini")
	}
	for _, name := range names {
		modules = append(modules, house.Shipped(t, name))
	}
	api := openEmbedAPIs(t)
	h := house.Open(t, map[string]string{"allow-private-networks": "127.0.0.1"}, modules...)
	for _, tt := range []struct{ source, settings, document, query, auth string }{
		{
			"openAi", `"url":"%s/own/v1/embeddings","dimensions":2`,
			`/own/v1/embeddings {"dimensions":2,"input":[%s,"two"],"model":"text-embedding-3-small"}`,
			`/own/v1/embeddings {"dimensions":2,"input":["two"],"model":"text-embedding-3-small"}`, "Bearer " + secret,
		},
		{
			"ollama", `"url":"%s/api/embed"`,
			`/api/embed {"input":[%s,"two"],"model":"nomic-embed-text"}`, `/api/embed {"input":["two"],"model":"nomic-embed-text"}`, "Bearer " + secret,
		},
		{
			"mistral", `"url":"%s/v1/embeddings"`,
			`/v1/embeddings {"input":[%s,"two"],"model":"mistral-embed"}`, `/v1/embeddings {"input":["two"],"model":"mistral-embed"}`, "Bearer " + secret,
		},
		{
			"cohere", `"url":"%s","dimensions":2`,
			`/v2/embed {"model":"embed-v4.0","texts":[%s,"two"],"input_type":"search_document","embedding_types":["float"],"output_dimension":2}`,
			`/v2/embed {"model":"embed-v4.0","texts":["two"],"input_type":"search_query","embedding_types":["float"],"output_dimension":2}`, "Bearer " + secret,
		},
		{
			"gemini", `"url":"%s"`,
			`/v1beta/models/gemini-embedding-001:batchEmbedContents {"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":%s}]},"taskType":"RETRIEVAL_DOCUMENT"},` +
				`{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"two"}]},"taskType":"RETRIEVAL_DOCUMENT"}]}`,
			`/v1beta/models/gemini-embedding-001:batchEmbedContents {"requests":[{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"two"}]},"taskType":"RETRIEVAL_QUERY"}]}`, secret,
		},
		{
			"bedrock", `"url":"%s","options":{"region":"eu-west-1","accessKeyId":"AKIDEXAMPLE","secretAccessKey":"sk-a-key-of-an-embedder-of-aws"}`,
			`/model/amazon.titan-embed-text-v2%%3A0/invoke {"inputText":%s}` + "\n" + `/model/amazon.titan-embed-text-v2%%3A0/invoke {"inputText":"two"}`,
			`/model/amazon.titan-embed-text-v2%3A0/invoke {"inputText":"two"}`, "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/",
		},
	} {
		if !slices.Contains(names, strings.ToLower(tt.source)) {
			continue
		}
		t.Run(tt.source, func(t *testing.T) {
			index := strings.ToLower(tt.source)
			h.Finish(h.Must("PATCH", "/indexes/"+index+"/settings",
				`{"embedders":{"e":{"source":"`+tt.source+`","apiKey":"`+secret+`","documentTemplate":"{{doc.t}}",`+fmt.Sprintf(tt.settings, api.url)+`}}}`))
			docs, err := json.Marshal([]map[string]any{{"id": 1, "t": text + " \u2028"}, {"id": 2, "t": "two"}})
			if err != nil {
				t.Fatal(err)
			}
			h.Finish(h.Must("POST", "/indexes/"+index+"/documents", string(docs)))
			seen, auth := api.take()
			if got, want := strings.Join(seen, "\n"), fmt.Sprintf(tt.document, quoted); got != want {
				t.Errorf("documents made\n%s\nwant\n%s", got, want)
			}
			for _, a := range auth {
				if !strings.HasPrefix(a, tt.auth) {
					t.Errorf("signed in by %q, want %q", a, tt.auth)
				}
			}
			r := h.Must("POST", "/indexes/"+index+"/search", `{"q":"two","hybrid":{"embedder":"e","semanticRatio":1}}`)
			if !strings.Contains(r.Body, `"hits":[{"id":2`) {
				t.Errorf("a query found %s", r.Body)
			}
			if seen, _ := api.take(); strings.Join(seen, "\n") != tt.query {
				t.Errorf("a query made\n%s\nwant\n%s", strings.Join(seen, "\n"), tt.query)
			}
		})
	}
	if r := h.Must("GET", "/indexes/bedrock/settings/embedders", ""); !strings.Contains(r.Body, `"region":"eu-west-1"`) || strings.Contains(r.Body, secret) {
		t.Errorf("the embedders are shown as %s", r.Body)
	}
	h.CheckSecret(secret, "eu-west-1")
}
