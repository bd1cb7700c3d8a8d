package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// An itemBody is an item of a response with what is sealed of it.
type itemBody struct {
	ID, Type string
	CallID   string  `json:"call_id"`
	Sealed   *string `json:"encrypted_content"`
}

// callingTurn is a round that thinks, leaves something for the plugin, and calls a
// function of the client.
func callingTurn(thought bool) chattest.Script {
	events := []string{"model:theirs"}
	if thought {
		events = append(events, "reasoning:Hm.")
	}
	return script(append(events, "text:Let me look.", "tool:0:c1:weather\nargs:0:{}", "carry:sig", "carry:nature", "usage:3,4\nfinish:tool_calls")...)
}

const weatherTool = `"tools":[{"type":"function","name":"weather","parameters":{}}]`

func outputOf(t *testing.T, body string) (items []itemBody, raw []json.RawMessage) {
	t.Helper()
	for _, into := range []any{&items, &raw} {
		r := struct{ Output any }{into}
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatalf("response %s: %v", body, err)
		}
	}
	return items, raw
}

// A client that has nothing kept sends back what the host sealed, and the plugin
// has its own again; also where the model said nothing of what it thought.
func TestV1ReasoningSealed(t *testing.T) {
	for _, thought := range []bool{true, false} {
		up := &chattest.Upstream{Scripts: []chattest.Script{callingTurn(thought), script("text:Rain", "finish:stop")}}
		r := newRig(t, wish{upstream: up})
		const ask = `{"model":"demo/m","store":false,"include":["reasoning.encrypted_content"],` + weatherTool + `,"input":`
		first := r.do("POST", responsesV1, ask+`"Hi"}`)
		items, raw := outputOf(t, first.body)
		sealed := ""
		for _, it := range items {
			if it.Type == "reasoning" && it.Sealed != nil {
				sealed = *it.Sealed
			}
		}
		if len(items) != 3 || !strings.HasPrefix(sealed, "parley.") || strings.Contains(first.body, "signature") || strings.Contains(first.body, base64.RawURLEncoding.EncodeToString([]byte("signature"))) {
			t.Fatalf("thought %v: response = %d %s", thought, first.status, first.body)
		}
		input, err := json.Marshal(append(append([]json.RawMessage{json.RawMessage(`{"role":"user","content":"Hi"}`)}, raw...), json.RawMessage(`{"type":"function_call_output","call_id":"c1","output":"wet"}`)))
		check(t, err)
		if a := r.do("POST", responsesV1, ask+string(input)+`}`); a.status != 200 {
			t.Fatalf("second response = %d %s", a.status, a.body)
		}
		if got := r.source.Requests()[1].Carry; len(got) != 1 || got[0] != base64.StdEncoding.EncodeToString([]byte("signature")) {
			t.Errorf("thought %v: the plugin is given back %q", thought, got)
		}
		// Another model, and another call, are not what it was sealed for.
		for name, other := range map[string]string{
			"model": strings.Replace(ask+string(input)+`}`, "demo/m", "demo/n", 1),
			"call":  ask + strings.ReplaceAll(string(input), `"c1"`, `"c2"`) + `}`,
		} {
			before := len(r.source.Requests())
			if a := r.do("POST", responsesV1, other); a.status != 200 || len(r.source.Requests()[before].Carry) > 0 {
				t.Errorf("another %s: %d, the plugin is given %q", name, a.status, r.source.Requests()[before].Carry)
			}
		}
	}
}

// Encrypted content of another service is passed over; ours that is damaged, or that
// another key's client got, is refused by its place.
func TestV1ReasoningForeign(t *testing.T) {
	t.Parallel()
	up := &chattest.Upstream{Scripts: []chattest.Script{callingTurn(true), script("text:Well", "finish:stop")}}
	r := newRig(t, wish{upstream: up})
	items, _ := outputOf(t, r.do("POST", responsesV1, `{"model":"demo/m","include":["reasoning.encrypted_content"],"input":"Hi",`+weatherTool+`}`).body)
	ours := *items[0].Sealed
	ask := func(sealed string, header ...string) answer {
		return r.do("POST", responsesV1, `{"model":"demo/m","input":[{"role":"user","content":"Hi"},{"type":"reasoning","summary":[],"encrypted_content":"`+sealed+`"}]}`, header...)
	}
	for name, sealed := range map[string]string{"OpenAI's": "gAAAAABotherwise", "none": ""} {
		if a := ask(sealed); a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	other := []string{"Authorization", "Bearer " + r.key([]string{"chatCompletions", "search"}, []string{"*"})}
	flipped := []byte(ours)
	flipped[len(flipped)-4] ^= 1
	for name, a := range map[string]answer{
		"damaged": ask(string(flipped)), "cut": ask(ours[:len(ours)-8]), "not base64": ask("parley.*"), "too long": ask("parley." + strings.Repeat("A", 3<<20)),
		"of another key": ask(ours, other...),
	} {
		t.Run(name, func(t *testing.T) {
			checkErrorV1(t, a, 400, "invalid_request_error", "invalid_encrypted_content", "input[1].encrypted_content")
		})
	}
}

// What the host keeps has the state with it, whether the client goes on by the
// response or by references, and shows it only to who asks.
func TestV1ReasoningKept(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{callingTurn(true), script("text:Rain", "finish:stop"), script("text:Rain", "finish:stop")}}
	r := newRig(t, wish{upstream: up})
	first := r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi",`+weatherTool+`}`)
	got, _ := outputOf(t, first.body)
	if len(got) != 3 || got[0].Sealed != nil || strings.Contains(first.body, "parley.") {
		t.Fatalf("response = %s", first.body)
	}
	id := readResponse(t, first.body).ID
	second := r.do("POST", responsesV1, `{"model":"demo/m","previous_response_id":"`+id+`","input":[{"type":"function_call_output","call_id":"c1","output":"wet"}]}`)
	r.do("POST", responsesV1, `{"model":"demo/m","input":[{"role":"user","content":"Hi"},{"type":"item_reference","id":"`+got[0].ID+`"},{"type":"item_reference","id":"`+got[2].ID+`"},{"type":"function_call_output","call_id":"c1","output":"wet"}]}`)
	for i, sent := range r.source.Requests()[1:] {
		if len(sent.Carry) != 1 || sent.Carry[0] != base64.StdEncoding.EncodeToString([]byte("signature")) {
			t.Errorf("request %d: the plugin is given back %q", i, sent.Carry)
		}
	}
	// What is listed is what was asked, with ids, and nothing that is sealed.
	list := r.do("GET", responsesV1+"/"+readResponse(t, second.body).ID+"/input_items?order=asc&limit=3", "")
	var page struct {
		Object  string
		Data    []itemBody
		FirstID string `json:"first_id"`
		LastID  string `json:"last_id"`
		HasMore bool   `json:"has_more"`
	}
	check(t, json.Unmarshal([]byte(list.body), &page))
	if page.Object != "list" || len(page.Data) != 3 || !page.HasMore || page.Data[0].Type != "message" || !strings.HasPrefix(page.FirstID, "msg_") || page.LastID != page.Data[2].ID || strings.Contains(list.body, "parley.") {
		t.Errorf("input items = %s", list.body)
	}
	rest := r.do("GET", responsesV1+"/"+readResponse(t, second.body).ID+"/input_items?order=asc&after="+page.LastID, "")
	check(t, json.Unmarshal([]byte(rest.body), &page))
	if len(page.Data) != 2 || page.HasMore || page.Data[0].Type != "function_call" || page.Data[1].Type != "function_call_output" || page.Data[1].ID == "" || strings.Contains(rest.body, "parley.") {
		t.Errorf("the rest of the input items = %s", rest.body)
	}
}

