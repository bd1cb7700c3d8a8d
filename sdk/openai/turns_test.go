package openai

import "testing"

func TestInTurns(t *testing.T) {
	for _, tt := range []struct{ name, given, want string }{
		{"none", `[]`, `[]`},
		{"as they should be", `[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, ""},
		{
			"texts of the user", `[{"role":"user","content":"a","name":"n"},{"role":"user","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]`,
			`[{"role":"user","content":"a\n\nb\n\nc","name":"n"},{"role":"assistant","content":"d"}]`,
		},
		{
			"parts of the user", `[{"role":"user","content":[{"type":"image_url"}]},{"role":"user","content":"b"}]`,
			`[{"role":"user","content":[{"type":"image_url"},{"type":"text","text":"b"}]}]`,
		},
		{
			"texts of the assistant", `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"assistant","content":"c"}]`,
			`[{"role":"user","content":"a"},{"role":"assistant","content":"b\n\nc"}]`,
		},
		{"calls", `[{"role":"assistant","content":"a"},{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"tool","content":"b"},{"role":"tool","content":"c"}]`, ""},
		{"nothing said", `[{"role":"user","content":null},{"role":"user"}]`, ""},
		{"no roles", `[{},{},7]`, ""},
	} {
		if tt.want == "" {
			tt.want = tt.given
		}
		if got := string(InTurns([]byte(tt.given))); got != tt.want {
			t.Errorf("%s: InTurns = %s, want %s", tt.name, got, tt.want)
		}
	}
}
