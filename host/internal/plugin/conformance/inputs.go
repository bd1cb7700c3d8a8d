package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/plugin"
)

// baseURL is the workspace's in what encode is asked.
const baseURL = "https://provider.example/v1"

// The chats that encode is asked for.
const (
	chatPlain = `{"model":"m-1","messages":[{"role":"user","content":"Hello"}],"stream":true}`
	chatFull  = `{"model":"m-1","temperature":0.2,"max_tokens":100,"messages":[{"role":"system","content":"Be short."},` +
		`{"role":"user","content":"Grüße \"\\\n\u0001 😀"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"searchInIndex","arguments":"{\"q\":\"a\"}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"[]"}],` +
		`"tools":[{"type":"function","function":{"name":"searchInIndex","description":"Search","parameters":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}}}],"tool_choice":"auto","stream":true}`
	chatNew = `{"model":"m-1","messages":[{"role":"user","content":"Hello","x_new":{"a":[1,2]}}],"stream":true,"x_new":[{"b":null}],"x_number":1e400}`
	chatOdd = `{"model":null,"messages":[{"role":"user","content":[{"type":"text","text":"Hello"},{"type":"x_new"}]},{"role":"x_new","content":7},{}],"stream":true}`
)

// settings are those of a workspace that has all set that the manifest names.
func settings(m *abi.Manifest) abi.Settings {
	s := abi.Settings{BaseURL: baseURL}
	if manifest.UsesPlaceholders(m) {
		s.APIKey = abi.PlaceholderAPIKey
	}
	for name, at := range namedSettings(&s) {
		if _, ok := m.Settings[name]; ok {
			*at = "kit-1"
		}
	}
	return s
}

func namedSettings(s *abi.Settings) map[string]*string {
	return map[string]*string{"orgId": &s.OrgID, "projectId": &s.ProjectID, "apiVersion": &s.APIVersion, "deploymentId": &s.DeploymentID}
}

// leastRequest is of a workspace that has set what the manifest requires and nothing
// else: without that a host asks no plugin.
func leastRequest(m *abi.Manifest) *abi.EncodeRequest {
	r := abi.EncodeRequest{Settings: settings(m), Options: ExampleOptions(m), Chat: abi.RawJSON(chatPlain)}
	least := namedSettings(&r.Settings)
	least["baseUrl"], least["apiKey"] = &r.Settings.BaseURL, &r.Settings.APIKey
	for name, at := range least {
		if !m.Settings[name].Required {
			*at = ""
		}
	}
	if !m.Settings["apiKey"].Required {
		delete(r.Options, "apiKey")
	}
	for name := range m.Options {
		if o := m.Options[name]; !o.Required && o.Default == nil {
			delete(r.Options, name)
		}
	}
	return &r
}

// ExampleOptions sets every option of m, and every secret: to what an encode self-test
// has, a default or what fits the type.
func ExampleOptions(m *abi.Manifest) map[string]abi.RawJSON {
	if manifest.UsesPlaceholders(m) {
		return nil
	}
	all := map[string]abi.RawJSON{"apiKey": abi.RawJSON("true")}
	for name := range m.Options {
		o := m.Options[name]
		switch {
		case o.Secret:
			all[name] = abi.RawJSON("true")
		case o.Default != nil:
			all[name] = o.Default
		case len(o.Enum) > 0:
			all[name] = mustJSON(o.Enum[0])
		case o.Type == abi.OptionString:
			all[name] = abi.RawJSON(`"x"`) // which may be a part of a host's name
		case o.Type == abi.OptionBoolean:
			all[name] = abi.RawJSON("true")
		case o.Minimum != nil:
			all[name] = mustJSON(*o.Minimum)
		default:
			all[name] = abi.RawJSON("1")
		}
	}
	for n := range m.SelfTest {
		var in abi.EncodeRequest
		if t := &m.SelfTest[n]; t.Call == abi.SelfTestEncode && json.Unmarshal(t.Input, &in) == nil {
			for name, v := range in.Options {
				if _, ok := m.Options[name]; ok {
					all[name] = v
				}
			}
		}
	}
	return all
}

// question is the plainest encode request there is.
func question(m *abi.Manifest) input { return encodeInput("a question", m, chatPlain, 0) }

// encodeInputs are requests that a host may make; the first is [question].
func encodeInputs(m *abi.Manifest) []input {
	return []input{
		question(m),
		encodeInput("a conversation with tools", m, chatFull, 1, "AP8="),
		encodeInput("a third round", m, chatFull, 2, "", "AAEC"),
		encodeInput("members of a later version in the chat", m, chatNew, 0),
		encodeInput("parts and roles of odd types", m, chatOdd, 0),
		encodeInput("no messages", m, `{"messages":[]}`, 0),
		encodeInput("an empty chat", m, `{}`, 0),
		{"no settings but those that it requires", mustJSON(leastRequest(m))},
	}
}

