package response

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

func TestReadCases(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // in the error; empty where there is none
	}{
		{"whole", "{\"kind\":\"stream\",\n\"expected\":{}}\n---\ndata: a\n---\n", ""},
		{"no dashes", "{}", "no line of three dashes"},
		{"not JSON", "x\n---\n", "invalid character"},
		{"another kind", "{\"kind\":\"x\"}\n---\n", "must be stream, error or list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "one.case")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			cases, err := ReadCases(dir)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), file) {
					t.Errorf("ReadCases: %v, want the file and %q", err, tt.want)
				}
				return
			}
			if err != nil || len(cases) != 1 {
				t.Fatalf("ReadCases = %v, %v", cases, err)
			}
			if c := cases[0]; c.Name != "one" || c.Kind != KindStream || string(c.Body) != "data: a\n---\n" || c.Status != 200 {
				t.Errorf("ReadCases = %+v", c)
			}
		})
	}
	if _, err := ReadCases(t.TempDir()); err == nil {
		t.Error("ReadCases of an empty folder: no error")
	}
}

func TestCompare(t *testing.T) {
	a := New()
	records := abi.AppendRecord(nil, abi.RecordText, "hello")
	records = abi.AppendToolStart(records, 0, "id", "f")
	records = abi.AppendToolArguments(records, 0, `{"a":`)
	records = abi.AppendToolArguments(records, 0, `1}`)
	records = abi.AppendUsage(records, abi.Usage{Prompt: 1, Completion: 2, Total: 3, Cached: 4}, nil)
	if err := a.Add(records); err != nil || len(a.Broken) > 0 {
		t.Fatalf("Add: %v, broken %q", err, a.Broken)
	}
	failure := NewFailure(429, abi.ProviderError{Kind: abi.ErrorRateLimit, Message: "m", RetryAfterMS: 5})
	tests := []struct {
		name     string
		got      any
		expected string
		want     string // the differences
	}{
		{"equal", a, `{"text":"hello","reasoning":null,"refusal":"","tool_calls":[{"name":"f","arguments":{"a":1}}],"finish_reason":null,"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"error":null}`, ""},
		{"a member of an object alone", a, `{"usage":{"total_tokens":3}}`, ""},
		{"two members", a, `{"text":"hallo","usage":{"total_tokens":4}}`, `text is "hello", want "hallo"; usage is {"completion_tokens":2,"prompt_tokens":1,"total_tokens":3}, want {"total_tokens":4}`},
		{"other arguments", a, `{"tool_calls":[{"name":"f","arguments":{"a":2}}]}`, `tool_calls is [{"arguments":{"a":1},"name":"f"}], want [{"arguments":{"a":2},"name":"f"}]`},
		{"a failure", failure, `{"status":429,"kind":"rate_limit","message":"m","retry_after_ms":5}`, ""},
		{"another failure", failure, `{"status":500,"retry_after_ms":null}`, `retry_after_ms is 5, want null; status is 429, want 500`},
		{"what is not JSON", a, `{`, "read what is expected: unexpected end of JSON input"},
	}
	for _, tt := range tests {
		c := Case{Expected: json.RawMessage(tt.expected)}
		if got := strings.Join(c.Compare(tt.got), "; "); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
