package httpapi_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/chattest"
)

const responsesV1 = "/v1/responses"

// A responseBody is what the tests look at.
type responseBody struct {
	ID, Object, Status, Model string
	Store                     bool
	Output                    []struct {
		ID, Type, Status, Namespace, Name, Arguments, Input string
		CallID                                              string `json:"call_id"`
		Content                                             []struct{ Type, Text string }
		Results                                             []json.RawMessage
	}
	Incomplete *struct{ Reason string } `json:"incomplete_details"`
	Error      *struct{ Code, Message string }
	Usage      map[string]any
}

func readResponse(t *testing.T, body string) responseBody {
	t.Helper()
	var r responseBody
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("response %s: %v", body, err)
	}
	return r
}

// script is an answer of one round.
func script(events ...string) chattest.Script { return chattest.Script{Batches: [][]string{events}} }

// A response has every member, also those that were not asked for.
func TestV1Response(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{script("model:theirs\nreasoning:Hm.", "text:Hello", "usage:3,4,1,2\nfinish:stop")}}
	r := newRig(t, wish{upstream: up})
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi","instructions":"Be brief.","metadata":{"a":"b"},"text":{"format":{"type":"text"}},"unknown":1}`)
	if a.status != 200 {
		t.Fatalf("response = %d %s", a.status, a.body)
	}
	var members map[string]any
	check(t, json.Unmarshal([]byte(a.body), &members))
	for _, name := range strings.Fields("id object created_at completed_at status background error incomplete_details instructions max_output_tokens max_tool_calls model output " +
		"parallel_tool_calls previous_response_id reasoning service_tier store temperature text tool_choice tools top_p top_logprobs presence_penalty frequency_penalty " +
		"truncation usage user metadata safety_identifier prompt_cache_key") {
		if _, ok := members[name]; !ok {
			t.Errorf("response has no %s: %s", name, a.body)
		}
	}
	got := readResponse(t, a.body)
	if got.Status != "completed" || got.Model != "demo/m" || !got.Store || len(got.Output) != 2 || got.Output[0].Type != "reasoning" || got.Output[1].Content[0].Text != "Hello" || got.Usage["total_tokens"] != 7.0 {
		t.Errorf("response = %s", a.body)
	}
}

// The conversation goes on by the id of a response, and by references to items;
// nobody else can have either.
func TestV1ResponsesKept(t *testing.T) {
	t.Parallel()
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("text:One", "finish:stop"), script("text:Two", "finish:stop"), script("text:Three", "finish:stop"),
	}}
	r := newRig(t, wish{upstream: up})
	first := readResponse(t, r.do("POST", responsesV1, `{"model":"demo/m","input":"A","instructions":"I"}`).body)
	second := readResponse(t, r.do("POST", responsesV1, `{"model":"demo/m","input":"B","previous_response_id":"`+first.ID+`"}`).body)
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":[{"role":"user","content":"C"},{"type":"item_reference","id":"`+second.Output[0].ID+`"},{"role":"user","content":[{"type":"input_text","text":"D"}]}]}`)
	if a.status != 200 {
		t.Fatalf("response by reference = %d %s", a.status, a.body)
	}
	sent := up.Sent()
	for i, want := range []string{
		`{"content":"I","role":"system"},{"content":"A","role":"user"}]`,
		`{"content":"A","role":"user"},{"content":"One","role":"assistant"},{"content":"B","role":"user"}]`,
		`{"content":"C","role":"user"},{"content":"Two","role":"assistant"},{"content":"D","role":"user"}]`,
	} {
		if body := string(sent[i].Encoded.Body); !strings.Contains(body, want) || i > 0 && strings.Contains(body, `"I"`) {
			t.Errorf("request %d = %s, want %s in it", i, body, want)
		}
	}
	other := []string{"Authorization", "Bearer " + r.key([]string{"chatCompletions", "search"}, []string{"*"})}
	checkErrorV1(t, r.do("GET", responsesV1+"/"+first.ID, "", other...), 404, "invalid_request_error", "response_not_found", "response_id")
	checkErrorV1(t, r.do("DELETE", responsesV1+"/"+first.ID, "", other...), 404, "invalid_request_error", "response_not_found", "response_id")
	checkErrorV1(t, r.do("POST", responsesV1, `{"model":"demo/m","input":"B","previous_response_id":"`+first.ID+`"}`, other...), 400, "invalid_request_error", "previous_response_not_found", "previous_response_id")
	checkErrorV1(t, r.do("POST", responsesV1, `{"model":"demo/m","input":[{"type":"item_reference","id":"`+second.Output[0].ID+`"}]}`, other...), 404, "invalid_request_error", "item_not_found", "input[0].id")
	r.play(t, []scenario{
		{name: "get", method: "GET", path: responsesV1 + "/" + first.ID, status: 200, contains: []string{first.ID, "One"}},
		{name: "delete", method: "DELETE", path: responsesV1 + "/" + first.ID, status: 200, contains: []string{`{"id":"` + first.ID + `","object":"response","deleted":true}`}},
		{name: "deleted", method: "GET", path: responsesV1 + "/" + first.ID, status: 404},
	})
}

