package plugintest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/sdk/provider"
)

// wrong is a provider that does as its events say, right or wrong, and keeps
// something between calls where it must not.
type wrong struct {
	kept  int
	slice []byte
}

func (*wrong) Encode(*provider.Request) (provider.HTTPRequest, error) {
	return provider.HTTPRequest{}, errors.New("not here")
}

func (w *wrong) Decode(_ *struct{}, e provider.Event, out *provider.Out) error {
	switch string(e.Data) {
	case "text":
		out.Text([]byte("x"))
	case "finish":
		out.Finish("stop")
	case "gap":
		out.ToolStart(2, "id", "f")
	case "arguments":
		out.ToolArguments(5, []byte("{}"))
	case "nameless":
		out.ToolStart(0, "id", "")
	case "keep":
		w.kept++
		out.Text([]byte{'a' + byte(w.kept)})
	case "slice":
		w.slice = e.Data
	case "slice again":
		out.Text(w.slice)
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
		{"another text", "data: text\n\n", `{"text":"y"}`, `text is "x", want "y"`},
		{"no finish", "data: text\n\n", `{"finish_reason":"stop"}`, "finish_reason"},
		{"a gap", "data: gap\n\n", `{}`, "was opened as 2"},
		{"no name", "data: nameless\n\n", `{}`, `name ""`},
		{"arguments of no call", "data: arguments\n\n", `{}`, "not opened"},
		{"kept between calls", "data: keep\n\n", `{}`, "in turns"},
		{"a slice of an input kept", "data: slice\n\ndata: slice again\n\n", `{"text":"slice"}`, "text is"},
		{"expected is not JSON", "data: text\n\n", `{`, "expected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problems := New(&wrong{}).Check(response.Case{Kind: "stream", Body: []byte(tt.body), Expected: json.RawMessage(tt.expected)})
			all := strings.Join(problems, "\n")
			if tt.want == "" && all != "" || !strings.Contains(all, tt.want) {
				t.Errorf("problems: %s\nwant %q among them", all, tt.want)
			}
		})
	}
	c := response.Case{Kind: "error", Status: 400, Expected: json.RawMessage(`{"status":400,"kind":"quota","message":null,"retry_after_ms":5}`)}
	if problems := New(&wrong{}).Check(c); len(problems) > 0 {
		t.Errorf("an error that is as expected: %q", problems)
	}
	c.Expected = json.RawMessage(`{"kind":"auth","retry_after_ms":null}`)
	if problems := New(&wrong{}).Check(c); len(problems) != 2 {
		t.Errorf("an error with two members wrong: %q", problems)
	}
}
