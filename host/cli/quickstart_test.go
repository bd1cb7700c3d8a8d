package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/examples/quickstart"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// TestQuickstart does what a newcomer does: run the README's first command,
// then the command that it printed, and look the citations up.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	p := start(t, "quickstart", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir())
	curl := p.waitFor("curl -N ")
	p.waitFor("serving until interrupted")

	url, body := parseCurl(t, curl)
	a := ask(t, url, body)
	if a.status != http.StatusOK || a.frames < 3 || !a.done {
		t.Fatalf("answer: status %d, %d frames, [DONE] %v; want 200, several, true; body %s", a.status, a.frames, a.done, a.raw)
	}
	for _, want := range []string{"answer:", "Inception", "Memento", "extract"} {
		if !strings.Contains(a.text, want) {
			t.Errorf("answer has no %q: %s", want, a.text)
		}
	}
	if a.finish != "stop" {
		t.Errorf("finish_reason = %q, want stop", a.finish)
	}
	checkCitations(t, a.text)

	if _, err := exec.LookPath("curl"); err == nil {
		out, err := exec.Command("sh", "-c", curl).Output()
		if err != nil || !bytes.Contains(out, []byte("data: [DONE]")) {
			t.Errorf("the printed command: error %v, output %.300q, want a stream to its end", err, out)
		}
	}
}

// TestQuickstartCollectors wants telemetry to count after the first answer could
// be given, with all collectors, and a request to be in what the window holds.
func TestQuickstartCollectors(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	p := start(t, "quickstart", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir())
	p.waitFor("curl -N ")
	line := p.waitFor("7 collectors count usage from now on")
	out := p.text()
	if strings.Index(out, "curl -N ") > strings.Index(out, "building the collectors") {
		t.Errorf("collectors are built before the first answer can be given:\n%s", out)
	}
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(line)
	var status struct {
		Engine struct {
			Collectors []json.RawMessage
			Refused    map[string]string
		}
	}
	if code, body := send(t, http.MethodGet, url+"/telemetry", ""); code != http.StatusOK || json.Unmarshal([]byte(body), &status) != nil {
		t.Fatalf("GET /telemetry: %d %s", code, body)
	}
	if len(status.Engine.Collectors) != 7 || len(status.Engine.Refused) > 0 {
		t.Errorf("collectors %s, refused %s; want 7 and none", status.Engine.Collectors, status.Engine.Refused)
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"telemetry", "show", "--next", "--url", url}, &stdout, &stderr); code != exitOK || !strings.Contains(stdout.String(), `"instance"`) {
		t.Errorf("telemetry show: exit code %d, %s %s", code, stdout.String(), stderr.String())
	}
}

// TestQuickstartEndsWhileBuilding ends the program once the collectors are being
// built, which start holds to a good end.
func TestQuickstartEndsWhileBuilding(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	p := start(t, "quickstart", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir())
	p.waitFor("building the collectors")
}

// TestQuickstartFiles asks the printed question of a folder, and again after an edit.
func TestQuickstartFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	notes := filepath.Join(t.TempDir(), "notes")
	if err := os.Mkdir(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	for _, time := range []string{"three minutes", "five minutes"} {
		t.Run(time, func(t *testing.T) {
			writeFile(t, notes, "a.md", "# Note\n\nBuy more tea.\n")
			writeFile(t, notes, "tea.md", "# Tea\n\n## How to brew it\nSteep it for "+time+".\n")
			p := start(t, "quickstart", notes, "--http-addr", "127.0.0.1:0", "--db-path", data)
			url, body := parseCurl(t, p.waitFor("curl -N "))
			p.waitFor("serving until interrupted")
			if said := p.text(); strings.Contains(said, "parley:\n") || strings.Contains(said, "parley: \n") {
				t.Errorf("an empty line in %q", said)
			}
			a := ask(t, url, body)
			if a.status != http.StatusOK || !strings.Contains(a.text, time) || !strings.Contains(body, "How to brew it") {
				t.Errorf("question %s: status %d, answer %q; want %q in it", body, a.status, a.text, time)
			}
		})
	}

	// Of another folder it answers from that one alone.
	other := filepath.Join(t.TempDir(), "docs")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, other, "milk.md", "# Milk\n\n## How to brew milk\nIt is not brewed.\n")
	p := start(t, "quickstart", other, "--http-addr", "127.0.0.1:0", "--db-path", data)
	url, body := parseCurl(t, p.waitFor("curl -N "))
	p.waitFor("serving until interrupted")
	if a := ask(t, url, strings.Replace(body, "How to brew milk", "How long does tea steep", 1)); strings.Contains(a.text, "five minutes") {
		t.Errorf("of the other folder: answer %q", a.text)
	}
	if said := p.text(); !strings.Contains(said, `1 file in index "docs-files"`) {
		t.Errorf("it said %q, want an index of its own", said)
	}

	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"quickstart", filepath.Join(notes, "none")}, &stdout, &stderr); code != exitUsage || !strings.Contains(stderr.String(), "open the files to ask about") {
		t.Errorf("a folder that is not there: exit status %d, %s", code, stderr.String())
	}
}

