// Package docs tests the pages in this folder: it runs what they tell a reader to run.
package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// TestPages runs the commands of each page for users, in their order and in one
// folder, as a reader would. A comment before a block says what it is:
//
//	<!-- file: NAME -->       a file that later commands use
//	<!-- output -->           what the block before prints; … stands for anything
//	<!-- needs: a b -->       programs without which the block is passed over
//	<!-- host ended -->       the host is ended before it, as the page says
//	<!-- not run: reason -->  what no test can do
//
// A block of shell commands needs none of them, and one of JSON has to be JSON. A
// comment <!-- host: demo --> before the first block has `parley quickstart` run
// first, and <!-- host: demo, MASTER_KEY --> with that variable as its master key.
//
// The reader has what a stranger has: the program that README's line installs, a folder
// outside any checkout that holds nothing, and a home of its own. Only Go's caches are
// those of the test.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and serves with it")
	}
	pages := allPages(t)
	if os.Getenv("LONG") == "" {
		pages = slices.DeleteFunc(pages, func(page string) bool { return strings.HasPrefix(page, "how-to") })
		t.Log("only README and the pages of start: LONG=1 runs those of how-to as well")
	}
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands need %s, which is not installed", tool)
		}
	}
	k := newKit(t)
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			k.run(t, page)
		})
	}
}

// allPages are the pages whose blocks are commands for readers.
func allPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, folder := range []string{"start", "how-to"} {
		found, err := filepath.Glob(filepath.Join(folder, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	pages = append(pages, readme)
	if len(pages) < 5 {
		t.Fatalf("found the pages %q, want those of start and how-to", pages)
	}
	return pages
}

// readme is the page of the whole project. Its commands are for the root of a
// checkout, of which the reader has what they name, and for one who has notes.
var readme = filepath.Join("..", "..", "README.md")

// A kit is what all pages share: the program, the modules of its plugins, and
// servers in the place of those of others.
type kit struct {
	bin   string // folder of the program
	cache string // of plugins that the program built
	root  string // of the checkout
	env   []string
	model string // base URL of a server that speaks OpenAI's API
	local string // base URL of one that speaks Ollama's
	pages atomic.Int32
}

func newKit(t *testing.T) *kit {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{bin: t.TempDir(), cache: t.TempDir(), root: root, model: serve(t, answerOpenAI) + "/v1", local: serve(t, answerOllama)}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^(go install \S+) && export PATH=`).FindSubmatch(text)
	if line == nil {
		t.Fatal("README has no line that installs the program")
	}
	install := exec.Command("bash", "-c", string(line[1]))
	install.Dir, install.Env = root, append(os.Environ(), "GOBIN="+k.bin)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line[1], err, out)
	}
	vars, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	names := strings.Fields(string(vars))
	if err != nil || len(names) != 3 {
		t.Fatalf("go env: %v, %q", err, vars)
	}
	k.env = append(os.Environ(), "PATH="+k.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOCACHE="+names[0], "GOMODCACHE="+names[1], "GOPATH="+names[2], "PARLEY_NO_ANALYTICS=true",
		"PARLEY_PLUGIN_CACHE_DIR="+host.PluginCacheDir(config.Config{}), "XDG_CACHE_HOME="+k.cache) // no page compiles what another one has
	// Pages run beside each other, and build the same plugins: build them once.
	first := exec.Command(filepath.Join(k.bin, "parley"), "init", filepath.Join(t.TempDir(), "first"))
	first.Dir, first.Env = t.TempDir(), k.env
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("parley init: %v\n%s", err, out)
	}
	return k
}

// serve answers on this machine until the test ends, and returns the base URL.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return srv.URL
}

// answerOpenAI says the same to everybody, as OpenAI's chat completions do.
func answerOpenAI(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range []string{"Steep ", "it ", "for ", "three minutes."} {
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}}]}\n\n", word)
	}
	fmt.Fprint(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13}}\n\ndata: [DONE]\n\n")
}

// answerOllama says the same to everybody, as /api/chat and /api/embed of Ollama do.
func answerOllama(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/chat":
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprintln(w, `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"Steep it for three minutes."},"done":false}`)
		fmt.Fprintln(w, `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}`)
	case "/api/embed":
		var asked struct {
			Input []string `json:"input"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		vectors := make([][]float64, len(asked.Input))
		for i, text := range asked.Input {
			vectors[i] = []float64{float64(len(text)), 1, float64(strings.Count(text, "e"))}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "embeddings": vectors})
	default:
		http.NotFound(w, r)
	}
}

