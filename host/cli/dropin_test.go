package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDropIn does what the README and the SDK guide say: build a plugin, put
// it into a folder, serve it, ask it. No line of the host knows its source.
func TestDropIn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	dir := t.TempDir()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"plugin", "build", filepath.Join(root(t), "examples", "provider-smallest"), "--out", dir}, &out, &errs); code != exitOK {
		t.Fatalf("plugin build: code %d, %s", code, &errs)
	}
	p := start(t, "serve", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--plugin-dir", dir, "--plugin-lock=off")
	base := "http://" + regexp.MustCompile(`addr=(\S+)`).FindStringSubmatch(p.waitFor(" serving "))[1]

	change(t, base+"/chats/echo/settings", `{"source":"smallest"}`)
	a := ask(t, base+"/chats/echo/chat/completions", `{"model":"any","messages":[{"role":"user","content":"Hello"}]}`)
	if a.status != http.StatusOK || a.text != "You said: Hello" || a.finish != "stop" || !a.done {
		t.Errorf("answer: status %d, text %q, finish %q, [DONE] %v; want 200, You said: Hello, stop, true\n%s", a.status, a.text, a.finish, a.done, a.raw)
	}

	resp, err := http.Get(base + "/plugins")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Results []struct {
			Name, State, Limiter string
			Calls, Fuel          int64
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	// Where `go generate` was run the program carries others.
	ready := 0
	for _, p := range list.Results {
		if p.Name == "smallest" && p.State == "ready" && p.Calls > 0 && p.Fuel > 0 {
			ready++
		}
	}
	if ready != 1 {
		t.Errorf("GET /plugins = %+v, want smallest once, ready, with calls and fuel", list.Results)
	}
}
