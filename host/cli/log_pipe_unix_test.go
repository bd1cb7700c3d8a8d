//go:build unix

package cli

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestLogReaderGone serves on when whoever read the log has gone: SIGPIPE would end the
// program, and systemd takes that end for a clean one.
func TestLogReaderGone(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), os.Args[0], "serve", "--http-addr", "127.0.0.1:0", "--experimental-logs-mode", "json", "--log-level", "debug", "--db-path", t.TempDir(), "--plugin-dir", t.TempDir())
	program.Env, program.Stderr = append(os.Environ(), reexec+"=parley"), write
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	url := ""
	for lines := bufio.NewScanner(read); url == "" && lines.Scan(); {
		url = listening(lines.Text())
	}
	if url == "" {
		t.Fatal("the program does not listen")
	}
	read.Close()
	for range 3 { // each writes a line
		resp, err := http.Get(url + "/version")
		if err != nil {
			t.Fatalf("after the log's reader has gone: %v", err)
		}
		resp.Body.Close()
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Errorf("the program ended with %v, want in order", err)
	}
}