// What a host keeps nothing of is refused by the option's name.
//
//parley:option responses-ttl
func TestV1ResponsesNotKept(t *testing.T) {
	r := newRig(t, wish{forgets: true})
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"A"}`)
	if got := readResponse(t, a.body); got.Store {
		t.Errorf("store of a host that keeps nothing: %s", a.body)
	}
	a = r.do("POST", responsesV1, `{"model":"demo/m","input":"A","previous_response_id":"resp_1"}`)
	checkErrorV1(t, a, 400, "invalid_request_error", "previous_response_not_found", "previous_response_id")
	if !strings.Contains(a.body, "--responses-ttl") {
		t.Errorf("%s does not name the option", a.body)
	}
}

// What was not to be stored is not.
func TestV1ResponseNotStored(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	got := readResponse(t, r.do("POST", responsesV1, `{"model":"demo/m","input":"A","store":false}`).body)
	if a := r.do("GET", responsesV1+"/"+got.ID, ""); a.status != 404 || got.Store {
		t.Errorf("store %v, GET = %d", got.Store, a.status)
	}
}

var digits = regexp.MustCompile(`"sequence_number":(\d+)`)

// The events of a stream come in order, without gaps, and each says what it is
// of.
func TestV1ResponseStream(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("model:theirs\nreasoning:Hm.", "text:Hel", "text:lo", "tool:0:c1:weather\ntool:1:c2:now", `args:0:{"a"`, "args:0::1}", "usage:3,4\nfinish:tool_calls"),
	}}
	r := newRig(t, wish{upstream: up})
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi","stream":true,"tools":[{"type":"function","name":"weather","parameters":{}},{"type":"function","name":"now"}]}`)
	var types []string
	for i, frame := range strings.Split(strings.TrimSuffix(a.body, "\n\n"), "\n\n") {
		typ, data, ok := strings.Cut(strings.TrimPrefix(frame, "event: "), "\ndata: ")
		if !ok || !strings.Contains(data, `"type":"`+typ+`"`) {
			t.Fatalf("frame %q", frame)
		}
		if n := digits.FindStringSubmatch(data); n == nil || n[1] != fmt.Sprint(i) {
			t.Errorf("event %d: %s", i, data)
		}
		if strings.Contains(typ, "delta") && !strings.Contains(data, `"item_id":"`) {
			t.Errorf("%s has no item_id", data)
		}
		types = append(types, strings.TrimPrefix(typ, "response."))
	}
	want := "created in_progress output_item.added reasoning_text.delta reasoning_text.done output_item.done " +
		"output_item.added content_part.added output_text.delta output_text.delta output_text.done content_part.done output_item.done " +
		"output_item.added output_item.added function_call_arguments.delta function_call_arguments.delta function_call_arguments.done output_item.done " +
		"function_call_arguments.delta function_call_arguments.done output_item.done completed"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
	_, last, _ := strings.Cut(a.body, "event: response.completed\ndata: ")
	var end struct{ Response responseBody }
	check(t, json.Unmarshal([]byte(last), &end))
	if o := end.Response.Output; len(o) != 4 || o[2].Name != "weather" || o[2].Arguments != `{"a":1}` || o[2].CallID != "c1" || o[3].Arguments != "{}" || o[3].Status != "completed" {
		t.Errorf("output = %+v", end.Response.Output)
	}
	if got := readResponse(t, r.do("GET", responsesV1+"/"+end.Response.ID, "").body); got.Status != "completed" {
		t.Errorf("a streamed response is kept as %+v", got)
	}
}

