package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/sdk/plugintest"
)

// surfaces are the ways in which a client can have an answer. MODEL is the
// workspace, TOOLS are functions of the client's.
var surfaces = []struct{ name, path, body string }{
	{"chats", "/chats/MODEL/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Say it."}],"tools":TOOLS,"stream_options":{"include_usage":true}}`},
	{"v1 streamed", "/v1/chat/completions", `{"model":"MODEL","stream":true,"messages":[{"role":"user","content":"Say it."}],"tools":TOOLS,"stream_options":{"include_usage":true}}`},
	{"v1 whole", "/v1/chat/completions", `{"model":"MODEL","messages":[{"role":"user","content":"Say it."}],"tools":TOOLS}`},
	{"responses streamed", "/v1/responses", `{"model":"MODEL","stream":true,"input":"Say it.","tools":FLAT,"include":["reasoning.encrypted_content"]}`},
	{"responses whole", "/v1/responses", `{"model":"MODEL","input":"Say it.","tools":FLAT,"include":["reasoning.encrypted_content"]}`},
	{"mcp", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"workspace":"MODEL","question":"Say it."}}}`},
	{"test", "/chats/MODEL/test", `{"model":"m"}`},
}

// What differs between two runs: ids, times, what is sealed, and ports.
var changing = regexp.MustCompile(`(chatcmpl-|resp_|msg_|rs_|fs_|call_)[0-9a-f]{24,32}\b|"fc_[0-9a-f]{32}|parley\.[A-Za-z0-9_-]+|"(created|created_at|completed_at|processingTimeMs)":[0-9]+|` +
	`"event_id":"[^"]*"|127\.0\.0\.1:[0-9]+`)

// TestSurfaces asks for each recording in each way that a client can. A whole answer
// says what the streamed one says.
//
// SURFACES names a file: the first run writes there what the clients got, and each
// run after it compares, to the byte but for ids and times.
func TestSurfaces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	var got strings.Builder
	asked := 0
	for _, of := range []struct{ plugin, source string }{
		{"anthropic", "anthropic"},
		{"cohere", "cohere"},
		{"gemini", "gemini"},
		{"mistral", "mistral"},
		{"ollama", "ollama"},
		{"openai", "openAi"},
		{"vllm", "vLlm"},
	} {
		cases, err := plugintest.ReadCorpus(of.source)
		if err != nil {
			t.Skipf("no recordings of providers: CORPUS names their folder, ../shared/corpus unless it is set: %v", err)
		}
		var now atomic.Pointer[response.Case]
		provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c := now.Load()
			for name, value := range c.Headers {
				if !strings.EqualFold(name, "content-length") && !strings.EqualFold(name, "transfer-encoding") && !strings.EqualFold(name, "content-encoding") {
					w.Header().Set(name, value)
				}
			}
			if c.Status != 0 {
				w.WriteHeader(c.Status)
			}
			_, _ = w.Write(c.Body)
		}))
		t.Cleanup(provider.Close)
		h := house.Open(t, map[string]string{"chat-max-rounds": "2"}, house.Shipped(t, of.plugin))
		settings := map[string]any{"source": of.source, "baseUrl": provider.URL, "defaultModel": "m"}
		if of.source != "ollama" && of.source != "vLlm" {
			settings["apiKey"] = "sk-surfaces-0123456789"
		}
		b, err := json.Marshal(settings)
		if err != nil {
			t.Fatal(err)
		}
		h.Must("PATCH", "/chats/w/settings", string(b))
		for _, c := range cases {
			if c.Kind != "stream" && c.Kind != "error" {
				continue
			}
			asked++
			now.Store(&c)
			tools, flat := toolsOf(c.Expected)
			fill := strings.NewReplacer("MODEL", "w", "TOOLS", tools, "FLAT", flat)
			said, whole := map[string]string{}, false // else it broke off
			for _, s := range surfaces {
				r := h.Call("POST", fill.Replace(s.path), fill.Replace(s.body))
				fmt.Fprintf(&got, "== %s/%s %s: %d\n%s\n", of.source, c.Name, s.name, r.Status, changing.ReplaceAllString(r.Body, "…"))
				said[s.name] = answerText(r.Body)
				whole = whole || s.name == "v1 whole" && r.Status == http.StatusOK
			}
			if whole && (said["v1 streamed"] != said["v1 whole"] || said["chats"] != said["v1 whole"]) {
				t.Errorf("%s/%s says %.300q in /chats, %.300q streamed and %.300q whole", of.source, c.Name, said["chats"], said["v1 streamed"], said["v1 whole"])
			}
		}
		h.Close()
	}
	t.Logf("%d recordings in %d ways", asked, len(surfaces))
	compareSurfaces(t, got.String())
}

// compareSurfaces holds what clients got against what they got before.
func compareSurfaces(t *testing.T, got string) {
	file := os.Getenv("SURFACES")
	if file == "" {
		return
	}
	before, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	differ := 0
	was := map[string]string{}
	for part := range strings.SplitSeq(string(before), "\n== ") {
		name, body, _ := strings.Cut(part, "\n")
		was[strings.TrimPrefix(name, "== ")] = body
	}
	for part := range strings.SplitSeq(got, "\n== ") {
		name, body, _ := strings.Cut(part, "\n")
		if name = strings.TrimPrefix(name, "== "); was[name] != body {
			if differ++; differ <= 20 {
				t.Errorf("%s\n%.3000s\nbefore\n%.3000s", name, body, was[name])
			}
		}
	}
	t.Logf("%d of %d answers differ from %s", differ, len(was), file)
}

// toolsOf are the functions that a recording calls, in the two forms of a request.
func toolsOf(expected []byte) (tools, flat string) {
	var e struct {
		Calls []struct{ Name string } `json:"tool_calls"`
	}
	_ = json.Unmarshal(expected, &e)
	type function struct {
		Type       string         `json:"type,omitempty"`
		Name       string         `json:"name"`
		Parameters map[string]any `json:"parameters"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	nested, plain, seen := []tool{}, []function{}, map[string]bool{}
	for _, c := range e.Calls {
		if c.Name == "" || seen[c.Name] {
			continue
		}
		seen[c.Name] = true
		f := function{Name: c.Name, Parameters: map[string]any{"type": "object", "properties": map[string]any{}}}
		nested = append(nested, tool{"function", f})
		f.Type = "function"
		plain = append(plain, f)
	}
	a, _ := json.Marshal(nested)
	b, _ := json.Marshal(plain)
	return string(a), string(b)
}

// answerText is the text of a completion, whole or in chunks.
func answerText(body string) string {
	type message struct{ Content *string }
	var text strings.Builder
	add := func(data string) {
		var c struct {
			Choices []struct{ Message, Delta message }
		}
		_ = json.Unmarshal([]byte(data), &c)
		for _, choice := range c.Choices {
			for _, m := range []message{choice.Message, choice.Delta} {
				if m.Content != nil {
					text.WriteString(*m.Content)
				}
			}
		}
	}
	if !strings.HasPrefix(body, "data: ") {
		add(body)
	}
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			add(data)
		}
	}
	return text.String()
}