// A stream ends an item of reasoning once its state is known.
func TestV1ReasoningStream(t *testing.T) {
	t.Parallel()
	up := &chattest.Upstream{Scripts: []chattest.Script{callingTurn(true)}}
	r := newRig(t, wish{upstream: up})
	a := r.do("POST", responsesV1, `{"model":"demo/m","input":"Hi","stream":true,"include":["reasoning.encrypted_content"],`+weatherTool+`}`)
	ended, open := 0, map[string]bool{}
	for frame := range strings.SplitSeq(strings.TrimSuffix(a.body, "\n\n"), "\n\n") {
		_, data, _ := strings.Cut(frame, "\ndata: ")
		var e struct {
			Type string
			Item itemBody
		}
		check(t, json.Unmarshal([]byte(data), &e))
		switch e.Type {
		case "response.output_item.added":
			open[e.Item.ID] = true
		case "response.output_item.done":
			if !open[e.Item.ID] {
				t.Errorf("%s ends twice, or never began", e.Item.ID)
			}
			delete(open, e.Item.ID)
			if e.Item.Type == "reasoning" && e.Item.Sealed != nil && strings.HasPrefix(*e.Item.Sealed, "parley.") {
				ended++
			}
		}
	}
	if ended != 1 || len(open) > 0 || !strings.Contains(a.body, "event: response.completed") {
		t.Errorf("stream: %d items of reasoning with their state, %v still open:\n%s", ended, open, a.body)
	}
}

// The surface of kept responses is that of OpenAI's clients.
func TestV1ResponseItems(t *testing.T) {
	r := newRig(t, wish{upstream: &chattest.Upstream{Scripts: []chattest.Script{script("text:One", "finish:stop")}}})
	id := readResponse(t, r.do("POST", responsesV1, `{"model":"demo/m","input":[{"role":"user","content":"A"},{"role":"assistant","content":"B"},{"role":"user","content":[{"type":"input_text","text":"C"}]}]}`).body).ID
	at := responsesV1 + "/" + id
	a := r.do("GET", at+"/input_items", "")
	if a.status != 200 || strings.Index(a.body, `"text":"C"`) > strings.Index(a.body, `"text":"A"`) || !strings.Contains(a.body, `{"annotations":[],"logprobs":[],"text":"B","type":"output_text"}`) || !strings.Contains(a.body, `"has_more":false`) {
		t.Errorf("input items, newest first = %d %s", a.status, a.body)
	}
	checkErrorV1(t, r.do("GET", at+"/input_items?limit=0", ""), 400, "invalid_request_error", "unsupported_value", "limit")
	checkErrorV1(t, r.do("GET", at+"/input_items?order=up", ""), 400, "invalid_request_error", "unsupported_value", "order")
	checkErrorV1(t, r.do("GET", at+"/input_items?after=msg_0", ""), 400, "invalid_request_error", "unsupported_value", "after")
	checkErrorV1(t, r.do("GET", responsesV1+"/resp_0/input_items", ""), 404, "invalid_request_error", "response_not_found", "response_id")
	checkErrorV1(t, r.do("POST", at+"/cancel", ""), 400, "invalid_request_error", "response_not_cancellable", "response_id")
	checkErrorV1(t, r.do("POST", responsesV1+"/resp_0/cancel", ""), 404, "invalid_request_error", "response_not_found", "response_id")
	other := []string{"Authorization", "Bearer " + r.key([]string{"chatCompletions", "search"}, []string{"*"})}
	checkErrorV1(t, r.do("GET", at+"/input_items", "", other...), 404, "invalid_request_error", "response_not_found", "response_id")
	checkErrorV1(t, r.do("POST", at+"/cancel", "", other...), 404, "invalid_request_error", "response_not_found", "response_id")
}
