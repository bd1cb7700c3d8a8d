package main

import (
	"strings"
	"testing"
)

// call and answer write tool calls and their answers, under ids as clients
// have them.
func asks(ids ...string) string {
	var calls []string
	for _, id := range ids {
		calls = append(calls, `{"id":"`+id+`","type":"function","function":{"name":"f","arguments":"{}"}}`)
	}
	return `{"role":"assistant","content":"","tool_calls":[` + strings.Join(calls, ",") + `]}`
}

func answers(id, text string) string {
	return `{"role":"tool","content":"` + text + `","tool_call_id":"` + id + `","name":"f"}`
}

func TestEncodeMessages(t *testing.T) {
	const (
		u = `{"role":"user","content":"u"}`
		s = `{"role":"system","content":"s"}`
		a = `{"role":"assistant","content":"a"}`
		b = `{"role":"assistant","content":"OK."}`
	)
	tests := []struct{ name, in, want string }{
		{"plain", s + `,` + u + `,` + a + `,` + u, s + `,` + u + `,` + a + `,` + u},
		{"instructions anywhere", u + `,{"role":"developer","content":"d"},` + a + `,` + s + `,` + u, `{"role":"system","content":"d\n\ns"},` + u + `,` + a + `,` + u},
		{"members that are not known", `{"role":"user","content":"u","name":"n","cache_control":{}},{"role":"assistant","content":"a","refusal":null,"annotations":[],"reasoning_content":"r","audio":null},` + u, u + `,` + a + `,` + u},
		{"the user after a tool", u + `,` + asks("ABCdef012") + `,` + answers("ABCdef012", "x") + `,` + u, u + `,` + asks("ABCdef012") + `,` + answers("ABCdef012", "x") + `,` + b + `,` + u},
		{"an assistant after a tool", u + `,` + asks("ABCdef012") + `,` + answers("ABCdef012", "x") + `,` + a + `,` + u, u + `,` + asks("ABCdef012") + `,` + answers("ABCdef012", "x") + `,` + a + `,` + u},
		{"an assistant last is continued", u + `,` + a, u + `,{"role":"assistant","content":"a","prefix":true}`},
		{"an assistant alone", a, `{"role":"user","content":"Go on."},{"role":"assistant","content":"a","prefix":true}`},
		{"an assistant who said nothing", u + `,{"role":"assistant","content":null},{"role":"assistant","content":""},{"role":"assistant"},` + u, u + `,` + u},
		{"a refusal", u + `,{"role":"assistant","content":null,"refusal":"no"},` + u, u + `,{"role":"assistant","content":"no"},` + u},
		{"an empty user", `{"role":"user","content":""},{"role":"user","content":[]},{"role":"user","content":null}`, `{"role":"user","content":""},{"role":"user","content":""},{"role":"user","content":""}`},
		{
			"parts", `{"role":"user","content":[{"type":"text","text":"t","cache_control":{}},{"type":"text","text":""},{"type":"image_url","image_url":{"url":"x","detail":"low","y":1}},{"type":"input_audio","input_audio":{"data":"d","format":"wav"}},{"type":"file","file":{"file_id":"i"}},{"type":"file","file":{"file_data":"data:x","filename":"n"}},{"type":"document_url","document_url":"v","z":1}]}`,
			`{"role":"user","content":[{"text":"t","type":"text"},{"image_url":{"url":"x","detail":"low"},"type":"image_url"},{"input_audio":"d","type":"input_audio"},{"file_id":"i","type":"file"},{"document_url":"data:x","type":"document_url"},{"document_url":"v","type":"document_url"}]}`,
		},
		{"a call without an answer", u + `,` + asks("ABCdef012", "ABCdef013") + `,` + answers("ABCdef013", "x") + `,` + u, u + `,` + asks("ABCdef012", "ABCdef013") + `,` + answers("ABCdef013", "x") + `,` + answers("ABCdef012", "No answer.") + `,` + b + `,` + u},
		{"a call last", u + `,` + asks("ABCdef012"), u + `,` + asks("ABCdef012") + `,` + answers("ABCdef012", "No answer.")},
		{
			"arguments that are not JSON", u + `,{"role":"assistant","content":"hm","tool_calls":[{"id":"ABCdef012","index":0,"function":{"name":"f","arguments":"{\"q\":","x":1}},{"id":"ABCdef013","function":{"name":"f","arguments":""}},{"id":"ABCdef014","function":{"name":"f","arguments":{"q":1}}}]},` + answers("ABCdef012", "x") + `,` + answers("ABCdef013", "x") + `,` + answers("ABCdef014", "x"),
			u + `,{"role":"assistant","content":"hm","tool_calls":[{"id":"ABCdef012","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"ABCdef013","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"ABCdef014","type":"function","function":{"name":"f","arguments":{"q":1}}}]},` + answers("ABCdef012", "x") + `,` + answers("ABCdef013", "x") + `,` + answers("ABCdef014", "x"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := encode(t, "", `{"messages":[`+tt.in+`]}`)
			if want := `{"messages":[` + tt.want + `],"stream":true}`; string(r.Body) != want {
				t.Errorf("body = %s, want %s", r.Body, want)
			}
		})
	}
}

