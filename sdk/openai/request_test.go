package openai

import (
	"testing"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

func TestURL(t *testing.T) {
	tests := []struct{ base, want string }{
		{"https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"},
		{"https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"},
		{"http://h:1//", "http://h:1/chat/completions"},
		{"http://h/v1/chat/completions", "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions/", "http://h/v1/chat/completions"},
	}
	for _, tt := range tests {
		if got := URL(tt.base); got != tt.want {
			t.Errorf("URL(%q) = %q, want %q", tt.base, got, tt.want)
		}
	}
}

func TestHasPath(t *testing.T) {
	for base, want := range map[string]bool{
		"http://h": false, "http://h/": false, "http://h:8000//": false,
		"http://h/v1": true, "http://h:8000/a/b/": true,
	} {
		if got := HasPath(base); got != want {
			t.Errorf("HasPath(%q) = %v, want %v", base, got, want)
		}
	}
}

func TestSystem(t *testing.T) {
	tests := []struct{ name, messages, as, first string }{
		{"none", `[{"role":"user","content":"a"}]`, `[{"role":"user","content":"a"}]`, `[{"role":"user","content":"a"}]`},
		{"empty", `[]`, `[]`, `[]`},
		{
			"one in front", `[{"role":"system","content":"s"},{"role":"user","content":"a"}]`,
			`[{"role":"developer","content":"s"},{"role":"user","content":"a"}]`,
			`[{"role":"system","content":"s"},{"role":"user","content":"a"}]`,
		},
		{
			"several, anywhere", `[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"developer","content":[{"type":"text","text":"\"d\""},{"type":"text","text":"\n"}]},{"content":"","role":"system"}]`,
			`[{"role":"developer","content":"s"},{"role":"user","content":"a"},{"role":"developer","content":[{"type":"text","text":"\"d\""},{"type":"text","text":"\n"}]},{"content":"","role":"developer"}]`,
			`[{"role":"system","content":"s\n\n\"d\"\n"},{"role":"user","content":"a"}]`,
		},
		{"nothing else", `[{"role":"system","content":"s"}]`, `[{"role":"developer","content":"s"}]`, `[{"role":"system","content":"s"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, ok := rawjson.Parse([]byte(tt.messages))
			if !ok {
				t.Fatal("the test's messages are not JSON")
			}
			if got := string(SystemAs("developer", v)); got != tt.as {
				t.Errorf("SystemAs = %s, want %s", got, tt.as)
			}
			if got := string(SystemFirst(v)); got != tt.first {
				t.Errorf("SystemFirst = %s, want %s", got, tt.first)
			}
		})
	}
}

func TestBody(t *testing.T) {
	tests := []struct{ name, chat, want string }{
		{"bare", `{"model":"m"}`, `{"model":"m","stream":true,"stream_options":{"include_usage":true}}`},
		{
			"untouched to the byte", `{"model":"m", "x": {"a" : 1.0e5, "é":"\u00e9"},"stream":false}`,
			`{"model":"m","x":{"a" : 1.0e5, "é":"\u00e9"},"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"options kept", `{"stream_options":{"include_usage":false,"more":1}}`,
			`{"stream_options":{"include_usage":true,"more":1},"stream":true}`,
		},
		{
			"no tools", `{"tools":[],"tool_choice":"auto","parallel_tool_calls":false}`,
			`{"stream":true,"stream_options":{"include_usage":true}}`,
		},
		{
			"tools", `{"tools":[{}],"tool_choice":"auto"}`,
			`{"tools":[{}],"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true}}`,
		},
	}
	var e Encoder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, ok := rawjson.Parse([]byte(tt.chat))
			if !ok {
				t.Fatal("the test's chat is not JSON")
			}
			if got := string(e.Body(&provider.Request{Chat: v}).Value()); got != tt.want {
				t.Errorf("Body = %s, want %s", got, tt.want)
			}
		})
	}
}
