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
	cut    bool                      // the connection is closed behind the body, before the response's end
	write  func(http.ResponseWriter) // writes the answer instead; nil: the above
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
	return told{status: status, kind: "application/json", body: fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","code":%q}}`, message, code)}
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
		if answer.write != nil {
			answer.write(w)
			return
		}
		if answer.kind == "" {
			answer.kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", answer.kind)
		if answer.status != 0 {
			w.WriteHeader(answer.status)
		}
		_, _ = io.WriteString(w, answer.body)
		if answer.cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(provider.Close)
	q.URL = provider.URL
	modules := make([][]byte, len(plugins))
	for i, name := range plugins {
		modules[i] = house.Shipped(t, name)
	}
	q.House = house.Open(t, map[string]string{"http-chat-payload-size-limit": "16 MiB"}, modules...)
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

// TestModelsWithoutTools: a model that takes no tools, or none beside a format, by the
// workspace's word or by its provider's refusal, is given what was searched for it, and
// is refused once.
func TestModelsWithoutTools(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "ollama")
	whole := func(asked) told { return stream(piece(`{"content":"Alpha."}`), finish("stop")) }
	refusing := func(status int, message string) func(asked) told {
		return func(a asked) told {
			if a.has("tools") {
				return refusal(status, message, "bad")
			}
			return whole(a)
		}
	}
	given := func(name string, i int) {
		t.Helper()
		all := q.requests(name)
		if i >= len(all) {
			t.Errorf("%s: %d requests", name, len(all))
			return
		}
		if a := all[i]; a.has("tools") || a.has("tool_choice") || !strings.Contains(string(a["messages"]), `\"hits\":[{`) || !strings.Contains(string(a["messages"]), "films") {
			t.Errorf("%s: request %d = %s, want the hits in its prompt and no tools", name, i, a)
		}
	}
	q.workspace("never", "openAi", `,"tools":"no","indexUids":["films"]`, whole)
	q.want("tools: no", q.Call("POST", "/v1/responses", `{"model":"never","input":"film"}`), 200, "Alpha.")
	given("never", 0)
	for name, answer := range map[string]func(asked) told{
		"vllm":       refusing(400, `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`),
		"groq":       refusing(400, "`tool calling` is not supported with this model"),
		"openrouter": refusing(404, "No endpoints found that support tool use. Try disabling \"searchInIndex\"."),
		"llamacpp":   refusing(500, "tools param requires --jinja flag"),
		"deepseek":   refusing(400, "deepseek-reasoner does not support Function Calling"),
	} {
		q.workspace(name, "openAi", `,"indexUids":["films"]`, answer)
		for range 2 {
			q.want(name, q.Call("POST", "/v1/chat/completions", `{"model":"`+name+`","tool_choice":"auto","messages":[{"role":"user","content":"film"}],"tools":[{"type":"function","function":{"name":"_meiliSearchSources","parameters":{}}}],"stream":true}`), 200, "Alpha.", `_meiliSearchSources`)
		}
		if n := len(q.requests(name)); n != 3 {
			t.Errorf("%s: %d requests for two answers, want 3", name, n)
		}
		given(name, 1)
		given(name, 2)
	}
	q.workspace("plain", "ollama", `,"indexUids":["films"]`, func(a asked) told {
		if a.has("tools") {
			return told{status: 400, kind: "application/json", body: `{"error":"registry.ollama.ai/library/m does not support tools"}`}
		}
		return lines(`{"model":"m","message":{"role":"assistant","content":"Alpha."},"done":false}`, `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`)
	})
	q.want("ollama", q.Call("POST", "/v1/chat/completions", `{"model":"plain","messages":[{"role":"user","content":"film"}]}`), 200, "Alpha.")
	given("plain", 1)
	const own = `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	q.want("a client's own tools", q.v1("groq", own), 200) // learnt: they are not sent
	q.workspace("strict", "openAi", "", refusing(400, "Invalid value for tools[0].function.parameters: schema is not supported"))
	q.want("another refusal", q.v1("strict", ""), 400, "schema")

	for name, message := range map[string]string{
		"groqjson": "json mode cannot be combined with tool/function calling",
		"cerebras": `"tools" is incompatible with "response_format"`,
		"gemini":   "Function calling with a response mime type: 'application/json' is unsupported",
	} {
		q.workspace(name, "openAi", `,"indexUids":["films"]`, func(a asked) told {
			switch {
			case a.has("tools") && a.has("response_format"):
				return refusal(400, message, "bad")
			case a.has("response_format"):
				return stream(piece(`{"content":"{\"title\":\"Alpha\"}"}`), finish("stop"))
			}
			return stream(piece(`{"content":"It is Alpha."}`), finish("stop"))
		})
		for range 2 {
			q.want(name, q.v1(name, `,"response_format":{"type":"json_object"}`), 200, `{\"title\":\"Alpha\"}`, "!It is")
		}
		if n := len(q.requests(name)); n != 5 {
			t.Errorf("%s: %d requests for two answers, want 5", name, n)
		}
	}
}

