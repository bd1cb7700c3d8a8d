package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClients runs the clients that people already use, unmodified, against a
// running host: streamed text, a client tool call, a provider's error each.
func TestClients(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin and a client")
	}
	base := demoHost(t, newProvider(t).url)
	env := append(os.Environ(), "CLIENT_BASE_URL="+base, "CLIENT_KEY=unused")

	clients := filepath.Join(root(t), "examples", "clients")
	for _, script := range []string{"openai.js", "ai-sdk.js", "langchain.js"} {
		t.Run(script, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(clients, "node", "node_modules")); err != nil {
				t.Skip("the npm packages are not installed: `npm ci` in examples/clients/node installs them")
			}
			runClient(t, filepath.Join(clients, "node"), env, "node", script)
		})
	}
	t.Run("openai-go", func(t *testing.T) {
		skipUnlessLong(t, "compiles openai-go, which takes minutes the first time")
		if out, err := command(filepath.Join(clients, "go"), env, "go", "mod", "download").CombinedOutput(); err != nil {
			t.Skipf("openai-go cannot be had: %s", out)
		}
		runClient(t, filepath.Join(clients, "go"), env, "go", "run", ".")
	})
}

// runClient runs a client, which checks three things and says so.
func runClient(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	out, err := command(dir, env, name, args...).CombinedOutput()
	if n := strings.Count(string(out), "ok  "); err != nil || n != 3 {
		t.Errorf("%s %s: error %v, %d of 3 checks good:\n%s", name, args, err, n, out)
	}
}

func command(dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, env
	return cmd
}

// demoHost runs `parley quickstart` against a provider that speaks OpenAI's
// API and returns the base URL for OpenAI clients.
func demoHost(t *testing.T, provider string, args ...string) string {
	t.Helper()
	p := start(t, append([]string{
		"quickstart", "--source", "vLlm", "--base-url", provider,
		"--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--dump-dir", t.TempDir(), "--snapshot-dir", t.TempDir(),
	}, args...)...)
	line := p.waitFor("curl -N ")
	p.waitFor("serving until interrupted")
	return "http://" + regexp.MustCompile(`^curl -N (\S+)/chat/completions`).FindStringSubmatch(line)[1]
}