// prelude has the program serve in the background, as a reader has it in another
// terminal, and the next one take its place.
const prelude = `set -eu
hosts=()
trap 'for p in "${hosts[@]:-}"; do [ -z "$p" ] || kill "$p" 2>/dev/null || true; done; wait' EXIT
curl() { command curl -sS "$@"; }
end_host() {
  for p in "${hosts[@]:-}"; do [ -z "$p" ] || { kill "$p" 2>/dev/null; wait "$p" 2>/dev/null; } || true; done
  hosts=()
}
parley() {
  case " $* " in
  " serve "*|" quickstart "*)
    end_host
    : > host.out; : > host.err # what the one before said counts no more
    command parley "$@" >> host.out 2>> host.err & hosts=("$!")
    for _ in $(seq 1800); do
      kill -0 "${hosts[0]}" 2>/dev/null || { cat host.out host.err >&2; exit 1; }
      if grep -qE ' serving addr=|serving until interrupted' host.err && { [ "$1" = serve ] || grep -q 'serving until interrupted' host.err; }; then
        sed -n '/^parley: /p' host.err; cat host.out; return 0
      fi
      sleep 0.1
    done
    cat host.out host.err >&2; exit 1;;
  *" --watch "*)
    command parley "$@" > watch.out 2>&1 & hosts+=("$!");;
  *) command parley "$@";;
  esac
}
`

var (
	fence     = regexp.MustCompile("(?m)(?:^<!-- ([^\n]*?) -->\n\n?)?^```(\\w*)\n((?s:.*?))^```$")
	hostFirst = regexp.MustCompile(`<!-- host: (demo)(?:, (\w+))? -->`)
)

