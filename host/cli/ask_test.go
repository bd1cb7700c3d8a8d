package cli

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

const askKey = "the master key of these questions"

// asked is a service with an index notes and the workspaces notes, which quotes,
// and slow, whose model streams a thousand words.
type asked struct {
	t        *testing.T
	url      string
	provider *madeUp
}

func serveAsked(t *testing.T) *asked {
	t.Helper()
	if testing.Short() {
		t.Skip("builds plugins and runs the program")
	}
	plugins := t.TempDir()
	buildProvider(t, "extract", plugins)
	buildProvider(t, "vllm", plugins)
	a := &asked{t: t, provider: newProvider(t)}
	config := filepath.Join(t.TempDir(), "parley.toml")
	if err := os.WriteFile(config, []byte("master_key = \""+askKey+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, a.url = reexecServe(t, io.Discard, "--config-file-path", config, "--db-path", t.TempDir(), "--plugin-dir", plugins, "--plugin-lock=off", "--no-analytics")
	c := &cmdutil.Client{URL: a.url, Key: askKey}
	call := func(method, path string, body any) {
		t.Helper()
		var task struct{ TaskUID *int }
		if err := c.Call(t.Context(), method, path, body, &task); err != nil {
			t.Fatal(err)
		}
		if task.TaskUID == nil {
			return
		}
		if !comesTrue(func() bool {
			var s struct {
				Results []struct{ Status string }
			}
			if err := c.Call(t.Context(), "GET", "/tasks?statuses=enqueued,processing,failed", nil, &s); err != nil {
				t.Fatal(err)
			}
			return len(s.Results) == 0
		}) {
			t.Fatalf("%s %s: the task does not succeed", method, path)
		}
	}
	call("POST", "/indexes/notes/documents", []map[string]any{
		{"id": 1, "title": "Tides", "text": "The tides of the sea are made by the moon and, less strongly, by the sun. They come twice a day.", "url": "https://notes.example/tides"},
		{"id": 2, "title": "Bread \x1b[31m", "text": "Bread rises since yeast makes gas in the dough.", "tags": []string{"food"}},
	})
	call("PATCH", "/chats/notes/settings", map[string]any{"source": "extract"})
	call("POST", "/indexes", map[string]any{"uid": "empty"})
	call("PATCH", "/chats/slow/settings", map[string]any{"source": "vLlm", "indexUids": []string{"empty"}, "baseUrl": a.provider.url, "defaultModel": "c1000000-d5"})
	return a
}

// command is the program with arguments, on this service.
func (a *asked) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(a.t.Context(), os.Args[0], append(args, "--url", a.url)...)
	cmd.Env = append(os.Environ(), reexec+"=parley", "TERM=xterm", cmdutil.KeyEnv+"="+askKey)
	return cmd
}

// run returns what a command prints; code is its exit code.
func (a *asked) run(args ...string) (out, errs string, code int) {
	a.t.Helper()
	cmd := a.command(args...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		a.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func TestAsk(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	out, errs, code := a.run("ask", "What makes the tides?", "--workspace", "notes")
	if code != exitOK || errs != "" || !strings.Contains(out, "made by the moon") || !strings.Contains(out, "\nSources:\n  1. Tides  https://notes.example/tides\n") {
		t.Errorf("ask: code %d, errors %q, printed:\n%s", code, errs, out)
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("ask prints what a terminal obeys, to what is none: %q", out)
	}
	// Of several workspaces, the one whose indexes have documents is asked.
	if out, errs, code := a.run("ask", "What makes the tides?"); code != exitOK || !strings.Contains(out, "made by the moon") || errs != "asking workspace notes; --workspace names another: slow\n" {
		t.Errorf("ask without a workspace: code %d, errors %q, printed:\n%s", code, errs, out)
	}
	out, _, code = a.run("ask", "What makes the tides?", "--workspace", "notes", "--json", "--index", "notes")
	var response struct {
		Object, Status string
		Output         []struct{ Type string }
	}
	if err := json.Unmarshal([]byte(out), &response); code != exitOK || err != nil || response.Object != "response" || response.Status != "completed" || len(response.Output) < 2 {
		t.Errorf("ask --json: code %d, %v: %s", code, err, out)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("no key of this host\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"there is no workspace nots: there are notes, slow":   {"x", "--workspace", "nots"},
		"there is no workspace nots: there are notes, slow\n": {"x", "--workspace", "nots/model"},
		"there is no index nowhere: there are empty, notes":   {"x", "--workspace", "notes", "--index", "nowhere"},
		// The workspace slow is limited to the index empty.
		"`slow` does not search the index `notes`": {"x", "--workspace", "slow", "--index", "empty", "--index", "notes"},
		"QUESTION is missing":                      {},
		"Incorrect API key provided":               {"x", "--workspace", "notes", "--key-file", file},
		"keep one":                                 {"x", "--key", "y", "--key-file", file},
		"the question is empty":                    {" "},
	} {
		if out, errs, code := a.run(append([]string{"ask"}, args...)...); code == exitOK || out != "" || !strings.Contains(errs, want) {
			t.Errorf("ask %q: code %d, printed %q, said %q; want %q", args, code, out, errs, want)
		}
	}
}

// TestAskExplain wants the words, their worth, the passages with what they have, and what had no room.
func TestAskExplain(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	out, errs, code := a.run("ask", "What makes the tides of Neptune?", "--workspace", "notes", "--index", "notes", "--explain")
	for _, want := range []string{"made by the moon", "\nSearch of notes for ", ": coverage 0.", "1  tides\n", "0  neptune: in no document\n", "  Tides\n", "0 more passages have a word of it"} {
		if !strings.Contains(out, want) {
			t.Errorf("ask --explain: code %d, errors %q, no %q in:\n%s", code, errs, want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("ask --explain prints what a terminal obeys: %q", out)
	}
}

func TestEval(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	file := filepath.Join(t.TempDir(), "questions.ndjson")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"question":"What makes the tides?","kind":"plain","answer_regex":["by the moon and"]}
{"question":"What makes bread rise?","kind":"plain","file":["Bread"]}

{"question":"What makes the moon shine?","kind":"hard","answer_regex":["reflected sunlight"]}
{"question":"Who won the swimming cup in Tashkent?","kind":"none"}
{"question":"What makes the tides of the sea?","kind":"none","file":[]}
`)
	out, errs, code := a.run("eval", file, "--index", "notes", "--failed")
	for _, want := range []string{
		"plain                  2  100 %  100 %  100 %  100 %  100 %    0 of 0\n",
		"none                   0      -      -      -      -      -    1 of 2\n",
		"all                    3   66 %   66 %   66 %   66 %  100 %    1 of 2\n",
		"\nNot within 4 kB:\n  What makes the moon shine?\n", "\nNot refused:\n  What makes the tides of the sea?\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("eval: code %d, errors %q, no %q in:\n%s", code, errs, want, out)
		}
	}
	out, _, code = a.run("eval", file, "--index", "notes", "--json")
	var results []struct {
		Kind      string
		Within4k  int
		Questions int
	}
	if err := json.Unmarshal([]byte(out), &results); code != exitOK || err != nil || len(results) != 4 || results[3].Kind != "all" || results[3].Within4k != 2 {
		t.Errorf("eval --json: code %d, %v: %s", code, err, out)
	}
	for want, text := range map[string]string{
		"questions.ndjson:2: want an object":       "{\"question\":\"x\"}\nno JSON\n",
		"questions.ndjson:1: there is no question": "{\"file\":[\"a\"]}\n",
		"questions.ndjson:1: answer_regex: ":       "{\"question\":\"x\",\"answer_regex\":[\"(\"]}\n",
		"questions.ndjson has no questions":        "\n",
	} {
		write(text)
		if out, errs, code := a.run("eval", file, "--index", "notes"); code == exitOK || out != "" || !strings.Contains(errs, want) {
			t.Errorf("eval of %q: code %d, printed %q, said %q; want %q", text, code, out, errs, want)
		}
	}
	write("{\"question\":\"x\"}\n")
	for want, args := range map[string][]string{
		"--index is missing": {"eval", file},
		"there is no index nowhere: there are empty, notes": {"eval", file, "--index", "nowhere"},
		"no such file": {"eval", file + "x", "--index", "notes"},
	} {
		if out, errs, code := a.run(args...); code == exitOK || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: code %d, printed %q, said %q; want %q", args, code, out, errs, want)
		}
	}
}

// Where the indexes of several workspaces have documents, none is chosen.
func TestAskWhichWorkspace(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	c := &cmdutil.Client{URL: a.url, Key: askKey}
	var said json.RawMessage
	if err := c.Call(t.Context(), "PATCH", "/chats/slow/settings", map[string]any{"indexUids": nil}, &said); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := a.run("ask", "x"); code == exitOK || out != "" || !strings.Contains(errs, "--workspace is missing: there are notes, slow") {
		t.Errorf("ask without a workspace: code %d, printed %q, said %q", code, out, errs)
	}
}

// Ctrl-C ends the question, and the provider's request with it.
func TestAskInterrupted(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	cmd := a.command("ask", "Go on", "--workspace", "slow")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // of a whole word: nothing is held back where there is no terminal
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("ask ended with %v, want exit code %d", err, exitInterrupted)
	}
	if !comesTrue(func() bool { return a.provider.Open.Load() == 0 }) {
		t.Errorf("%d requests to the provider go on after Ctrl-C", a.provider.Open.Load())
	}
}

func TestSearchCommand(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	out, errs, code := a.run("search", "notes", "yeast")
	if want := "id\ttext\ttitle\n2\tBread rises since yeast makes gas in the dough.\tBread [31m\n"; code != exitOK || errs != "" || out != want {
		t.Errorf("search: code %d, errors %q, printed %q; want %q", code, errs, out, want)
	}
	if out, _, _ := a.run("search", "notes", "yeast", "--fields", "tags,id"); out != "tags\tid\n[\"food\"]\t2\n" {
		t.Errorf("search --fields printed %q", out)
	}
	out, _, code = a.run("search", "notes", "", "--json", "--limit", "1", "--offset", "1")
	var found struct{ Hits []struct{ ID int } }
	if err := json.Unmarshal([]byte(out), &found); code != exitOK || err != nil || len(found.Hits) != 1 || found.Hits[0].ID != 2 {
		t.Errorf("search --json: code %d, %v: %s", code, err, out)
	}
	if out, errs, code := a.run("search", "notes", "x", "--filter", "id > 1"); code != exitFailed || out != "" || !strings.Contains(errs, "not filterable") {
		t.Errorf("search --filter: code %d, printed %q, said %q", code, out, errs)
	}
	if out, errs, code := a.run("search", "nowhere", "x"); code != exitFailed || out != "" || !strings.Contains(errs, "there is no index nowhere: there are empty, notes") {
		t.Errorf("search nowhere: code %d, printed %q, said %q", code, out, errs)
	}
	if out, _, code := a.run("search", "notes", "zzzzzz"); code != exitOK || out != "" {
		t.Errorf("search for nothing: code %d, printed %q", code, out)
	}
}