// What fails after the first event ends in response.failed, and tokens that run
// out in response.incomplete.
func TestV1ResponseEnds(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("text:Hello", `error:{"kind":"rate_limit","message":"enough"}`), script("text:Hello", "finish:length"),
		{Status: 429, Head: chattest.Head("Retry-After", "7"), Body: "slow down"},
	}}
	r := newRig(t, wish{upstream: up})
	ask := func() answer { return r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi","stream":true}`) }
	if a := ask(); !strings.Contains(a.body, "event: response.failed\n") || !strings.Contains(a.body, `"error":{"code":"rate_limit_exceeded"`) || !strings.Contains(a.body, `"status":"incomplete","type":"message"`) || strings.Contains(a.body, "[DONE]") {
		t.Errorf("stream that failed: %s", a.body)
	}
	if a := ask(); !strings.Contains(a.body, "event: response.incomplete\n") || !strings.Contains(a.body, `"incomplete_details":{"reason":"max_output_tokens"}`) || strings.Count(a.body, `"status":"incomplete","type":"message"`) != 2 {
		t.Errorf("stream that ran out: %s", a.body)
	}
	checkErrorV1(t, ask(), 429, "rate_limit_error", "rate_limit_exceeded", "")
}

// file_search says how much a search gives the model, and the client, at most.
func TestV1FileSearchResults(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{script("tool:0:c1:searchInIndex", `args:0:{"q":"cat"}`, "finish:tool_calls"), script("text:Jones", "finish:stop")}}
	r := newRig(t, wish{upstream: up, indexes: []chat.Index{{UID: "movies"}}, documents: map[string][]chat.Hit{
		"movies": {{ID: "1", Text: "cat Jones", Document: json.RawMessage(`{"id":1}`)}, {ID: "2", Text: "cat Goose", Document: json.RawMessage(`{"id":2}`)}},
	}})
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"A","tools":[{"type":"file_search","max_num_results":1}],"include":["file_search_call.results"]}`)
	got := readResponse(t, a.body)
	if len(got.Output) != 2 || len(got.Output[0].Results) != 1 || !strings.Contains(string(got.Output[0].Results[0]), `"movies/1"`) {
		t.Errorf("response = %s", a.body)
	}
	if told := string(up.Sent()[1].Encoded.Body); !strings.Contains(told, "cat Jones") || strings.Contains(told, "cat Goose") {
		t.Errorf("the model is told %s", told)
	}
}

// Functions of a namespace are offered under one name, and called under two.
func TestV1ResponseNamespaces(t *testing.T) {
	long := strings.Repeat("l", 60)
	flat := "agents__" + long[:47] + fmt.Sprintf("_%x", sha256.Sum256([]byte("agents__"+long)))[:9]
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("tool:0:c1:agents__spawn", `args:0:{"a":1}`, "tool:1:c2:"+flat, "args:1:{}", "tool:2:c3:spawn", "args:2:{}", "finish:tool_calls"), script("text:x", "finish:stop"),
	}}
	r := newRig(t, wish{upstream: up})
	tools := `"tools":[{"type":"function","name":"spawn"},{"type":"namespace","name":"agents","tools":[{"type":"function","name":"spawn","parameters":{}},{"type":"function","name":"` + long + `"},{"type":"custom","name":"c"}]}]`
	got := readResponse(t, r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi",`+tools+`}`).body)
	var called []string
	for _, it := range got.Output {
		called = append(called, it.Namespace+" "+it.Name+" "+it.Arguments)
	}
	if want := []string{`agents spawn {"a":1}`, "agents " + long + " {}", " spawn {}"}; !slices.Equal(called, want) {
		t.Errorf("calls = %q, want %q", called, want)
	}
	body := string(up.Sent()[0].Encoded.Body)
	for _, want := range []string{`{"function":{"name":"agents__spawn","parameters":{}},"type":"function"}`, `{"function":{"name":"` + flat + `"}`} {
		if !strings.Contains(body, want) {
			t.Errorf("sent %s, want %s in it", body, want)
		}
	}
	r.do("POST", responsesV1, `{"model":"demo/m","input":[{"type":"function_call","call_id":"c1","namespace":"agents","name":"spawn","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1"}]}`)
	if body := string(up.Sent()[1].Encoded.Body); !strings.Contains(body, `"name":"agents__spawn"`) {
		t.Errorf("sent %s, want the call by the name of then", body)
	}
}

