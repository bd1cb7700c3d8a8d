package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// A quirks is a host with all shipped plugins, and a provider that answers by the
// first part of a request's path as it was told to.
type quirks struct {
	*house.House
	URL string

	mu    sync.Mutex
	how   map[string]func(asked) told
	asked map[string][]asked
}

// asked is a request to the provider.
type asked map[string]json.RawMessage

// has reports whether the request has a member that says something.
func (a asked) has(name string) bool { return len(a[name]) > 0 && string(a[name]) != "null" }

// told is the provider's answer: by default a stream of events with status 200.
type told struct {
	status int
	kind   string
	body   string
}

// stream is an answer of events, with [DONE].
func stream(events ...string) told {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return told{body: b.String() + "data: [DONE]\n\n"}
}

// lines is an answer of lines of JSON.
func lines(each ...string) told {
	return told{kind: "application/x-ndjson", body: strings.Join(each, "\n") + "\n"}
}

// refusal is an answer of OpenAI's form with a status of its own.
func refusal(status int, message, code string) told {
	return told{status, "application/json", fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","code":%q}}`, message, code)}
}

// piece is a chunk with a delta, finish one with a reason to finish.
func piece(delta string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func finish(word string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"` + word + `"}]}`
}

// sought is a chunk with a call of the host's search.
var sought = piece(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"films\",\"q\":\"rockets\"}"}}]}`)

// openQuirks opens a host with some shipped plugins and an index of films.
func openQuirks(t *testing.T, plugins ...string) *quirks {
	t.Helper()
	q := &quirks{how: map[string]func(asked) told{}, asked: map[string][]asked{}}
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.Split(r.URL.Path, "/")[1]
		raw, _ := io.ReadAll(r.Body)
		body := asked{}
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("the provider is sent %.300q: %v", raw, err)
		}
		q.mu.Lock()
		q.asked[name] = append(q.asked[name], body)
		how := q.how[name]
		q.mu.Unlock()
		answer := how(body)
		if answer.kind == "" {
			answer.kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", answer.kind)
		if answer.status != 0 {
			w.WriteHeader(answer.status)
		}
		_, _ = io.WriteString(w, answer.body)
	}))
	t.Cleanup(provider.Close)
	q.URL = provider.URL
	modules := make([][]byte, len(plugins))
	for i, name := range plugins {
		modules[i] = house.Shipped(t, name)
	}
	q.House = house.Open(t, nil, modules...)
	q.AddFilms(3)
	return q
}

// workspace makes one that asks the provider under its name. more are settings.
func (q *quirks) workspace(name, source, more string, how func(asked) told) {
	q.T.Helper()
	q.mu.Lock()
	q.how[name], q.asked[name] = how, nil
	q.mu.Unlock()
	key := `"apiKey":"key-123456789",`
	if source == "vLlm" || source == "ollama" {
		key = ""
	}
	q.Must("PATCH", "/chats/"+name+"/settings", fmt.Sprintf(`{"source":%q,"baseUrl":"%s/%s",%s"defaultModel":"m"%s}`, source, q.URL, name, key, more))
}

// requests are those that the provider got for a workspace.
func (q *quirks) requests(name string) []asked {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.asked[name]
}

// v1 asks for a whole answer. more are members of the request.
func (q *quirks) v1(name, more string) house.Reply {
	q.T.Helper()
	return q.Call("POST", "/v1/chat/completions", `{"model":"`+name+`","messages":[{"role":"user","content":"Which film is about rockets?"}]`+more+`}`)
}

// want fails the test where a reply has another status, or lacks a text.
func (q *quirks) want(what string, r house.Reply, status int, texts ...string) {
	q.T.Helper()
	if r.Status != status {
		q.T.Errorf("%s: status %d: %s\nwant %d", what, r.Status, r.Body, status)
		return
	}
	for _, text := range texts {
		if without, ok := strings.CutPrefix(text, "!"); ok == strings.Contains(r.Body, without) {
			q.T.Errorf("%s: %s\nwant %s", what, r.Body, text)
		}
	}
}

// TestUsage: what a provider counts beside tokens reaches the client, added up over
// rounds; and no tier of service is made up.
func TestUsage(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "anthropic", "bedrock")
	counted := func(cost string) string {
		return `{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"cost":` + cost +
			`,"cost_details":{"upstream":null},"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":2,"cache_write_tokens":5},"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":6,"accepted_prediction_tokens":7,"rejected_prediction_tokens":8}}}`
	}
	q.workspace("counts", "openAi", "", func(a asked) told {
		if strings.Contains(string(a["messages"]), `"tool_call_id"`) {
			return stream(piece(`{"content":"Alpha."}`), finish("stop"), counted("0.2"))
		}
		return stream(sought, finish("tool_calls"), counted("0.1"))
	})
	q.want("completion", q.v1("counts", ""), 200, `"cost":0.3,`, `"cost_details":{"upstream":null}`,
		`"prompt_tokens_details":{"audio_tokens":4,"cache_write_tokens":10,"cached_tokens":2}`,
		`"completion_tokens_details":{"accepted_prediction_tokens":14,"audio_tokens":12,"reasoning_tokens":6,"rejected_prediction_tokens":16}`, "!service_tier")
	q.want("chunks", q.v1("counts", `,"stream":true,"stream_options":{"include_usage":true}`), 200, `"cost":0.3,`, `"cache_write_tokens":10`, "!service_tier")
	q.want("response", q.Call("POST", "/v1/responses", `{"model":"counts","input":"rockets?"}`), 200, `"cost":0.3,`,
		`"input_tokens_details":{"audio_tokens":4,"cache_write_tokens":10,"cached_tokens":2}`, `"service_tier":null`)
	q.want("message", q.Call("POST", "/v1/messages", `{"model":"counts","max_tokens":99,"messages":[{"role":"user","content":"rockets?"}]}`), 200,
		`"usage":{"input_tokens":6,"cache_creation_input_tokens":10,"cache_read_input_tokens":2,"output_tokens":8}`)
	q.workspace("claude", "anthropic", "", func(asked) told {
		return told{body: strings.TrimPrefix(events(
			`{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"claude","content":[],"usage":{"input_tokens":9,"cache_creation_input_tokens":40,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Alpha."}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), house.Stream)}
	})
	q.want("of Anthropic", q.v1("claude", ""), 200, `"prompt_tokens":49`, `"cache_write_tokens":40`)
}

// TestOldClients: a client of HTTP/1.0 gets a body without chunks, and a byte order
// mark in front of a request's body says nothing.
func TestOldClients(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	q.workspace("plain", "openAi", "", func(asked) told { return stream(piece(`{"content":"Alpha."}`), finish("stop")) })
	const ask = `{"model":"plain","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	c, err := net.Dial("tcp", strings.TrimPrefix(q.House.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(ask), ask)
	in := bufio.NewReader(c)
	all, err := io.ReadAll(in) // to the end of the connection
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(all), "\r\n\r\n")
	if strings.Contains(strings.ToLower(head), "transfer-encoding") || !strings.HasPrefix(body, "data: {") || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("an answer by HTTP/1.0 = %s", all)
	}
	q.want("a byte order mark", q.Call("POST", "/v1/chat/completions", "\xef\xbb\xbf"+strings.Replace(ask, `"stream":true,`, "", 1)), 200, "Alpha.")
}
