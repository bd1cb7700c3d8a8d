package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// TestDropIntoRunningHost puts a provider that the host has never heard of into
// its plugin directory while it serves: before, a workspace cannot name its
// source; after, it answers, with a search of the model's in between.
func TestDropIntoRunningHost(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	dir := t.TempDir()
	p := start(t, "serve", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--plugin-dir", dir, "--plugin-lock=off")
	base := "http://" + regexp.MustCompile(`addr=(\S+)`).FindStringSubmatch(p.waitFor(" serving "))[1]
	claude := newScript(t, "thinking-and-tool.case", "text.case")

	settings := fmt.Sprintf(`{"source":"anthropic","baseUrl":%q,"apiKey":"sk-ant-api03-of-a-test"}`, claude.url)
	status, body := send(t, http.MethodPatch, base+"/chats/claude/settings", settings)
	if status != http.StatusBadRequest || !strings.Contains(body, `"code":"invalid_chat_completion_source"`) {
		t.Errorf("PATCH before the plugin is there: %d %s", status, body)
	}
	_, summary := send(t, http.MethodPost, base+"/indexes/notes/documents", `[{"id":1,"text":"a note about a moment"}]`)
	waitForTask(t, base, []byte(summary))

	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"plugin", "build", filepath.Join(root(t), "plugins", "provider", "anthropic"), "--out", dir}, &out, &errs); code != exitOK {
		t.Fatalf("plugin build: code %d, %s", code, &errs)
	}
	p.waitFor(`plugin="anthropic `)
	change(t, base+"/chats/claude/settings", settings)

	a := ask(t, base+"/chats/claude/chat/completions", `{"model":"claude-made-4-6","messages":[{"role":"user","content":"Which note?"}],"stream_options":{"include_usage":true}}`)
	if a.status != http.StatusOK || a.text != "One moment.Hello you" || a.finish != "stop" || !a.done {
		t.Errorf("answer: status %d, text %q, finish %q, [DONE] %v\n%s", a.status, a.text, a.finish, a.done, a.raw)
	}
	for _, want := range []string{`"content":"One moment."`, `"prompt_tokens":18`, `"completion_tokens":8`, `"total_tokens":26`} {
		if !strings.Contains(a.raw, want) {
			t.Errorf("the stream has no %s\n%s", want, a.raw)
		}
	}
	requests := claude.asked()
	if len(requests) != 2 {
		t.Fatalf("the provider was asked %d times, want 2", len(requests))
	}
	if strings.Contains(requests[0], "EqQBsig==") || !strings.Contains(requests[1], `"signature":"EqQBsig=="`) {
		t.Errorf("the second request, and it alone, carries the signature of the first answer; it is %s", requests[1])
	}
}

// send makes a request whose answer may be an error.
func send(t *testing.T, method, url, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("content-type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A script is a provider's server that answers one recorded body after the
// other.
type script struct {
	url string

	mu     sync.Mutex
	bodies [][]byte
	got    []string
}

// newScript serves the bodies of the cases of plugin anthropic.
func newScript(t *testing.T, cases ...string) *script {
	t.Helper()
	s := &script{}
	for _, name := range cases {
		b, err := os.ReadFile(filepath.Join(root(t), "plugins", "provider", "anthropic", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		_, body, ok := bytes.Cut(b, []byte("\n---\n"))
		if !ok {
			t.Fatalf("%s has no body", name)
		}
		s.bodies = append(s.bodies, body)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *script) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(s.got) == len(s.bodies) || r.URL.Path != "/v1/messages" || r.Header.Get("x-api-key") != "sk-ant-api03-of-a-test" {
		http.Error(w, "not in the script", http.StatusTeapot)
		return
	}
	w.Header().Set("content-type", "text/event-stream")
	w.Write(s.bodies[len(s.got)])
	s.got = append(s.got, string(b))
}