// Custom tools, such as Codex's apply_patch, take a text as it is: the provider is offered
// a function of one text, and the client gets the text.
func TestV1ResponseCustomTools(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{
		script("tool:0:c1:apply_patch", `args:0:{"input":"*** Beg`, `args:0:in\n\"a\""}`, "tool:1:c2:box__exec", "args:1:ls", "tool:2:c3:f", `args:2:{"input":"x"}`, "finish:tool_calls"), script("text:x", "finish:stop"),
	}}
	r := newRig(t, wish{upstream: up})
	tools := `"tools":[{"type":"custom","name":"apply_patch","description":"Edits files.","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}},` +
		`{"type":"namespace","name":"box","tools":[{"type":"custom","name":"exec"}]},{"type":"function","name":"f"}],"tool_choice":{"type":"custom","name":"apply_patch"}`
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi",`+tools+`}`)
	var called []string
	got := readResponse(t, a.body)
	for _, it := range got.Output {
		called = append(called, it.Type+" "+it.Namespace+" "+it.Name+" "+it.Input+it.Arguments)
	}
	if want := []string{"custom_tool_call  apply_patch *** Begin\n\"a\"", "custom_tool_call box exec ls", `function_call  f {"input":"x"}`}; !slices.Equal(called, want) {
		t.Errorf("calls = %q, want %q", called, want)
	}
	body := string(up.Sent()[0].Encoded.Body)
	for _, want := range []string{
		`{"function":{"description":"Edits files.","name":"apply_patch","parameters":{"properties":{"input":{"description":"A text by this grammar (lark):\nstart: /.+/","type":"string"}},"required":["input"],"type":"object"}},"type":"function"}`,
		`"name":"box__exec"`, `"tool_choice":{"function":{"name":"apply_patch"},"type":"function"}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("sent %s, want %s in it", body, want)
		}
	}
	up.Scripts = append(up.Scripts, up.Scripts[0])
	r.do("POST", responsesV1, `{"model":"demo/m","previous_response_id":"`+got.ID+`","input":[{"type":"custom_tool_call_output","call_id":"c1","output":"done"},{"type":"custom_tool_call_output","call_id":"c2","output":"a b"},{"type":"function_call_output","call_id":"c3","output":"1"}]}`)
	if body, want := string(up.Sent()[1].Encoded.Body), `"tool_calls":[{"function":{"arguments":"{\"input\":\"*** Begin\\n\\\"a\\\"\"}","name":"apply_patch"},"id":"c1","type":"function"},{"function":{"arguments":"{\"input\":\"ls\"}","name":"box__exec"},"id":"c2","type":"function"}`; !strings.Contains(body, want) || !strings.Contains(body, `{"content":"done","role":"tool","tool_call_id":"c1"}`) {
		t.Errorf("sent %s, want %s in it", body, want)
	}
	a = r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi","stream":true,`+tools+`}`)
	for _, want := range []string{`"delta":"*** Begin\n\"a\"","item_id":"ctc_`, "event: response.custom_tool_call_input.done\n", `"input":"ls"`} {
		if !strings.Contains(a.body, want) {
			t.Errorf("stream %s, want %s in it", a.body, want)
		}
	}
}