func TestEncodeIDs(t *testing.T) {
	const u = `{"role":"user","content":"u"}`
	one, two := shortenID("call_1", 0), shortenID("call_2", 0)
	tests := []struct{ name, in, want string }{
		{"made to fit, in both places", asks("call_1", "call_2") + `,` + answers("call_2", "x") + `,` + answers("call_1", "y"), asks(one, two) + `,` + answers(two, "x") + `,` + answers(one, "y")},
		{"kept where it fits", asks("000aaaZZZ") + `,` + answers("000aaaZZZ", "x"), asks("000aaaZZZ") + `,` + answers("000aaaZZZ", "x")},
		{"a letter that is not ASCII's", asks("0000000é") + `,` + answers("0000000é", "x"), asks(shortenID("0000000é", 0)) + `,` + answers(shortenID("0000000é", 0), "x")},
		{"two calls of one id", asks("call_1", "call_1") + `,` + answers("call_1", "x") + `,` + answers("call_1", "y"), asks(one, shortenID("call_1", 1)) + `,` + answers(one, "x") + `,` + answers(shortenID("call_1", 1), "y")},
		{"one id in two turns", asks("call_1") + `,` + answers("call_1", "x") + `,` + asks("call_1") + `,` + answers("call_1", "y"), asks(one) + `,` + answers(one, "x") + `,` + asks(shortenID("call_1", 1)) + `,` + answers(shortenID("call_1", 1), "y")},
		{"one that fits in two turns", asks("000aaaZZZ") + `,` + answers("000aaaZZZ", "x") + `,` + asks("000aaaZZZ") + `,` + answers("000aaaZZZ", "y"), asks("000aaaZZZ") + `,` + answers("000aaaZZZ", "x") + `,` + asks(shortenID("000aaaZZZ", 0)) + `,` + answers(shortenID("000aaaZZZ", 0), "y")},
		{"another call has what would be made", asks("call_1", one) + `,` + answers("call_1", "x") + `,` + answers(one, "y"), asks(shortenID("call_1", 1), one) + `,` + answers(shortenID("call_1", 1), "x") + `,` + answers(one, "y")},
		{"instructions behind it", asks("call_1") + `,` + answers("call_1", "x") + `,{"role":"developer","content":""}`, asks(one) + `,` + answers(one, "x")},
		{"no ids", asks("", "") + `,` + answers("", "x") + `,` + answers("", "y"), asks(shortenID("", 0), shortenID("", 1)) + `,` + answers(shortenID("", 0), "x") + `,` + answers(shortenID("", 1), "y")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := encode(t, "", `{"messages":[`+u+`,`+tt.in+`]}`)
			if want := `{"messages":[` + u + `,` + tt.want + `],"stream":true}`; string(r.Body) != want {
				t.Errorf("body = %s, want %s", r.Body, want)
			}
		})
	}
}

// TestIDs pins the ids, which must be the same in every version: a
// conversation may go on after an upgrade.
func TestIDs(t *testing.T) {
	for id, want := range map[string]string{"call_1": "zLpPKnjYM", "": "HREMxoGsa", "chatcmpl-tool-0123456789abcdef": "1JifXGXC6"} {
		got := shortenID(id, 0)
		if !fitsID(got) {
			t.Errorf("short(%q) = %q, which does not fit", id, got)
		}
		if got != want {
			t.Errorf("short(%q) = %q, want %q", id, got, want)
		}
	}
}
