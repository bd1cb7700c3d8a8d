package httpapi_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/chat/chattest"
)

// A client that keeps the conversation itself and sends messages back as it got them gives
// the plugin what it left with their calls. Another key's is passed over.
func TestV1MessagesBack(t *testing.T) {
	up := &chattest.Upstream{Scripts: []chattest.Script{callingTurn(true), script("text:Rain", "finish:stop"), script("text:Rain", "finish:stop")}}
	r := newRig(t, wish{upstream: up})
	const tools = `"tools":[{"type":"function","function":{"name":"weather"}}]`
	first := r.do("POST", completionsV1, `{"model":"demo/m","messages":[{"role":"user","content":"Hi"}],`+tools+`}`)
	var got struct {
		Choices []struct{ Message json.RawMessage }
	}
	check(t, json.Unmarshal([]byte(first.body), &got))
	message := string(got.Choices[0].Message)
	if !strings.Contains(message, `"format":"parley"`) || strings.Contains(message, "signature") {
		t.Fatalf("message = %s", message)
	}
	back := func(message string) []string {
		before := len(r.source.Requests())
		a := r.do("POST", completionsV1, `{"model":"demo/m","messages":[{"role":"user","content":"Hi"},`+message+`,{"role":"tool","tool_call_id":"c1","content":"wet"}],`+tools+`}`)
		if a.status != 200 {
			t.Fatalf("second answer = %d %s", a.status, a.body)
		}
		in := r.source.Requests()[before]
		if strings.Contains(string(in.Chat), "parley.") {
			t.Errorf("the plugin is given what is sealed: %s", in.Chat)
		}
		return in.Carry
	}
	if got, want := back(message), []string{base64.StdEncoding.EncodeToString([]byte("signature"))}; !slices.Equal(got, want) {
		t.Errorf("the plugin is given back %q, want %q", got, want)
	}
	if got := back(strings.Replace(message, `"data":"parley.`, `"data":"parley.A`, 1)); len(got) > 0 {
		t.Errorf("of a damaged text the plugin is given %q", got)
	}
}