func TestV1ResponseRequests(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{script("text:x", "finish:stop")}}
	r := newRig(t, wish{upstream: up})
	tests := []struct {
		name, more  string
		code, param string // of a refusal
		sends       []string
	}{
		{"calls and answers", `"input":[{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"g","arguments":""},{"type":"function_call_output","call_id":"c1","output":"1"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"2"}]},{"type":"web_search_call","id":"w"}]`, "", "", []string{
			`{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c1","type":"function"},{"function":{"arguments":"{}","name":"g"},"id":"c2","type":"function"}]},{"content":"1","role":"tool","tool_call_id":"c1"},{"content":"2","role":"tool","tool_call_id":"c2"}]`,
		}},
		{"fields", `"input":"a","max_output_tokens":100,"reasoning":{"effort":"low","summary":"auto"},"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{},"strict":true}},"tools":[{"type":"function","name":"f","parameters":{},"strict":true}],"tool_choice":{"type":"function","name":"f"},"user":"u","store":false`, "", "", []string{
			`"max_completion_tokens":100`, `"reasoning_effort":"low"`, `"verbosity":"low"`, `"response_format":{"json_schema":{"name":"n","schema":{},"strict":true},"type":"json_schema"}`,
			`"tools":[{"function":{"name":"f","parameters":{},"strict":true},"type":"function"}]`, `"tool_choice":{"function":{"name":"f"},"type":"function"}`,
		}},
		{"message of another agent", `"input":[{"type":"agent_message","author":"/a","recipient":"/a/b","content":[{"type":"input_text","text":"Payload:"},{"type":"encrypted_content","encrypted_content":"Count."}]},{"type":"configuration_update"}]`, "", "", []string{
			`{"content":[{"text":"Payload:","type":"text"},{"text":"Count.","type":"text"}],"role":"user"}]`,
		}},
		{"message of another agent without parts", `"input":[{"type":"agent_message","content":null}]`, "invalid_type", "input[0].content", nil},
		{"no input", `"a":1`, "missing_required_parameter", "input", nil},
		{"input's type", `"input":1`, "invalid_type", "input", nil},
		{"no role", `"input":[{"content":"x"}]`, "missing_required_parameter", "input[0].role", nil},
		{"unknown item", `"input":[{"type":"nope"}]`, "unsupported_value", "input[0].type", nil},
		{"picture", `"input":[{"role":"user","content":[{"type":"input_image"}]}]`, "unsupported_content_part", "input[0].content[0]", nil},
		{"offers that nobody takes up", `"input":"a","tool_choice":"auto","parallel_tool_calls":true,"tools":[{"type":"web_search"},{"type":"local_shell"},{"type":"image_generation"},{"type":"mcp","server_label":"s"},{"type":"tomorrow"}]`, "", "", []string{`{"content":"a","role":"user"}]}`}},
		{"hosted tool asked for", `"input":"a","tools":[{"type":"web_search"}],"tool_choice":{"type":"web_search"}`, "unsupported_value", "tool_choice", nil},
		{"any of none", `"input":"a","tools":[{"type":"web_search"}],"tool_choice":"required"`, "unsupported_value", "tool_choice", nil},
		{"tool without a type", `"input":"a","tools":[{"name":"f"}]`, "missing_required_parameter", "tools[0].type", nil},
		{"some of the tools", `"input":"a","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}],"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}`, "", "", []string{`"tools":[{"function":{"name":"g"},"type":"function"}],"tool_choice":"required"`}},
		{"allowed and not offered", `"input":"a","tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]}`, "invalid_value", "tool_choice.tools[0].name", nil},
		{"namespace without a name", `"input":"a","tools":[{"type":"namespace","tools":[]}]`, "missing_required_parameter", "tools[0].name", nil},
		{"function of a namespace without a name", `"input":"a","tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]`, "missing_required_parameter", "tools[0].tools[0].name", nil},
		{"number of results", `"input":"a","tools":[{"type":"file_search","max_num_results":0}]`, "unsupported_value", "tools[0].max_num_results", nil},
		{"type of the number of results", `"input":"a","tools":[{"type":"file_search","max_num_results":"2"}]`, "invalid_type", "tools[0].max_num_results", nil},
		{"choice", `"input":"a","tool_choice":{"type":"computer"}`, "unsupported_value", "tool_choice", nil},
		{"conversation", `"input":"a","conversation":"c"`, "unsupported_parameter", "conversation", nil},
		{"background", `"input":"a","background":true`, "unsupported_parameter", "background", nil},
		{"prompt", `"input":"a","prompt":{}`, "unsupported_parameter", "prompt", nil},
		{"stream", `"input":"a","stream":1`, "invalid_type", "stream", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := r.do("POST", responsesV1, `{"model":"demo/m",`+tt.more+"}")
			if tt.code != "" {
				checkErrorV1(t, a, 400, "invalid_request_error", tt.code, tt.param)
				return
			}
			if a.status != 200 {
				t.Fatalf("response = %d %s", a.status, a.body)
			}
			sent := up.Sent()
			body := string(sent[len(sent)-1].Encoded.Body)
			for _, want := range tt.sends {
				if !strings.Contains(body, want) {
					t.Errorf("sent %s, want %s in it", body, want)
				}
			}
			if strings.Contains(body, `"user":"u"`) || strings.Contains(body, `"store"`) {
				t.Errorf("sent %s, with fields that are OpenAI's own", body)
			}
		})
	}
}
