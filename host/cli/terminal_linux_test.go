package cli

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"golang.org/x/sys/unix"
)

// onTerminal runs a command on a terminal of so many columns, and returns what
// that shows.
func (a *asked) onTerminal(columns uint16, args ...string) string {
	a.t.Helper()
	person, program := terminal(a.t)
	if err := unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		a.t.Fatal(err)
	}
	cmd := a.command(args...)
	cmd.Stdout, cmd.Stderr = program, os.Stderr
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	program.Close()
	b, _ := io.ReadAll(person) // which ends in an error, as nobody holds the other end
	if err := cmd.Wait(); err != nil {
		a.t.Errorf("parley %q: %v", args, err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}

// On a terminal no line of an answer is wider than it, nor one of a table.
func TestAskTerminal(t *testing.T) {
	t.Parallel()
	a := serveAsked(t)
	shown := a.onTerminal(40, "ask", "What makes the tides?", "--workspace", "notes")
	text, sources, ok := strings.Cut(shown, "\nSources:\n")
	if !ok || !strings.Contains(strings.Join(strings.Fields(text), " "), "made by the moon and, less strongly") || !strings.Contains(sources, "https://notes.example/tides") {
		t.Errorf("the terminal shows:\n%s", shown)
	}
	checkWidth(t, text, 40)
	table := a.onTerminal(40, "search", "notes", "tides")
	if !strings.HasPrefix(table, "id  text          title  url") || !strings.Contains(table, "\n1   The tides o…  Tides  https") || !strings.HasSuffix(table, "1 of about 1\n") {
		t.Errorf("the terminal shows:\n%s", table)
	}
	checkWidth(t, table, 40)
	if strings.Contains(a.onTerminal(80, "search", "notes", "yeast"), "\x1b") {
		t.Error("a document's escape sequence reaches the terminal")
	}
}

func checkWidth(t *testing.T, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if wide := runewidth.StringWidth(strings.TrimRight(line, "\n")); wide > width && strings.Contains(line, " ") {
			t.Errorf("a line of %d columns on a terminal of %d: %q", wide, width, line)
		}
	}
}
