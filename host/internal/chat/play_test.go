package chat

import (
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// TestCallExtra: what a plugin says of a call goes into the client's call, with
// the client's index, and nowhere where the call is the host's own.
func TestCallExtra(t *testing.T) {
	start := func(index int, name, extra string) []byte {
		return abi.AppendRecord(abi.AppendToolStart(nil, index, "c"+name, name), abi.RecordExtra, extra)
	}
	tests := []struct {
		name    string
		records []byte
		want    []string
		not     string
	}{
		{
			"client's", start(0, "mine", `{"tool_calls":[{"extra_content":{"google":1}}]}`),
			[]string{`"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"cmine","type":"function","function":{"name":"mine","arguments":""},"extra_content":{"google":1}}]}`},
			"",
		},
		{
			"behind one of the host's", append(start(0, searchFunction, `{"tool_calls":[{"x":"ours"}]}`), start(1, "mine", `{"tool_calls":[{"x":"theirs"}]}`)...),
			[]string{`[{"index":0,"id":"cmine","type":"function","function":{"name":"mine","arguments":""},"x":"theirs"}]`},
			"ours",
		},
		{
			"of the delta", start(0, "mine", `{"x":1}`),
			[]string{`"arguments":""}}]}`, `"delta":{"x":1}`},
			"",
		},
		{
			"with line ends", start(0, "mine", "{\"tool_calls\":\n[{\"x\"\n:\r1}]}"),
			[]string{`"arguments":""},"x" : 1}]}`},
			"",
		},
		{"empty", start(0, "mine", `{"tool_calls":[{}]}`), []string{`"arguments":""}}]}`}, "tool_calls\":[{}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAnswer()
			a.tools.names = map[string]bool{"mine": true}
			if err := a.play(tt.records); err != nil {
				t.Fatal(err)
			}
			got := string(a.render.out)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("frames\n%s\nwant in them %s", got, want)
				}
			}
			if tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("frames\n%s\nhave %s in them", got, tt.not)
			}
		})
	}
}

// TestExtraOfBracketsAlone: reading them must not take a stack as deep as they go,
// which would end the host.
func TestExtraOfBracketsAlone(t *testing.T) {
	for _, extra := range []string{`{"x":` + strings.Repeat("[", 15<<20), strings.Repeat(`{"x":`, 3<<20)} {
		a := newAnswer()
		a.ctx, a.manifest, a.workspace = t.Context(), &abi.Manifest{}, &workspace.Workspace{}
		if err := a.play(abi.AppendRecord(nil, abi.RecordExtra, extra)); err == nil {
			t.Error("an extra record of brackets was taken")
		}
	}
}
