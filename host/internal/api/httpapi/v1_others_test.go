package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// The older form of completions: one prompt, whole or streamed.
func TestV1TextCompletions(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{script("reasoning:Hm.", "text:Hel", "text:lo", "usage:3,4,1,2\nfinish:stop")}}
	r := newRig(t, wish{upstream: up})
	const path = "/v1/completions"
	a := r.do("POST", path, `{"model":"demo/m","prompt":["words"],"n":1,"best_of":1,"echo":false,"suffix":"","logprobs":null,"max_tokens":100}`)
	for _, want := range []string{`"object":"text_completion"`, `"model":"demo/m","choices":[{"index":0,"text":"Hello","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,`} {
		if a.status != 200 || !strings.Contains(a.body, want) {
			t.Errorf("answer = %d %s, want %s", a.status, a.body, want)
		}
	}
	if body := string(up.Sent()[0].Encoded.Body); !strings.Contains(body, `{"content":"words","role":"user"}]`) || !strings.Contains(body, `"max_tokens":100`) || strings.Contains(body, "best_of") {
		t.Errorf("sent %s", body)
	}
	a = r.do("POST", path, `{"model":"demo/m","prompt":"words","stream":true,"stream_options":{"include_usage":true}}`)
	for _, want := range []string{`"text":"Hel","logprobs":null,"finish_reason":null}]}`, `"text":"","logprobs":null,"finish_reason":"stop"}]}`, `"choices":[],"usage":{"prompt_tokens":3,`, "data: [DONE]\n\n"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("stream = %s, want %s in it", a.body, want)
		}
	}
	for more, param := range map[string]string{
		`"prompt":["a","b"]`: "prompt", `"prompt":[1,2]`: "prompt", `"prompt":[[1]]`: "prompt", `"prompt":""`: "prompt", `"a":1`: "prompt",
		`"prompt":"a","echo":true`: "echo", `"prompt":"a","suffix":"b"`: "suffix", `"prompt":"a","best_of":2`: "best_of", `"prompt":"a","logprobs":1`: "logprobs",
		`"prompt":"a","n":2`: "n", `"prompt":"a","tools":[{}]`: "tools",
	} {
		if a := r.do("POST", path, `{"model":"demo/m",`+more+`}`); a.status != 400 || !strings.Contains(a.body, `"param":"`+param+`"`) {
			t.Errorf("%s is answered %d %s, want %s refused", more, a.status, a.body, param)
		}
	}
	checkErrorV1(t, r.do("POST", path, `{"model":"nope","prompt":"a"}`), 404, "invalid_request_error", "model_not_found", "model")
	up = &chattest.Upstream{Scripts: []chattest.Script{script("text:Hel", "error:broken")}}
	r = newRig(t, wish{upstream: up})
	if a := r.do("POST", path, `{"model":"demo/m","prompt":"a","stream":true}`); !strings.Contains(a.body, `data: {"error":{"message":`) {
		t.Errorf("a stream that breaks is %s", a.body)
	}
}

// What an embedder of an index makes; host/e2e TestV1Embeddings has the plugins'.
func TestV1EmbeddingsOfIndex(t *testing.T) {
	down := false
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte(`{"v":[0.25,-1e-7]}`))
	}))
	defer api.Close()
	r := newRig(t, wish{reaches: true})
	r.task(r.do("PATCH", "/indexes/films/settings", `{"embedders":{"e":{"source":"rest","url":"`+api.URL+`","request":"{{text}}","response":{"v":"{{embedding}}"},"dimensions":2}}}`))
	const path, body = "/v1/embeddings", `{"model":"films/e","input":["a","b"]}`
	if a := r.do("POST", path, body); a.status != 200 || !strings.Contains(a.body, `{"object":"embedding","index":1,"embedding":[0.25,-1e-07]}],"model":"films/e","usage":{"prompt_tokens":1,"total_tokens":1,"estimated":true}}`) {
		t.Errorf("answer = %d %s", a.status, a.body)
	}
	checkErrorV1(t, r.do("POST", path, `{"model":"films/f","input":"a"}`), 404, "invalid_request_error", "model_not_found", "model")
	checkErrorV1(t, r.do("POST", path, `{"model":"films/e","input":[1]}`), 400, "invalid_request_error", "invalid_type", "input")
	down = true
	checkErrorV1(t, r.do("POST", path, body), 502, "api_error", "llm_provider_error", "")
}

// Vectors are an answer as others: a few bytes of texts become megabytes of numbers.
func TestHostileEmbeddings(t *testing.T) {
	asked := 0
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"v":[1` + strings.Repeat(",1", 999) + `]}`))
	}))
	defer api.Close()
	r := newRig(t, wish{reaches: true, limits: httpapi.Limits{Answer: 100 << 10}})
	r.task(r.do("PATCH", "/indexes/films/settings", `{"embedders":{"e":{"source":"rest","url":"`+api.URL+`","request":"{{text}}","response":{"v":"{{embedding}}"},"dimensions":1000}}}`))
	const path = "/v1/embeddings"
	if a := r.do("POST", path, `{"model":"films/e","input":["a"`+strings.Repeat(`,"a"`, 29)+`]}`); a.status != 413 || !strings.Contains(a.body, "--http-answer-size-limit") || !strings.Contains(a.body, "`input`") {
		t.Errorf("30 vectors of 1,000 numbers = %d %.300s, want 413 that says what to lower", a.status, a.body)
	}
	if asked != 1 {
		t.Errorf("the embedder was asked %d times, want once: then it is known how long vectors are", asked)
	}
	if a := r.do("POST", path, `{"model":"films/e","input":["a","a"]}`); a.status != 200 {
		t.Errorf("two of them = %d %.300s, want 200", a.status, a.body)
	}
}