func encodeInput(name string, m *abi.Manifest, chat string, round int, carry ...string) input {
	return input{name, mustJSON(&abi.EncodeRequest{Settings: settings(m), Options: ExampleOptions(m), Chat: abi.RawJSON(chat), Round: round, Carry: carry})}
}

// opInputs are requests for an op that the host reads by itself.
func opInputs(m *abi.Manifest, op string) (all []input) {
	for _, base := range []string{"", baseURL} {
		if base == "" && m.Settings["baseUrl"].Required {
			continue
		}
		r := abi.EncodeRequest{Op: op, Settings: settings(m), Options: ExampleOptions(m)}
		r.Settings.BaseURL = base
		if op != abi.OpEmbed {
			all = append(all, input{"op " + op, mustJSON(&r)})
			continue
		}
		r.Model = "m-1"
		if len(m.Embed.Models) > 0 {
			r.Model = m.Embed.Models[0]
		}
		for _, of := range []string{abi.InputDocument, abi.InputQuery} {
			for _, texts := range [][]string{{"Hello", "Grüße \"\\\n\u2028😀"}, {"Hello"}} {
				r.InputType, r.Texts = of, texts
				all = append(all, input{fmt.Sprintf("op %s of %d texts, each a %s", op, len(texts), of), mustJSON(&r)})
			}
		}
	}
	return all
}

// errorInputs are responses that are no success.
func errorInputs() []input {
	const openAI = `{"error":{"message":"No such model: m-1","type":"invalid_request_error","param":null,"code":"x_new_code"}}`
	var all []input
	for _, status := range []int{400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529, 599} {
		all = append(all, errorInput(status, openAI))
	}
	for _, body := range []string{"", "<html><h1>Bad gateway</h1></html>", `{"error":"text"}`, `[{"error":{}}]`, `{"error":{"message":7}}`, "\x00\xff", openAI[:40]} {
		all = append(all, errorInput(502, body))
	}
	return all
}

func errorInput(status int, body string) input {
	headers := map[string]string{"content-type": "application/json", "retry-after": "7", "x-new-header": "1"}
	return input{fmt.Sprintf("status %d with the body %s", status, quote(body)), mustJSON(&abi.ErrorRequest{Status: status, Headers: headers, Body: body})}
}

// mustJSON is for what this package writes itself.
func mustJSON(v any) []byte {
	b, err := plugin.InputJSON(v)
	if err != nil {
		panic(err)
	}
	return b
}

// shapes are streams as LLM APIs send them. A provider need not understand
// those that are not its own; it has to end them well.
func shapes() []stream {
	const (
		head  = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763700000,"model":"m-1","choices":[`
		text  = head + `{"index":0,"delta":{"content":%q},"finish_reason":null}]}`
		first = head + `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
		stop  = head + `{"index":0,"delta":{},"finish_reason":%q}]}`
		usage = head + `],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`
	)
	openAI := []string{first}
	for _, word := range []string{"Hel", "lo", " \"you\"\\", "\n😀", " and", " more"} {
		openAI = append(openAI, fmt.Sprintf(text, word))
	}
	anthropic := stream{name: "Anthropic's form"}
	for _, data := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}`,
		`{"type":"message_stop"}`,
	} {
		_, typ, _ := strings.Cut(data, `"type":"`)
		typ, _, _ = strings.Cut(typ, `"`)
		anthropic.events = append(anthropic.events, abi.Event{Type: typ, Data: []byte(data)})
	}
	return []stream{
		streamOf("OpenAI's form", append(openAI, fmt.Sprintf(stop, "stop"), usage, "[DONE]")...),
		streamOf("OpenAI's form with a tool call",
			first,
			head+`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"searchInIndex","arguments":""}}]},"finish_reason":null}]}`,
			head+`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}]},"finish_reason":null}]}`,
			head+`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\\u00e9\"}"}}]},"finish_reason":null}]}`,
			fmt.Sprintf(stop, "tool_calls"), "[DONE]"),
		streamOf("OpenAI's form, cut off", openAI...),
		streamOf("OpenAI's form with an error", first, fmt.Sprintf(text, "Hel"), `{"error":{"message":"Overloaded","type":"server_error","code":null}}`),
		anthropic,
		streamOf("Gemini's form",
			`{"candidates":[{"content":{"parts":[{"text":"Hel"}],"role":"model"},"index":0}],"modelVersion":"m-1"}`,
			`{"candidates":[{"content":{"parts":[{"text":"lo"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13},"modelVersion":"m-1"}`),
		streamOf("plain words", "Hello", " ", "you", "Grüße 😀"),
		streamOf("values of every kind", `null`, `true`, `7`, `"text"`, `[]`, `{}`, `[{"choices":null}]`, `{"choices":[null]}`, `{"choices":[{"delta":null}]}`, `{"choices":[{"delta":{"content":7,"tool_calls":{}}}]}`),
		streamOf("what is not JSON", "", "{", `{"choices":[{"delta":{"content":"x`, "\x00\xff\xfe", "<html>", `{"a":"\ud800"}`, "[DONE]"),
	}
}