// run does what one page says.
func (k *kit) run(t *testing.T, page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if page == readme {
		for _, part := range []string{"abi", "sdk", filepath.Join("examples", "provider-smallest")} {
			if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(k.root, part))); err != nil {
				t.Fatal(err)
			}
		}
		mod, err := os.ReadFile(filepath.Join(k.root, "go.mod"))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "notes"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "notes", "keys.md"), []byte("# Keys\n\nRotate the key once a year.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, addr := filepath.Join(dir, "served"), k.nextAddr(t)
	places := strings.NewReplacer("127.0.0.1:7700", addr, "localhost:7700", addr,
		"127.0.0.1:7701", after(t, addr, 1), "127.0.0.1:7702", after(t, addr, 2), // of more nodes
		"127.0.0.1:8080", after(t, addr, 3), // of a proxy
		"http://127.0.0.1:8000/v1", k.model, "http://127.0.0.1:11434", k.local)
	var script strings.Builder
	script.WriteString(prelude)
	env := append(slices.Clone(k.env), "HOME="+dir, "PARLEY_HTTP_ADDR="+addr, "PARLEY_DB_PATH="+data)
	if m := hostFirst.FindSubmatch(text); m != nil {
		if name := string(m[2]); name != "" {
			env = append(env, name+"=a master key of this page", "PARLEY_MASTER_KEY=a master key of this page")
		}
		script.WriteString("parley quickstart >/dev/null\n")
	}
	type wanted struct {
		block int
		text  string
	}
	var outputs []wanted
	block, ran := 0, 0
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		note, language, body := m[1], m[2], m[3]
		block++
		kind, value, _ := strings.Cut(note, ": ")
		switch {
		case kind == "file":
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, value)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, value), []byte(places.Replace(body)), 0o600); err != nil {
				t.Fatal(err)
			}
		case kind == "output":
			outputs = append(outputs, wanted{block - 1, places.Replace(body)})
		case kind == "not run":
			if value == "" {
				t.Errorf("block %d is not run, without a reason", block)
			}
		case kind == "needs" && !installed(value):
			t.Logf("block %d is passed over: it needs %s", block, value)
		case language == "sh":
			if kind == "host ended" {
				script.WriteString("end_host\n")
			}
			ran++
			fmt.Fprintf(&script, "printf '\\n@@%d\\n'\n%s\n", block, places.Replace(body))
		case language == "json":
			if !json.Valid([]byte(body)) {
				t.Errorf("block %d is not JSON:\n%s", block, body)
			}
		case kind == "code", language == "mermaid": // TestReadme holds the code to its file
		default:
			t.Errorf("block %d, of %q, has nothing that runs or reads it: say by a comment before it what it is", block, language)
		}
	}
	if ran == 0 && len(outputs) == 0 {
		return
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Run(); err != nil {
		hostLog, _ := os.ReadFile(filepath.Join(dir, "host.err"))
		t.Fatalf("%v\n%s\nthe host's log:\n%s", err, &out, hostLog)
	}
	printed := map[int]string{}
	for part := range strings.SplitSeq(out.String(), "\n@@") {
		number, rest, _ := strings.Cut(part, "\n")
		var n int
		if _, err := fmt.Sscan(number, &n); err == nil {
			printed[n] = rest
		}
	}
	for _, w := range outputs {
		got, done := printed[w.block]
		if done && !like(got, w.text) {
			t.Errorf("block %d prints:\n%s\nthe page says:\n%s", w.block, got, w.text)
		}
	}
}

// TestEveryDay wants each page that the index's table of everyday questions names to
// have a command there, which TestPages runs.
func TestEveryDay(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(index), "\n## Every day\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for row := range strings.Lines(table) {
		links := regexp.MustCompile(`\]\(([^)#]+)(?:#([^)]+))?\)`).FindAllStringSubmatch(row, -1)
		if len(links) == 0 {
			continue
		}
		rows++
		for _, link := range links {
			page, err := os.ReadFile(link[1])
			if err != nil {
				t.Error(err)
				continue
			}
			section := string(page)
			if link[2] != "" {
				section = sectionOf(section, link[2])
			}
			runs := slices.ContainsFunc(fence.FindAllStringSubmatch(section, -1), func(m []string) bool {
				return m[2] == "sh" && !strings.HasPrefix(m[1], "not run")
			})
			if !runs {
				t.Errorf("%s#%s has no command that is run", link[1], link[2])
			}
		}
	}
	if rows != 10 {
		t.Errorf("the table has %d questions, want 10", rows)
	}
}

// sectionOf is the part of a page below the heading with the anchor; empty: none.
func sectionOf(page, anchor string) string {
	for part := range strings.SplitSeq(page, "\n## ") {
		heading, body, _ := strings.Cut(part, "\n")
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(heading), "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return body
		}
	}
	return ""
}

// after is the address n ports behind addr.
func after(t *testing.T, addr string, n int) string {
	t.Helper()
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(at.Addr(), at.Port()+uint16(n)).String()
}

// like reports whether got is pattern, in which … stands for anything.
func like(got, pattern string) bool {
	parts := strings.Split(strings.TrimSpace(pattern), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)^\s*` + strings.Join(parts, ".*") + `\s*$`).MatchString(got)
}

func installed(tools string) bool {
	for tool := range strings.FieldsSeq(tools) {
		if _, err := exec.LookPath(tool); err != nil {
			return false
		}
	}
	return true
}

// nextAddr is an address of this machine that nobody else uses: a loopback address
// of its own where the system has them, and so no port that another test has.
func (k *kit) nextAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.70.%d:0", k.pages.Add(1)))
	if err != nil {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
