package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/setup/config"
)

// TestReadme holds the README to what the program does. TestQuickstart runs
// its first command.
func TestReadme(t *testing.T) {
	readme := read(t, "README.md")
	for _, want := range []string{"$ go run ./cmd/quickstart\n", "$ go test ./...\n", "workspace \"demo\"", "curl -N 127.0.0.1:7700/chats/demo/chat/completions"} {
		if !strings.Contains(readme, want) {
			t.Errorf("README.md has no %q", want)
		}
	}
	if needs := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod")); needs == nil || !strings.Contains(readme, "[Go "+needs[1]+"](") {
		t.Errorf("README.md does not name the Go that go.mod asks for, %q", needs)
	}
	code := strings.TrimSpace(read(t, "examples/provider-smallest/main.go"))
	block := "<!-- code: examples/provider-smallest/main.go -->\n\n```go\n" + code + "\n```\n"
	if !strings.Contains(readme, block) {
		if os.Getenv("UPDATE") == "" {
			t.Errorf("README.md does not show examples/provider-smallest/main.go as it is; UPDATE=1 go test ./host/cli mends it")
			return
		}
		old := regexp.MustCompile("(?s)<!-- code: examples/provider-smallest/main.go -->\n\n(```go\n.*?\n```\n)?")
		readme = old.ReplaceAllLiteralString(readme, block)
		if err := os.WriteFile(filepath.Join(root(t), "README.md"), []byte(readme), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSmallestLength holds the smallest provider to its promise.
func TestSmallestLength(t *testing.T) {
	lines := 0
	_, logic, ok := strings.Cut(read(t, "examples/provider-smallest/main.go"), "type smallest")
	if !ok {
		t.Fatal("no type smallest")
	}
	for line := range strings.Lines(logic) {
		if strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > 25 {
		t.Errorf("the smallest provider has %d lines of logic, want at most 25", lines)
	}
}

// TestLinks follows every relative link of every text.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`(?m)(?:\]\(|^\[[^]\n]+\]: )([^)#\s]+)(#[^)\s]*)?`) // in a sentence, or below it
	code := regexp.MustCompile("`[^`\n]+`")                                        // what stands in code is no link
	checked := 0
	for _, file := range texts(t) {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, file), "code"), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			to := filepath.Join(filepath.Dir(file), m[1])
			if _, err := os.Stat(filepath.Join(root(t), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
				continue
			}
			if place := strings.TrimPrefix(m[2], "#"); place != "" && filepath.Ext(to) == ".md" && !slices.Contains(anchors(read(t, to)), place) {
				t.Errorf("%s links to %s, where no heading is called so", file, m[1]+m[2])
			}
		}
	}
	if checked < 10 {
		t.Errorf("checked %d links, want those of all texts", checked)
	}
}

var (
	fences    = regexp.MustCompile("(?ms)^```.*?^```$")
	headings  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	withID    = regexp.MustCompile(`id="([^"]+)"`)
	linkTexts = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notSlug   = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// anchors are the places of a page that links may name: its headings as GitHub
// calls them, and what has an id.
func anchors(page string) (list []string) {
	for _, m := range headings.FindAllStringSubmatch(fences.ReplaceAllString(page, ""), -1) {
		text := notSlug.ReplaceAllString(linkTexts.ReplaceAllString(strings.ToLower(m[1]), "$1"), "")
		list = append(list, strings.ReplaceAll(text, " ", "-"))
	}
	for _, m := range withID.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestHelp runs what a person tries first.
func TestHelp(t *testing.T) {
	for _, args := range [][]string{
		{"--help"},
		{"serve", "--help"},
		{"quickstart", "--help"},
		{"quickstart", "--help", "all"},
		{"plugin", "build", "--help"},
		{"plugin", "pack", "--help"},
		{"plugin", "inspect", "--help"},
		{"plugin", "new", "--help"},
		{"plugin", "check", "--help"},
		{"plugin", "bench", "--help"},
		{"config", "explain"},
		{"version"},
		{"--version"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != exitOK || out.Len() == 0 || errs.Len() > 0 {
			t.Errorf("parley %s: code %d, %d bytes on stdout, stderr %q", args, code, out.Len(), &errs)
		}
		if args[0] == "quickstart" {
			if len(args) == 3 != strings.Contains(out.String(), "--max-indexing-memory") || strings.Count(out.String(), "\n      --") < 10 {
				t.Errorf("%s has not the options that it should have:\n%s", args, &out)
			}
		}
		if args[0] == "serve" {
			for _, o := range config.AllOptions() {
				if !strings.Contains(out.String(), "--"+o.Name+" ") {
					t.Errorf("serve --help does not name --%s", o.Name)
				}
			}
		}
	}
}

// TestVersion wants the flag to say what the command does.
func TestVersion(t *testing.T) {
	var command, flag, errs bytes.Buffer
	if code := run(t.Context(), []string{"version"}, &command, &errs); code != exitOK || !strings.HasPrefix(command.String(), "parley "+programVersion()+"\n") {
		t.Errorf("parley version: code %d, %q, stderr %q", code, &command, &errs)
	}
	if code := run(t.Context(), []string{"--version"}, &flag, &errs); code != exitOK || flag.String() != command.String() {
		t.Errorf("parley --version: code %d, %q, stderr %q; want %q", code, &flag, &errs, &command)
	}
}

// TestUsageErrors checks that a mistake ends with code 2 and one line that
// says what to do.
func TestUsageErrors(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"sevre"}, `did you mean "serve"?`},
		{[]string{"serve", "--db-pth", "x"}, "did you mean --db-path?"},
		{[]string{"serve", "--zzzzzzzzzz", "x"}, "serve --help"},
		{[]string{"serve", "--log-level", "loud"}, "want off, error, warn, info, debug or trace"},
		{[]string{"serve", "--env", "production"}, "want at least 16"},
		{[]string{"serve", "extra"}, `["extra"]: write ` + "`parley serve [flags]`"},
		{[]string{"serve", "--port", "80"}, "did you mean --http-addr?"},
		{[]string{"plugin", "build"}, "DIR is missing: write `parley plugin build DIR [flags]`"},
		{[]string{"search", "movies"}, "QUERY is missing"},
		{[]string{"plugin", "install"}, "FILE-or-URL[@SHA256]|REFERENCE|NAME[@CONSTRAINT] is missing"},
		{[]string{"plugin", "replay", "--status", "42", "body"}, "from 100 to 599"},
		{[]string{"plugin", "replay", "--rechunk", "-1", "body"}, "0 for all at once"},
		{[]string{"plugin", "bild"}, `did you mean "build"?`},
		{[]string{"telemetry", "x"}, "`parley telemetry --help` lists what there is"},
		{[]string{"telemetry", "status", "--url", "nonsense"}, `--url is "nonsense": want the address of a service`},
		{[]string{"dump", "create", "--url", "127.0.0.1:7700"}, `--url is "127.0.0.1:7700": want the address of a service`},
		{[]string{"documents", "import", "a.json", "--index", "a", "--url", "ftp://x"}, `--url is "ftp://x": want the address of a service`},
	}
	for _, tt := range tests {
		var out, errs bytes.Buffer
		code := run(t.Context(), tt.args, &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("parley %s: code %d, stderr %q; want code %d and one line with %q", tt.args, code, &errs, exitUsage, tt.want)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// texts lists the Markdown files of the tree.
func texts(t *testing.T) (files []string) {
	t.Helper()
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			rel, err := filepath.Rel(dir, path)
			files = append(files, rel)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
