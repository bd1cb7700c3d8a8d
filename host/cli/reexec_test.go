package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/e2e/garbage"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A test binary with this variable set is the program, so that it can be
// killed, and its cost is counted apart from the test's.
const reexec = "TEST_REEXEC"

// run is the program of tests, which bring the plugins that they need.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runArguments(ctx, args, stdout, stderr, carryNone)
}

func carryNone(context.Context, io.Writer) ([][]byte, error) { return nil, nil }

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == cmdutil.CompileName {
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	if os.Getenv(reexec) == "parley" {
		os.Exit(runProgram(carryNone))
	}
	if os.Getenv(reexec) == paced {
		os.Exit(runPaced())
	}
	// Whatever cache folder a test gives to a process: to compile a module takes seconds.
	if err := os.Setenv("PARLEY_PLUGIN_CACHE_DIR", host.PluginCacheDir(config.Config{})); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	garbage.Seldom()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // half of their time they wait for processes
	}
	os.Exit(m.Run())
}

// reexecServe runs `parley serve` as a process of its own on a port that the
// system chose, until the test ends. It returns once the host listens; what it
// logs from then on goes to rest.
func reexecServe(t testing.TB, rest io.Writer, args ...string) (program *exec.Cmd, url string) {
	t.Helper()
	program = exec.Command(os.Args[0], append([]string{"serve", "--http-addr", "127.0.0.1:0", "--experimental-logs-mode", "json"}, args...)...)
	program.Env = append(os.Environ(), reexec+"=parley")
	return program, startServing(t, program, rest)
}

// startServing starts program, which is to end with the test, and returns once
// it listens; what it logs from then on goes to rest.
func startServing(t testing.TB, program *exec.Cmd, rest io.Writer) (url string) {
	t.Helper()
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = program.Process.Kill() // the test may have done so
		_ = program.Wait()
	})
	var said strings.Builder
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("the program does not start: %v:\n%s", err, said.String())
		}
		if url := listening(line); url != "" {
			go io.Copy(rest, lines) // ends with the program
			return url
		}
	}
}

// listening is where the program serves, once a line of its log says so; empty: not yet.
func listening(line string) (url string) {
	var log struct{ Addr, Message string }
	if json.Unmarshal([]byte(line), &log) != nil || log.Message != "serving" {
		return ""
	}
	return "http://" + log.Addr
}

// serveUnlocked is reexecServe for any plugins of a directory, with metrics and
// a log of errors alone, and waits for the first answer.
func serveUnlocked(t testing.TB, data, plugins string) (program *exec.Cmd, url string) {
	t.Helper()
	program, url = reexecServe(t, os.Stderr, "--db-path", data, "--plugin-dir", plugins, "--plugin-lock=off",
		"--experimental-enable-metrics", "--experimental-enable-logs-route")
	resp, err := http.Post(url+"/logs/stderr", "application/json", strings.NewReader(`{"target":"error"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Fatalf("set the log's level: status %d", resp.StatusCode)
	}
	return program, url
}
