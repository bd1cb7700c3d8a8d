package response

import (
	"testing"

	"github.com/parley-search/parley/abi"
)

// TestMessage: what is said in pieces is joined as clients join it.
func TestMessage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		extras []string
		want   string
	}{
		{"nothing", nil, ``},
		{"texts", []string{`{"x":"a\u00e9"}`, `{"x":"<b>"}`}, `,"x":"a\u00e9<b>"`},
		{"objects", []string{`{"x":{"a":1,"t":"p"}}`, `{"x":{"a":2,"t":"q","b":null}}`}, `,"x":{"a":2,"t":"pq","b":null}`},
		{"a value and none", []string{`{"x":1.50}`, `{"x":null}`}, `,"x":1.50`},
		{"lists", []string{`{"x":[1]}`, `{"x":[{"y":1}]}`}, `,"x":[1,{"y":1}]`},
		{
			"items of an index",
			[]string{`{"x":[{"index":0,"type":"t","text":"a"},{"index":1,"data":"d"}]}`, `{"x":[{"index":0,"type":"t","text":"b","id":"i"},{"index":0,"type":"u","text":"c"}]}`},
			`,"x":[{"index":0,"type":"t","text":"ab","id":"i"},{"index":1,"data":"d"},{"index":0,"type":"u","text":"c"}]`,
		},
		{"another type", []string{`{"x":"a"}`, `{"x":[1]}`}, `,"x":[1]`},
		{"what is ours", []string{`{"role":"x","content":"y","tool_calls":7,"reasoning_content":{"z":1}}`}, ``},
	} {
		var said Said
		for _, e := range tt.extras {
			said.Add(abi.Record{Kind: abi.RecordExtra, Payload: []byte(e)})
		}
		want := `{"role":"assistant","content":null` + tt.want + `}`
		if got := string(AppendMessage(nil, nil, &said, nil)); got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

// TestMessageOfTooMuch: a part of what was said is not sent for the whole.
func TestMessageOfTooMuch(t *testing.T) {
	var said Said
	large := make([]byte, maxSaid/2+1)
	for range 2 {
		said.Add(abi.Record{Kind: abi.RecordReasoning, Payload: large})
	}
	if got := string(AppendMessage(nil, []byte("a"), &said, nil)); got != `{"role":"assistant","content":"a"}` || !said.Empty() {
		t.Errorf("message of %d bytes, and empty is %v", len(got), said.Empty())
	}
	said.Reset()
	said.Add(abi.Record{Kind: abi.RecordReasoning, Payload: []byte("b")})
	if got := string(AppendMessage(nil, nil, &said, nil)); got != `{"role":"assistant","content":null,"reasoning_content":"b"}` {
		t.Errorf("after reset %s", got)
	}
}

func TestCallMembers(t *testing.T) {
	for _, tt := range []struct {
		extra   string
		index   int
		members string
		ok      bool
	}{
		{`{"tool_calls":[{"x":1}]}`, -1, `{"x":1}`, true},
		{" {\"tool_calls\":[{\"index\":2,\"x\":\"y\"}]}", 2, `{"x":"y"}`, true},
		{`{"tool_calls":[{"index":2,"b":{},"a":1.0}]}`, 2, `{"b":{},"a":1.0}`, true},
		{`{"tool_calls":[{"index":-2,"x":1}]}`, 0, ``, false},
		{`{"tool_calls":[{"x":1},{"x":2}]}`, 0, ``, false},
		{`{"tool_calls":[null]}`, 0, ``, false},
		{`{"tool_calls":[{"x":1}],"y":1}`, 0, ``, false},
		{`{"x":1}`, 0, ``, false},
	} {
		index, members, ok := CallMembers([]byte(tt.extra))
		if ok != tt.ok || ok && (index != tt.index || string(members) != tt.members) {
			t.Errorf("CallMembers(%s) = %d, %s, %v; want %d, %s, %v", tt.extra, index, members, ok, tt.index, tt.members, tt.ok)
		}
	}
	call := ToolCall{ID: "c", Name: "f", Arguments: "{}", Members: JoinMembers([]byte(`{"function":{"s":"x"},"id":"other","e":1}`), []byte(`{"l":2}`))}
	const want = `{"id":"c","type":"function","function":{"name":"f","arguments":"{}","s":"x"},"e":1,"l":2}`
	if got := string(call.append(nil)); got != want {
		t.Errorf("call is %s, want %s", got, want)
	}
	if got := JoinMembers([]byte(`{"s":"x"}`), []byte(`{"s":"x"}`)); string(got) != `{"s":"x"}` {
		t.Errorf("members that are said again are %s", got)
	}
}
