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
// form; OpenAI's also has "text"; "tool", which calls the client's own tool for
// Paris; "search-cN", which calls searchInIndex before its N words; and
// "error", a 429.
type Provider struct {
	Open atomic.Int64 // requests under way
}

// A form is a wire form: how a stream begins, a word in it, how it ends. Words
// come in events of the size that the real ones have, 100 to 300 bytes.
type form struct{ begin, word, end string }

const openAIHead = `data: {"id":"chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1-mini-2025-04-14","service_tier":"default","system_fingerprint":"fp_0123456789",`

var (
	openAI = form{
		begin: openAIHead + `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
		word:  openAIHead + `"choices":[{"index":0,"delta":{"content":%q},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n",
		end: openAIHead + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}` + "\n\n" +
			openAIHead + `"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}` + "\n\ndata: [DONE]\n\n",
	}
	gemini = form{
		word: `data: {"candidates": [{"content": {"parts": [{"text": %q}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 11,"candidatesTokenCount": 42,"totalTokenCount": 53,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 11}]},"modelVersion": "gemini-2.5-flash","responseId": "abcdefghijklmnopqrstuvwx"}` + "\r\n\r\n",
		end:  `data: {"candidates": [{"content": {"parts": [{"text": ""}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 11,"candidatesTokenCount": 42,"totalTokenCount": 53},"modelVersion": "gemini-2.5-flash","responseId": "abcdefghijklmnopqrstuvwx"}` + "\r\n\r\n",
	}
	anthropic = form{
		begin: `event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}` + "\n\n" +
			`event: content_block_start` + "\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n",
		word: `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}` + "\n\n",
		end: `event: content_block_stop` + "\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
			`event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}` + "\n\n" +
			`event: message_stop` + "\n" + `data: {"type":"message_stop"}` + "\n\n",
	}
)

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
	a := answer{w: w, r: r}
	switch model, ofGemini := strings.CutSuffix(r.URL.Path, ":streamGenerateContent"); {
	case ofGemini:
		a.form, req.Model = gemini, model[strings.LastIndexByte(model, '/')+1:]
	case strings.HasSuffix(r.URL.Path, "/messages"):
		a.form = anthropic
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		a.form = openAI
	default:
		http.NotFound(w, r)
		return
	}
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
	case strings.HasPrefix(req.Model, "search-") && req.Messages[len(req.Messages)-1].Role != "tool":
		a.call(searchFunction, `{"q":`, `"space"}`)
	default:
		var chunks, pause int
		if n, _ := fmt.Sscanf(strings.TrimPrefix(req.Model, "search-"), "c%d-d%d", &chunks, &pause); n == 0 {
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
	form
}

func (a *answer) say(text string) {
	io.WriteString(a.w, text) // a host that left is noticed by the context of its request
	a.w.(http.Flusher).Flush()
}

func (a *answer) words(words []string, pause time.Duration) {
	a.w.Header().Set("content-type", "text/event-stream")
	if a.begin != "" {
		a.say(a.begin)
	}
	for _, w := range words {
		if pause > 0 {
			select {
			case <-time.After(pause):
			case <-a.r.Context().Done():
				return
			}
		}
		a.say(fmt.Sprintf(a.word, w))
	}
	a.say(a.end)
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