// TestQuickstartTwice wants a second one on the same data to say where the first is and
// how it takes more files, and the first to say goodbye.
func TestQuickstartTwice(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	data, notes := t.TempDir(), t.TempDir()
	writeFile(t, notes, "tea.md", "# Tea\n\nSteep it.\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := &process{t: t, grown: make(chan struct{}, 1), ended: make(chan int, 1)}
	args := []string{"quickstart", notes, "--http-addr", "127.0.0.1:0", "--db-path", data, "--no-analytics"}
	withKey := append(slices.Clone(args), "--master-key", "a master key of sixteen")
	go func() { first.ended <- run(ctx, withKey, first, first) }()
	url := regexp.MustCompile(`http://[0-9.:]+`).FindString(first.waitFor("source extract; 1 file in"))
	first.waitFor("serving until interrupted")
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), withKey, &stdout, &stderr)
	if want := "at " + url + ": end it by Ctrl-C there, or add files to it: parley documents import " + notes + " --index " + filepath.Base(notes) + " --url " + url + "\n"; code != exitFailed || !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("the second: code %d, said %q; want %q", code, stderr.String(), want)
	}
	cancel()
	if code := <-first.ended; code != exitOK || !strings.HasSuffix(first.text(), "parley: stopped; the data stays in "+data+": delete that folder to start over\n") {
		t.Errorf("the first ended with code %d:\n%s", code, first.text())
	}
	stderr.Reset()
	code = run(t.Context(), args, &stdout, &stderr)
	if want := "has another master key: give that one by PARLEY_MASTER_KEY, delete " + data + " to start over"; code != exitFailed || !strings.Contains(stderr.String(), want) {
		t.Errorf("without the key: code %d, said %q; want %q", code, stderr.String(), want)
	}
}

// TestQuickstartTriesProvider wants quickstart to say at once whether the provider
// answers, and to let clients of /v1 find the workspace.
func TestQuickstartTriesProvider(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	good := newProvider(t).url
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	for name, tt := range map[string]struct {
		url, model string
		says       []string
	}{
		"answers":       {good, "text", []string{"asked for a word, and answered within"}},
		"unknown model": {good, "nope", []string{"does not work yet", "no such model"}},
		"dead address":  {"http://" + dead.Addr().String() + "/v1", "text", []string{"does not work yet", "baseUrl"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, "quickstart", "--source", "vLlm", "--base-url", tt.url, "--model", tt.model, "--no-analytics",
				"--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--dump-dir", t.TempDir(), "--snapshot-dir", t.TempDir())
			url, _ := parseCurl(t, p.waitFor("curl -N "))
			said := p.waitFor("the provider was asked for a word")
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("said %q, want %q in it", said, want)
				}
			}
			base, _, _ := strings.Cut(url, "/chats/")
			var list struct{ Data []struct{ ID string } }
			c := cmdutil.Client{URL: base}
			if err := c.Call(t.Context(), http.MethodGet, "/v1/models", nil, &list); err != nil || len(list.Data) != 2 || list.Data[0].ID != demoWorkspace {
				t.Errorf("GET /v1/models: %+v, %v; want %s and %s", list, err, demoWorkspace, docsIndex)
			}
		})
	}
}

// TestQuickstartRefuses wants wrong arguments to be told of before anything is
// built or written.
func TestQuickstartRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string { return writeFile(t, dir, name, text) }
	key, empty, broken := write("key", "sk-1\n"), write("empty", " \n"), write("broken", "geheim\x01")
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"no such source":    {[]string{"--source", "nope"}, []string{`"nope"`, "Sources: ", "openAi"}},
		"no base URL":       {[]string{"--source", "vLlm"}, []string{"--source vLlm needs --base-url ("}},
		"wrong base URL":    {[]string{"--source", "vLlm", "--base-url", "localhost:8000"}, []string{"--base-url", "does not begin with http:// or https://"}},
		"no key":            {[]string{"--source", "openAi"}, []string{"--source openAi needs --api-key-file ("}},
		"no such key":       {[]string{"--source", "openAi", "--api-key-file", key + "s"}, []string{"read API key", "no such file"}},
		"an empty key":      {[]string{"--source", "openAi", "--api-key-file", empty}, []string{"--api-key-file " + empty + " holds no key"}},
		"a key that is not": {[]string{"--source", "openAi", "--api-key-file", broken}, []string{"--api-key-file", "control character"}},
		"no options for it": {[]string{"--source", "azureOpenAi", "--api-key-file", key}, []string{"apiVersion, deploymentId", "parley serve"}},
		"no model":          {[]string{"--model", ""}, []string{"--model is empty"}},
		"wrong option":      {[]string{"--log-level", "loud"}, []string{"option log-level"}},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), append([]string{"quickstart", "--http-addr", "127.0.0.1:0", "--db-path", data}, tt.args...), &stdout, &stderr)
			said := strings.TrimSuffix(stderr.String(), "\n")
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("said %q, want %q in it", said, want)
				}
			}
			if code != exitUsage || strings.Contains(said, "\n") || strings.Contains(said, "geheim") {
				t.Errorf("exit code %d, said %q; want %d, one line and no key", code, said, exitUsage)
			}
			if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the data directory is there: %v", err)
			}
		})
	}
}

