package chat_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// messagesOf are those of what the plugin was asked for a round, but for the system's.
func messagesOf(t *testing.T, f *fixture, round int) []string {
	t.Helper()
	var body struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(f.source.Requests()[round].Chat, &body); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range body.Messages {
		if !strings.Contains(string(m), `"role":"system"`) {
			all = append(all, string(m))
		}
	}
	return all
}

// TestSaidGoesBack: the message of a round that searched has what the provider said
// of it, in the next round and in the report that clients keep.
func TestSaidGoesBack(t *testing.T) {
	f := newFixture(t,
		say("reasoning:I should ", "reasoning:search.", `extra:{"details":[{"index":0,"text":"a"}]}`, `extra:{"details":[{"index":0,"text":"b"}]}`, "text:Well.",
			"tool:0:c1:searchInIndex\n"+`extra:{"tool_calls":[{"sign":{"x":1.0}}]}`, `args:0:{"indexUid":"movies","q":"Alien"}`, `extra:{"tool_calls":[{"index":0,"late":2}]}`, "finish:tool_calls"),
		say("text:x", "finish:stop"))
	tr := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"appendConversationMessage"}}]}`)
	const want = `"reasoning_content":"I should search.","details":[{"index":0,"text":"ab"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"movies\",\"q\":\"Alien\"}"},"sign":{"x":1.0},"late":2}]}`
	if got := messagesOf(t, f, 1)[1]; got != `{"role":"assistant","content":"Well.",`+want {
		t.Errorf("round 2 has %s", got)
	}
	quoted, _ := json.Marshal(want)
	if !strings.Contains(tr.raw.String(), string(quoted[1:len(quoted)-1])) {
		t.Errorf("no report has %s:\n%s", want, tr.raw.String())
	}
}

// TestCallMembersToClient: the client has what its calls have beside their own
// members, that of the function in the function.
func TestCallMembersToClient(t *testing.T) {
	f := newFixture(t, say("tool:0:c1:mine\n"+`extra:{"tool_calls":[{"function":{"s":"x"},"e":1}]}`, "args:0:{}", `extra:{"tool_calls":[{"index":0,"late":2}]}`, "finish:tool_calls"))
	got := f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"mine"}}]}`).raw.String()
	for _, want := range []string{
		`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"mine","arguments":"","s":"x"},"e":1}]`,
		`"tool_calls":[{"index":0,"late":2}]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no chunk has %s:\n%s", want, got)
		}
	}
}

// TestSaidComesBack: an answer that goes on from the client's calls has what the
// provider said with them, where the client sends back the calls alone.
func TestSaidComesBack(t *testing.T) {
	f := newFixture(t,
		say("reasoning:Hm.", "tool:0:c1:mine\n"+`extra:{"tool_calls":[{"sign":"s"}]}`, "args:0:{}", "finish:tool_calls"),
		say("text:x", "finish:stop"), say("text:x", "finish:stop"))
	const tools = `"tools":[{"type":"function","function":{"name":"mine"}}]`
	told := carried(t, f)
	if len(told) != 1 || !told[0].Needed() {
		t.Fatalf("told %+v", told)
	}
	f.carries = told
	f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q"},`+called("c1")+`],`+tools+`}`)
	const want = `{"content":null,"reasoning_content":"Hm.","role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"},"id":"c1","sign":"s","type":"function"}]}`
	if got := messagesOf(t, f, 1)[1]; got != want {
		t.Errorf("the next answer has %s, want %s", got, want)
	}
	f.ask(t, `{"model":"other","messages":[{"role":"user","content":"q"},`+called("c1")+`],`+tools+`}`)
	if got := messagesOf(t, f, 2)[1]; strings.Contains(got, "Hm.") {
		t.Errorf("another model is given %s", got)
	}
}

// TestSaidStays: a workspace that takes an answer over is not given what another
// provider said.
func TestSaidStays(t *testing.T) {
	f, first, _ := newFallback(t, say("reasoning:Hm.", "tool:0:c1:searchInIndex\n"+`extra:{"tool_calls":[{"sign":"s"}]}`, `args:0:{"indexUid":"movies","q":"Alien"}`, "finish:tool_calls"), failing, hi)
	f.ask(t, `{"model":"m","messages":[{"role":"user","content":"q","name":"n"}]}`)
	got := string(first.Requests()[0].Chat)
	const want = `{"content":null,"role":"assistant","tool_calls":[{"function":{"name":"searchInIndex","arguments":"{\"indexUid\":\"movies\",\"q\":\"Alien\"}"},"id":"c1","type":"function"}]}`
	if !strings.Contains(got, want) || !strings.Contains(got, `"name":"n"`) || strings.Contains(got, "Hm.") {
		t.Errorf("the other provider is asked %s, want in it %s", got, want)
	}
}