// TestTrialOfSettings: a test takes settings that are not stored.
func TestTrialOfSettings(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	q.workspace("new", "openAi", "", func(a asked) told {
		if !a.has("max_completion_tokens") {
			return refusal(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter")
		}
		return stream(piece(`{"content":"hello"}`), finish("stop"))
	})
	q.want("stored", q.Call("POST", "/chats/new/test", ""), 200, `"ok":true`)
	q.want("another address", q.Call("POST", "/chats/new/test", `{"baseUrl":"http://127.0.0.1:9/v1"}`), 200, `"ok":false`, `"problem":"apiKey"`)
	q.want("another address and key", q.Call("POST", "/chats/new/test", `{"baseUrl":"http://127.0.0.1:9/v1","apiKey":"key-987654321"}`), 200, `"ok":false`, `"problem":"baseUrl"`)
	q.want("no workspace", q.Call("POST", "/chats/absent/test", ""), 404, "chat_not_found")
	q.want("a workspace to be", q.Call("POST", "/chats/absent/test", fmt.Sprintf(`{"source":"openAi","baseUrl":"%s/new","apiKey":"key-987654321","model":"x"}`, q.URL)), 200, `"ok":true`, `"model":"x"`)
	q.want("nothing is stored", q.Call("GET", "/chats/absent/settings", ""), 404)
	q.want("a wrong setting", q.Call("POST", "/chats/new/test", `{"baseUrl":7}`), 400, "invalid_chat_completion_base_api")
	q.want("an unknown setting", q.Call("POST", "/chats/new/test", `{"url":"x"}`), 400, "url")
	q.want("as it was", q.Call("GET", "/chats/new/settings", ""), 200, q.URL)
}

// TestEmptyTemplate: a template that makes nothing of documents is warned of with its
// task, and the model is given passages, which the report says.
func TestEmptyTemplate(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	task := q.Must("PATCH", "/indexes/films/settings/chat", `{"documentTemplate":"{{ doc.nothing }}"}`)
	q.Finish(task)
	q.want("the task", q.Call("GET", "/tasks?limit=1", ""), 200, "documentTemplate makes nothing")
	q.workspace("empty", "openAi", "", func(a asked) told {
		if strings.Contains(string(a["messages"]), `"tool_call_id"`) {
			return stream(piece(`{"content":"Alpha."}`), finish("stop"))
		}
		return stream(strings.Replace(sought, "rockets", "film", 1), finish("tool_calls"))
	})
	q.want("the report", q.v1("empty", `,"stream":true,"tools":[{"type":"function","function":{"name":"_meiliSearchSources","parameters":{}}}]`), 200, "documentTemplate makes nothing")
	if all := q.requests("empty"); len(all) != 2 || strings.Contains(string(all[1]["messages"]), `\"text\":\"\"`) {
		t.Errorf("the model is given %s, want passages", all)
	}
}

// TestParts: images, sound and files reach providers in their own form; what is
// somewhere else is refused where the provider fetches nothing; and what the provider
// draws reaches the client.
func TestParts(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "anthropic", "ollama", "gemini", "bedrock")
	const png, pdf = "data:image/png;base64,iVBORw0KGgo=", "data:application/pdf;base64,JVBERi0="
	show := func(url string) string { return `{"type":"image_url","image_url":{"url":"` + url + `"}}` }
	file := `{"type":"file","file":{"filename":"a b.pdf","file_data":"` + pdf + `"}}`
	ask := func(name string, parts ...string) house.Reply {
		return q.Call("POST", "/v1/chat/completions", `{"model":"`+name+`","messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},`+strings.Join(parts, ",")+`]}]}`)
	}
	is := func(name, member string, wanted ...string) {
		t.Helper()
		all := q.requests(name)
		for _, w := range wanted {
			if len(all) == 0 || !strings.Contains(string(all[len(all)-1][member]), w) {
				t.Errorf("%s is sent %s, want %s", name, all, w)
			}
		}
	}
	stop := func(asked) told { return refusal(400, "stop here", "x") }
	for source, name := range map[string]string{"anthropic": "claude", "ollama": "llama", "gemini": "flash", "openAi": "gpt"} {
		q.workspace(name, source, "", stop)
	}
	ask("claude", show(png), show("https://example.com/a.png"), file)
	is("claude", "messages", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`, `{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`,
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"a b.pdf"}`)
	ask("llama", show(png))
	is("llama", "messages", `"content":"What is it?","images":["iVBORw0KGgo="]`)
	q.want("an address for Ollama", ask("llama", show("https://example.com/a.png")), 400, "content[1].image_url.url", "fetches none")
	q.want("a file for Ollama", ask("llama", file), 400, "messages[0].content[1].type", "unsupported_content_part")
	ask("flash", show(png), file, `{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}`)
	is("flash", "contents", `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`, `{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0="}}`, `{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}`)
	ask("gpt", show(png), file)
	is("gpt", "messages", show(png), file)
	big := show("data:image/png;base64," + strings.Repeat("A", 3<<20))
	ask("gpt", big)
	is("gpt", "messages", strings.Repeat("A", 3<<20))
	q.want("too much", ask("gpt", big, big), 400, "messages[0].content[2]", "content_part_too_large")

	drawn := "data:image/png;base64," + strings.Repeat("B", 3<<20)
	q.workspace("painter", "openAi", "", func(asked) told {
		return stream(piece(`{"content":"Here."}`), piece(`{"images":[{"type":"image_url","image_url":{"url":"`+drawn+`"}}]}`), finish("stop"))
	})
	q.want("an image of OpenRouter, over 2 MiB", q.v1("painter", ""), 200, "Here.", `"images":[{"type":"image_url","image_url":{"url":"`+drawn[:99])
	q.workspace("banana", "gemini", "", func(asked) told {
		return told{body: `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Here."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":9,"totalTokenCount":12,"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":8}]},"modelVersion":"m","responseId":"r"}` + "\n\n"}
	})
	q.want("an image of Gemini", q.v1("banana", ""), 200, "Here.", `"images":[{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="},"type":"image_url"}]`, `"image_tokens":8`)
	q.want("chunks", q.v1("banana", `,"stream":true`), 200, "iVBORw0KGgo=")

	q.workspace("linked", "openAi", "", func(asked) told {
		return stream(piece(`{"content":[{"type":"text","text":"Here."},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`), finish("stop"))
	})
	const data, link = `iVBORw0KGgo=`, `[image](https://example.com/a.png)`
	respond := func(name, more string) house.Reply {
		return q.Call("POST", "/v1/responses", `{"model":"`+name+`","input":"Draw."`+more+`}`)
	}
	q.want("a response", respond("banana", ""), 200, `"result":"`+data+`","status":"completed","type":"image_generation_call"}`, `"text":"Here."`)
	q.want("its events", respond("banana", `,"stream":true`), 200, "event: response.image_generation_call.completed", `"item":{"id":"ig_`, `"result":"`+data)
	q.want("a link in a response", respond("linked", ""), 200, link)
	message := func(name string) house.Reply {
		return q.Call("POST", "/v1/messages", `{"model":"`+name+`","max_tokens":99,"messages":[{"role":"user","content":"Draw."}]}`)
	}
	q.want("a message", message("banana"), 200, `{"type":"text","text":"Here."}`, `{"type":"text","text":"[The model drew an image (image/png, `, "!"+data)
	q.want("a link in a message", message("linked"), 200, `{"type":"text","text":"!`+link+`"}`)
	q.want("a text", q.Call("POST", "/v1/completions", `{"model":"banana","prompt":"Draw."}`), 200, `"text":"Here.\n\n[The model drew an image (image/png, `)
	q.want("a chat", q.Call("POST", "/chats/banana/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"Draw."}]}`), 200, data)
	q.want("a UI", q.Call("POST", "/chats/banana/ui", `{"messages":[{"role":"user","parts":[{"type":"text","text":"Draw."}]}]}`), 200, `{"mediaType":"image/png","type":"file","url":"data:image/png;base64,`+data+`"}`)
}

// TestUnknownEnds: a reason to finish that is not known is no end of a whole answer, and
// the client gets the provider's word.
func TestUnknownEnds(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai", "ollama", "anthropic")
	q.workspace("oend", "openAi", "", func(asked) told { return stream(piece(`{"content":"Alpha."}`), finish("weird_end")) })
	q.workspace("lend", "ollama", "", func(asked) told {
		return lines(`{"model":"m","message":{"role":"assistant","content":"Alpha."},"done":true,"done_reason":"weird_end"}`)
	})
	q.workspace("aend", "anthropic", "", func(asked) told {
		return told{body: strings.TrimPrefix(events(
			`{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"claude","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Alpha."}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"weird_end"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), house.Stream)}
	})
	for _, name := range []string{"oend", "lend", "aend"} {
		q.want(name, q.v1(name, ""), 200, "Alpha.", `"native_finish_reason":"weird_end"`, `"finish_reason":"length"`)
		q.want(name+" streamed", q.v1(name, `,"stream":true`), 200, `"native_finish_reason":"weird_end"`, `"finish_reason":"length"`)
		q.want(name+" as a response", q.Call("POST", "/v1/responses", `{"model":"`+name+`","input":"q"}`), 200, `"status":"incomplete"`)
	}
}

// TestSearchNotOffered: a model that calls the search where there is none to call is told
// so, and nothing is searched.
func TestSearchNotOffered(t *testing.T) {
	t.Parallel()
	q := openQuirks(t, "openai")
	q.workspace("unasked", "openAi", `,"indexUids":[]`, func(a asked) told {
		if strings.Contains(string(a["messages"]), `"tool_call_id"`) {
			return stream(piece(`{"content":"Alpha."}`), finish("stop"))
		}
		return stream(sought, finish("tool_calls"))
	})
	q.want("the answer", q.v1("unasked", ""), 200, "Alpha.")
	all := q.requests("unasked")
	if len(all) != 2 || all[0].has("tools") || !strings.Contains(string(all[1]["messages"]), "There is no function") || strings.Contains(string(all[1]["messages"]), "hits") {
		t.Errorf("the provider is asked %s", all)
	}
}
