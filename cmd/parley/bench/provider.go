// Package bench measures what the host adds to a stream: a provider whose
// answers are made up, a proxy that copies bytes, a load that checks every
// word, and what a process used meanwhile. All of it stays on loopback.
package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// A Provider is a server in the wire forms of OpenAI, Gemini and Anthropic that
// answers by the model's name. cN-dM is N words, M milliseconds apart, in any
// form; with -xK behind it the connection ends after K words, with -hK nothing
// more comes after them. OpenAI's also has "text"; "json", {"city": "Paris"}; "tool", which calls the client's own tool for
// Paris; "search-cN", which calls searchInIndex before its N words; and
// "error", a 429.
type Provider struct {
	Open atomic.Int64 // requests under way
}

// ServeHTTP implements [http.Handler].
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Open.Add(1)
	defer p.Open.Add(-1)
	if r.Method == http.MethodGet {
		w.Header().Set("content-type", "application/json")
		io.WriteString(w, page)
		return
	}
	var req struct {
		Model    string
		Tools    []struct{ Function struct{ Name string } }
		Messages []struct{ Role string }
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &req) != nil {
		http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
		return
	}
	f, model, ok := FormOf(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if model != "" {
		req.Model = model
	}
	a := answer{w: w, r: r, Form: f}
	switch {
	case req.Model == "error":
		w.Header().Set("content-type", "application/json")
		w.Header().Set("retry-after", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error":{"message":"Rate limit reached: slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}`)
	case req.Model == "tool":
		name := ""
		for _, tool := range req.Tools {
			if tool.Function.Name != searchFunction {
				name = tool.Function.Name
			}
		}
		a.call(name, `{"city":`, `"Paris"}`)
	case req.Model == "text":
		a.words(strings.SplitAfter("Inception, Memento and The Prestige.", " "), 0)
	case req.Model == "json":
		a.words([]string{`{"city":`, ` "Paris"}`}, 0)
	case strings.HasPrefix(req.Model, "search-") && req.Messages[len(req.Messages)-1].Role != "tool":
		a.call(searchFunction, `{"q":`, `"space"}`)
	default:
		var chunks, pause int
		if n, _ := fmt.Sscanf(strings.TrimPrefix(req.Model, "search-"), "c%d-d%d-%c%d", &chunks, &pause, &a.fate, &a.after); n == 0 {
			http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
			return
		}
		words := make([]string, chunks)
		for i := range words {
			words[i] = Word(i)
		}
		a.words(words, time.Duration(pause)*time.Millisecond)
	}
}

// page is the answer to any GET, as long as a workspace's settings.
var page = `{"source":"openAi","prompts":{"system":"` + strings.Repeat("You are a helpful assistant. ", 20) + `"}}`

// searchFunction is the host's own tool.
const searchFunction = "searchInIndex"

// Word is the text of the event with number i of an answer of cN-dM.
func Word(i int) string { return fmt.Sprintf("word%05d ", i) }

// An answer is a stream being written.
type answer struct {
	w http.ResponseWriter
	r *http.Request
	Form
	fate  rune // what becomes of it after so many words: see [Provider]
	after int
}

func (a *answer) say(text string) {
	io.WriteString(a.w, text) // a host that left is noticed by the context of its request
	a.w.(http.Flusher).Flush()
}

func (a *answer) words(words []string, pause time.Duration) {
	a.w.Header().Set("content-type", "text/event-stream")
	if a.Begin != "" {
		a.say(a.Begin)
	}
	for i, w := range words {
		if i == a.after {
			switch a.fate {
			case 'x':
				panic(http.ErrAbortHandler)
			case 'h':
				<-a.r.Context().Done()
				return
			}
		}
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-a.r.Context().Done():
				return
			}
		}
		a.say(fmt.Sprintf(a.Word, w))
	}
	a.say(a.End)
}

// call answers with a tool call whose arguments come in pieces.
func (a *answer) call(name string, arguments ...string) {
	a.w.Header().Set("content-type", "text/event-stream")
	a.say(fmt.Sprintf(openAIHead+`"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":%q,"arguments":""}}]},"finish_reason":null}]}`+"\n\n", name))
	for _, piece := range arguments {
		a.say(fmt.Sprintf(openAIHead+`"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%q}}]},"finish_reason":null}]}`+"\n\n", piece))
	}
	a.say(openAIHead + `"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n")
}
