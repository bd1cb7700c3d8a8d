package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// events is a stream of Anthropic's events.
func events(data ...string) string {
	var b strings.Builder
	b.WriteString(house.Stream)
	for _, d := range data {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(d), &e)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Type, d)
	}
	return b.String()
}

// TestReasoningGoesOn: a provider that wants the model's signed thinking back with the
// answers to its calls gets it by what the client has sealed, also of a host that was
// started anew; and nothing where the client left it out.
func TestReasoningGoesOn(t *testing.T) {
	t.Parallel()
	const model = "claude-sonnet-4-5"
	w := house.NewWire(t)
	var bodies []string
	w.On(model, func(x *house.Exchange) {
		bodies = append(bodies, x.Body)
		start := `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}`
		if x.Nth > 1 {
			x.Say(events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Rain"}}`, `{"type":"content_block_stop","index":0}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`))
			return
		}
		x.Say(events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"A place is asked for."}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2lnbmVk"}}`, `{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"weather","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"at\":\"Rome\"}"}}`, `{"type":"content_block_stop","index":1}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}`, `{"type":"message_stop"}`))
	})
	data := t.TempDir()
	flags := func() map[string]string { return map[string]string{"db-path": data} }
	h := house.Open(t, flags(), house.Shipped(t, "anthropic"))
	h.Must("PATCH", "/chats/x/settings", fmt.Sprintf(`{"source":"anthropic","baseUrl":%q,"apiKey":"sk-ant-0123456789"}`, w.URL))
	const asks = `{"model":"x/` + model + `","reasoning":{"effort":"medium"},"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}],`
	first := h.Must("POST", "/v1/responses", asks+`"store":false,"include":["reasoning.encrypted_content"],"input":"How is it in Rome?"}`)
	var response struct{ Output []json.RawMessage }
	if err := json.Unmarshal([]byte(first.Body), &response); err != nil || len(response.Output) != 2 {
		t.Fatalf("response = %s: %v", first.Body, err)
	}
	if strings.Contains(first.Body, "c2lnbmVk") {
		t.Errorf("the client sees the signature: %s", first.Body)
	}
	h.Close()
	h = house.Open(t, flags(), house.Shipped(t, "anthropic"))
	input, err := json.Marshal(append(append([]json.RawMessage{json.RawMessage(`{"role":"user","content":"How is it in Rome?"}`)}, response.Output...),
		json.RawMessage(`{"type":"function_call_output","call_id":"toolu_1","output":"wet"}`)))
	if err != nil {
		t.Fatal(err)
	}
	h.Must("POST", "/v1/responses", asks+`"store":false,"input":`+string(input)+`}`)
	const thought = `{"type":"thinking","thinking":"A place is asked for.","signature":"c2lnbmVk"}`
	if !strings.Contains(bodies[1], thought) {
		t.Errorf("the provider is sent %s\nwant %s in it", bodies[1], thought)
	}
	without := strings.Replace(string(input), `"encrypted_content"`, `"ignored"`, 1)
	h.Must("POST", "/v1/responses", asks+`"store":false,"input":`+without+`}`)
	if strings.Contains(bodies[2], thought) {
		t.Errorf("the provider is sent what nobody had: %s", bodies[2])
	}
}
