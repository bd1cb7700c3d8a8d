package cli

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// clientsV1 are the clients of OpenAI's API that TestClientsV1 runs, as the page
// shows them. A language is one process, for they take long to load.
var clientsV1 = []struct{ language, name, title, version string }{
	{"python", "openai", "openai-python", "openai"},
	{"python", "anthropic", "anthropic", "anthropic"},
	{"python", "langchain", "LangChain", "langchain-openai"},
	{"python", "litellm", "LiteLLM", "litellm"},
	{"python", "llama-index", "LlamaIndex", "llama-index-llms-openai-like"},
	{"python", "pydantic-ai", "pydantic-ai", "pydantic-ai-slim"},
	{"python", "instructor", "instructor", "instructor"},
	{"python", "openai-agents", "openai-agents", "openai-agents"},
	{"python", "llm", "llm", "llm"},
	{"node", "openai", "openai-node", "openai"},
	{"node", "langchain", "LangChain.js", "@langchain/openai"},
	{"node", "ai openai()", "AI SDK, `openai()`", "@ai-sdk/openai"},
	{"node", "ai openai.chat()", "AI SDK, `openai.chat()`", "@ai-sdk/openai"},
	{"node", "ai openai-compatible", "AI SDK, `openai-compatible`", "@ai-sdk/openai-compatible"},
	{"node", "agents", "agents", "@openai/agents"},
	{"go", "openai-go", "openai-go", "github.com/openai/openai-go/v3"},
}

// columnsV1 are what every client must be seen to do.
var columnsV1 = []string{"whole", "streamed", "tools", "structured output", "usage", "wrong key", "unknown model", "429", "cancel"}

// TestClientsV1 runs clients of OpenAI's API at their defaults against /v1, and
// wants each to do all that the page's table says; UPDATE=1 writes it.
func TestClientsV1(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin, and needs packages")
	}
	clients := filepath.Join(root(t), "examples", "clients")
	dir := filepath.Join(clients, "v1")
	python := os.Getenv("CLIENTS_PYTHON")
	_, err := os.Stat(filepath.Join(dir, "node_modules"))
	if python == "" && err != nil {
		t.Skip("no client is installed: .ci/install installs them")
	}
	const key = "the master key of this test"
	p := newProvider(t)
	url := hostV1(t, p.url, key)
	env := append(os.Environ(), "CLIENT_BASE_URL="+url, "CLIENT_KEY="+key)
	seen := map[string]bool{} // LANGUAGE CLIENT | COLUMN
	t.Run("node", func(t *testing.T) {
		if err != nil {
			t.Skip("the npm packages are not installed: `npm ci` in examples/clients/v1 installs them")
		}
		runClientsV1(t, "node", seen, command(dir, env, "node", "clients.js"))
	})
	t.Run("python", func(t *testing.T) {
		if python == "" {
			t.Skip("the PyPI packages are not installed: .ci/install installs them, and CLIENTS_PYTHON names their interpreter")
		}
		runClientsV1(t, "python", seen, command(dir, env, python, "clients.py"))
	})
	t.Run("go", func(t *testing.T) {
		skipUnlessLong(t, "compiles openai-go, which takes minutes the first time")
		module := filepath.Join(clients, "go")
		if out, err := command(module, env, "go", "mod", "download").CombinedOutput(); err != nil {
			t.Skipf("openai-go cannot be had: %s", out)
		}
		runClientsV1(t, "go", seen, command(module, env, "go", "run", "./v1"))
	})
	// Who left a whole answer or a stream ended the provider's request with it: the
	// answer takes a quarter of an hour.
	for until := time.Now().Add(time.Minute); p.Open.Load() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d requests to the provider go on after their clients left", p.Open.Load())
		}
	}
}

// runClientsV1 runs the clients of a language, and takes down what they did.
func runClientsV1(t *testing.T, language string, seen map[string]bool, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	for _, m := range regexp.MustCompile(`(?m)^ok   (.+) \| (.+?) *$`).FindAllStringSubmatch(string(out), -1) {
		for _, what := range strings.Split(m[2], ", ") {
			what, _, _ = strings.Cut(what, " of ")
			seen[language+" "+m[1]+" | "+what] = true
		}
	}
	var lacks []string
	for _, c := range clientsV1 {
		for _, column := range columnsV1 {
			if c.language == language && !seen[language+" "+c.name+" | "+column] {
				lacks = append(lacks, c.title+": "+column)
			}
		}
	}
	if err != nil || lacks != nil || strings.Contains(string(out), "\nskip ") {
		t.Errorf("error %v; not seen: %s\n%s", err, strings.Join(lacks, "; "), out)
	}
}

// TestClientsV1Page wants the page to show each client that TestClientsV1 runs, at
// the version that is installed for it.
func TestClientsV1Page(t *testing.T) {
	dir := root(t)
	clients := filepath.Join(dir, "examples", "clients")
	versions := map[string]string{
		"python": readText(t, filepath.Join(clients, "v1", "requirements.txt")),
		"node":   readText(t, filepath.Join(clients, "v1", "package.json")),
		"go":     readText(t, filepath.Join(clients, "go", "go.mod")),
	}
	forms := map[string]string{"python": `(?m)^%s==(\S+)$`, "node": `"%s": "([^"]+)"`, "go": `\t%s v(\S+)`}
	var table strings.Builder
	table.WriteString("| client | | version | " + strings.Join(columnsV1, " | ") + " |\n|---|---|---|" + strings.Repeat("---|", len(columnsV1)) + "\n")
	for _, c := range clientsV1 {
		m := regexp.MustCompile(fmt.Sprintf(forms[c.language], regexp.QuoteMeta(c.version))).FindStringSubmatch(versions[c.language])
		if m == nil {
			t.Fatalf("no version of %s", c.version)
		}
		fmt.Fprintf(&table, "| %s | %s | %s |%s\n", c.title, c.language, m[1], strings.Repeat(" ✓ |", len(columnsV1)))
	}
	const begin, end = "<!-- clients: written by UPDATE=1 go test ./host/cli -run TestClientsV1Page -->\n", "<!-- end of clients -->"
	file := filepath.Join(dir, "host", "docs", "reference", "clients.md")
	page := readText(t, file)
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table", file)
	}
	want := before + begin + table.String() + end + after
	if want == page {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s does not show the clients that are run: UPDATE=1 go test ./host/cli -run TestClientsV1Page writes it", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// hostV1 runs a host with a master key, whose workspaces ask provider, each
// but demo for one of its models, and returns the base URL for clients of OpenAI's API.
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
		"demo":  `{"models":["text","tool","json","error","c20000-d50"],"defaultModel":"text"}`,
		"tool":  `{"source":"vLlm","baseUrl":"` + provider + `","defaultModel":"tool"}`,
		"json":  `{"source":"vLlm","baseUrl":"` + provider + `","defaultModel":"json"}`,
		"error": `{"source":"vLlm","baseUrl":"` + provider + `","defaultModel":"error"}`,
		"long":  `{"source":"vLlm","baseUrl":"` + provider + `","defaultModel":"c20000-d50"}`,
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