// checkCitations looks the title of each place that text cites, as in "— Memento [1]", up in the sample.
func checkCitations(t *testing.T, text string) {
	t.Helper()
	cited := regexp.MustCompile(`— (.+) \[\d+\]`).FindAllStringSubmatch(text, -1)
	if len(cited) == 0 {
		t.Errorf("answer cites no document: %s", text)
	}
	for _, c := range cited {
		if title, _ := json.Marshal(c[1]); !strings.Contains(string(quickstart.Movies), string(title)) {
			t.Errorf("answer cites %s, which is not in the data", c[0])
		}
	}
}

// A process is the program, run inside the test.
type process struct {
	t     *testing.T
	mu    sync.Mutex
	out   strings.Builder
	grown chan struct{}
	ended chan int
}

// start runs the program until the test ends; the test fails where it does not
// end well. A host gets time to close its data: the disk is busy with other tests.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	if args[0] == "serve" || args[0] == "quickstart" {
		args = append(args, "--shutdown-grace", "50s")
	}
	return startProgram(t, args[0], func(ctx context.Context, p *process) int { return run(ctx, args, p, p) })
}

// startProgram is start of whatever runs the program.
func startProgram(t *testing.T, name string, program func(context.Context, *process) (exitCode int)) *process {
	t.Helper()
	p := &process{t: t, grown: make(chan struct{}, 1), ended: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { p.ended <- program(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		select {
		case code := <-p.ended:
			if code != exitOK {
				t.Errorf("parley %s: exit code %d, output:\n%s", name, code, p.text())
			}
		case <-time.After(time.Minute):
			t.Errorf("parley %s did not end", name)
		}
	})
	return p
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Write(b)
	select {
	case p.grown <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// waitFor returns the first line with part in it.
func (p *process) waitFor(part string) string {
	p.t.Helper()
	limit := time.After(5 * time.Minute)
	for {
		for line := range strings.Lines(p.text()) {
			if strings.Contains(line, part) && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(line)
			}
		}
		select {
		case <-p.grown:
		case code := <-p.ended:
			p.ended <- code
			p.t.Fatalf("the program ended with code %d before it printed %q:\n%s", code, part, p.text())
		case <-limit:
			p.t.Fatalf("the program did not print %q:\n%s", part, p.text())
		}
	}
}

// parseCurl takes URL and body out of the printed command.
func parseCurl(t *testing.T, line string) (url, body string) {
	t.Helper()
	m := regexp.MustCompile(`^curl -N (\S+) -H 'content-type: application/json' -d '(.*)'$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("printed command %q has not the form that README shows", line)
	}
	return "http://" + m[1], m[2]
}

// An answer is a chat completion, read to its end.
type answer struct {
	status int
	text   string
	finish string
	frames int
	done   bool
	raw    string
	tools  []toolCall
	errors []string
}

type toolCall struct {
	name, arguments string
}

// ask posts body to url and reads the stream.
func ask(t *testing.T, url, body string) answer {
	t.Helper()
	var a answer
	a.status, a.raw = send(t, http.MethodPost, url, body)
	s := bufio.NewScanner(strings.NewReader(a.raw))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		data, ok := strings.CutPrefix(s.Text(), "data: ")
		if !ok {
			continue
		}
		a.frames++
		if data == "[DONE]" {
			a.done = true
			continue
		}
		a.add(t, data)
	}
	return a
}

// add takes one chunk in.
func (a *answer) add(t *testing.T, data string) {
	t.Helper()
	var chunk struct {
		Error   *struct{ Message string }
		Choices []struct {
			Delta struct {
				Content   string
				ToolCalls []struct {
					Index    int
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
			FinishReason string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal([]byte(data), &chunk); err != nil {
		t.Errorf("chunk %q: %v", data, err)
		return
	}
	if chunk.Error != nil {
		a.errors = append(a.errors, chunk.Error.Message)
	}
	for _, c := range chunk.Choices {
		a.text += c.Delta.Content
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
		for _, call := range c.Delta.ToolCalls {
			for len(a.tools) <= call.Index {
				a.tools = append(a.tools, toolCall{})
			}
			a.tools[call.Index].name += call.Function.Name
			a.tools[call.Index].arguments += call.Function.Arguments
		}
	}
}
