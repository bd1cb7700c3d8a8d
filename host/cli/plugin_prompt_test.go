//go:build linux

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal returns the two ends of one: what a person holds, and what a program
// is given.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() }) // the test may have closed it
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = program.Close() }) // the test may have closed it
	return person, program
}

// TestGrantPrompt asks at a terminal, and takes only a yes for one.
func TestGrantPrompt(t *testing.T) {
	shop, dir := t.TempDir(), filepath.Join(t.TempDir(), "plugins")
	wide := small(t, shop, "1.1.0", "https://a.example", "https://b.example")
	install := func(answer string) (shown string, err error) {
		t.Helper()
		person, program := terminal(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0], "plugin", "install", wide, "--plugin-dir", dir)
		cmd.Env = append(os.Environ(), reexec+"=parley", "TERM=xterm")
		cmd.Stdin, cmd.Stderr = program, program
		if _, err := io.WriteString(person, answer); err != nil {
			t.Fatal(err)
		}
		err = cmd.Run()
		program.Close()
		b, _ := io.ReadAll(person) // which ends in an error, as nobody holds the other end
		return string(b), err
	}
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"plugin", "install", small(t, shop, "1.0.0", "https://a.example"), "--plugin-dir", dir}, &out, &errs); code != exitOK {
		t.Fatalf("plugin install: code %d, %s", code, errs.String())
	}
	for _, answer := range []string{"n\n", "\n", "\x04"} { // the last is the end of the input
		shown, err := install(answer)
		if err == nil || !strings.Contains(shown, "requests to https://b.example") || !strings.Contains(shown, "Accept that? [y/N]") || !strings.Contains(shown, "--grant") {
			t.Errorf("answer %q: %v, and the terminal shows %q; want the question, and an error", answer, err, shown)
		}
	}
	if shown, err := install("Yes\n"); err != nil {
		t.Errorf("answer yes: %v: %s", err, shown)
	}
	if _, err := os.Stat(filepath.Join(dir, "small-1.1.0.wasm")); err != nil {
		t.Error(err)
	}
}
