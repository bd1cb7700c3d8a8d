package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestClientsV1 runs clients of OpenAI's API at their defaults against /v1: each
// line that they print is a client and what it did. One process has all of a
// language, for they take long to load.
func TestClientsV1(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a plugin, and needs packages")
	}
	dir := filepath.Join(root(t), "examples", "clients", "v1")
	python := os.Getenv("CLIENTS_PYTHON")
	_, err := os.Stat(filepath.Join(dir, "node_modules"))
	if python == "" && err != nil {
		t.Skip("no client is installed: .ci/install installs them")
	}
	const key = "the master key of this test"
	p := newProvider(t)
	url := hostV1(t, p.url, key)
	env := append(os.Environ(), "CLIENT_BASE_URL="+url, "CLIENT_KEY="+key)
	t.Run("node", func(t *testing.T) {
		if err != nil {
			t.Skip("the npm packages are not installed: `npm ci` in examples/clients/v1 installs them")
		}
		runClients(t, 43, command(dir, env, "node", "clients.js"))
	})
	t.Run("python", func(t *testing.T) {
		if python == "" {
			t.Skip("the PyPI packages are not installed: .ci/install installs them, and CLIENTS_PYTHON names their interpreter")
		}
		runClients(t, 47, command(dir, env, python, "clients.py"))
	})
	// Who left a whole answer or a stream ended the provider's request with it.
	for until := time.Now().Add(time.Minute); p.Open.Load() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d requests to the provider go on after their clients left", p.Open.Load())
		}
	}
}

// runClients runs a process that has so many checks, and says which failed.
func runClients(t *testing.T, checks int, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	good := len(regexp.MustCompile(`(?m)^ok  `).FindAll(out, -1))
	if err != nil || good != checks || strings.Contains(string(out), "\nskip ") {
		t.Errorf("error %v, %d of %d checks good:\n%s", err, good, checks, out)
	}
}

// hostV1 runs a host with a master key, whose workspaces demo and tool ask
// provider, and returns the base URL for clients of OpenAI's API.
func hostV1(t *testing.T, provider, key string) string {
	t.Helper()
	p := start(t,
		"quickstart", "--source", "vLlm", "--base-url", provider, "--master-key", key, "--no-analytics",
		"--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--dump-dir", t.TempDir(), "--snapshot-dir", t.TempDir(),
	)
	line := p.waitFor("curl -N ")
	p.waitFor("serving until interrupted")
	url := "http://" + regexp.MustCompile(`^curl -N ([^/\s]+)/`).FindStringSubmatch(line)[1]
	for workspace, settings := range map[string]string{
		"demo": `{"models":["text","tool","json","error","c1000-d50"],"defaultModel":"text"}`,
		"tool": `{"source":"vLlm","baseUrl":"` + provider + `","defaultModel":"tool"}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url+"/chats/"+workspace+"/settings", strings.NewReader(settings))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("PATCH %s: status %d", workspace, resp.StatusCode)
		}
	}
	return url + "/v1"
}
