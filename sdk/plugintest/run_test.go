package plugintest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
)

// wrong is a provider that does as its events say, right or wrong, and keeps
// something between calls where it must not.
type wrong struct{ kept int }

func (*wrong) Encode(*provider.Request) (provider.HTTPRequest, error) {
	return provider.HTTPRequest{}, errors.New("not here")
}

func (w *wrong) Decode(_ *struct{}, e provider.Event, out *provider.Out) error {
	switch string(e.Data) {
	case "text":
		out.Text([]byte("x"))
	case "finish":
		out.Finish("stop")
	case "call":
		out.ToolStart(0, "id", "f")
	case "gap":
		out.ToolStart(2, "id", "f")
	case "arguments":
		out.ToolArguments(5, []byte("{}"))
	case "nameless":
		out.ToolStart(0, "id", "")
	case "keep":
		w.kept++
		out.Text([]byte{'a' + byte(w.kept)})
	}
	return nil
}

func (*wrong) Error(*provider.Response) provider.ProviderError {
	return provider.ProviderError{Kind: abi.ErrorQuota, RetryAfterMS: 5}
}

// TestCheck makes sure that Check finds what is wrong.
func TestCheck(t *testing.T) {
	tests := []struct {
		name, body, expected string
		want                 string // in the problems; empty where there must be none
	}{
		{"right", "data: text\n\ndata: finish\n\n", `{"text":"x","finish_reason":"stop","tool_calls":[],"error":null}`, ""},
		{"another text", "data: text\n\n", `{"text":"y"}`, `text = "x", want "y"`},
		{"no finish", "data: text\n\n", `{"finish_reason":"stop"}`, "finish_reason"},
		{"a gap", "data: gap\n\n", `{}`, "opened as number 0"},
		{"an id twice", "data: call\n\ndata: call\n\n", `{}`, "twice"},
		{"no name", "data: nameless\n\n", `{}`, `name ""`},
		{"arguments of no call", "data: arguments\n\n", `{}`, "not opened"},
		{"kept between calls", "data: keep\n\n", `{}`, "in turns"},
		{"expected is no JSON", "data: text\n\n", `{`, "expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problems := New(&wrong{}).Check(Case{Kind: "stream", Body: []byte(tt.body), Expected: json.RawMessage(tt.expected)})
			all := strings.Join(problems, "\n")
			if tt.want == "" && all != "" || !strings.Contains(all, tt.want) {
				t.Errorf("problems: %s\nwant %q among them", all, tt.want)
			}
		})
	}
	c := Case{Kind: "error", Status: 400, Expected: json.RawMessage(`{"status":400,"kind":"quota","message":null,"retry_after_ms":5}`)}
	if problems := New(&wrong{}).Check(c); len(problems) > 0 {
		t.Errorf("an error that is as expected: %q", problems)
	}
	c.Expected = json.RawMessage(`{"kind":"auth","retry_after_ms":null}`)
	if problems := New(&wrong{}).Check(c); len(problems) != 2 {
		t.Errorf("an error with two members wrong: %q", problems)
	}
}

func TestReadCase(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	c, err := ReadCase(write("good.case", "{\"kind\":\"stream\",\n\"expected\":{}}\n---\ndata: a\n---\n"))
	if err != nil || c.Name != "good" || c.Kind != "stream" || string(c.Body) != "data: a\n---\n" || c.Status != 200 {
		t.Errorf("ReadCase = %+v, %v", c, err)
	}
	for name, content := range map[string]string{"no dashes": "{}", "no JSON": "x\n---\n"} {
		if _, err := ReadCase(write("bad.case", content)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if cases, err := ReadCases(t.TempDir()); err != nil || len(cases) != 0 {
		t.Errorf("ReadCases of an empty folder = %v, %v", cases, err)
	}
}
