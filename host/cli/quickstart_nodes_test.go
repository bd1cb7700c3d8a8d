package cli

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/data/store"
)

// TestQuickstartNodes runs three nodes by one command, kills the one that leads by
// the command that was printed, and wants the others to answer, to take writes, and
// the killed one to come back and have them.
func TestQuickstartNodes(t *testing.T) {
	if os.Getenv(longVariable) == "" {
		t.Skip("builds a server of NATS and runs six processes: LONG=1 runs it")
	}
	if apart.Run(t) {
		return
	}
	t.Setenv(reexec, "parley") // the nodes are this test's binary
	t.Setenv("PARLEY_NO_ANALYTICS", "true")
	data := t.TempDir()
	p := start(t, "quickstart", "--nodes", "3", "--http-addr", "127.0.0.1:0", "--db-path", data)
	ask, kill := p.waitFor("curl -N "), p.waitFor("kill -9 ")
	status := p.waitFor("parley cluster status ")
	p.waitFor("serving until interrupted")
	shell := func(command string) string {
		t.Helper()
		out, err := exec.Command("sh", "-c", command).Output()
		if err != nil {
			t.Fatalf("%s: %v, %s", command, err, out)
		}
		return string(out)
	}
	var stderr strings.Builder
	code := run(t.Context(), []string{"quickstart", "--nodes", "3", "--http-addr", "127.0.0.1:0", "--db-path", data}, new(strings.Builder), &stderr)
	if first := regexp.MustCompile(`http://[0-9.:]+`).FindString(status); code == 0 || !strings.Contains(stderr.String(), "this cluster runs already, at") || !strings.Contains(stderr.String(), first) {
		t.Errorf("a second start: exit status %d, %s; want an error that says where the first runs, as at %s", code, stderr.String(), first)
	}
	for i := range 3 {
		conf, err := os.ReadFile(filepath.Join(data, "cluster-3", "nats-"+strconv.Itoa(i+1), "nats.conf"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`listen: "([^"]+)"`).FindAllStringSubmatch(string(conf), -1) {
			if got := askNATS(t, m[1]); !strings.Contains(got, "Authorization") {
				t.Errorf("server %d of NATS says %q at %s to who has no password, want a refusal", i+1, got, m[1])
			}
		}
	}
	answer := shell(ask)
	if !strings.Contains(answer, "Inception") || !strings.Contains(answer, "data: [DONE]") {
		t.Fatalf("the printed command answers %.400q, want films of Nolan to the end", answer)
	}

	shell(kill)
	if again := shell(ask); !strings.Contains(again, "Inception") || !strings.Contains(again, "data: [DONE]") {
		t.Errorf("with the leader gone the printed command answers %.400q, want films of Nolan to the end", again)
	}
	p.waitFor("is gone (signal: killed)")
	key, err := os.ReadFile(filepath.Join(data, "cluster-3", "key"))
	if err != nil {
		t.Fatal(err)
	}
	wait := func(what string, done func() bool) {
		t.Helper()
		if err := new(fleet).await(t.Context(), what, done); err != nil {
			t.Fatal(err)
		}
	}
	c := &cmdutil.Client{URL: regexp.MustCompile(`http://\S+`).FindString(status), Key: strings.TrimSpace(string(key))}
	wait("the others take a write", func() bool {
		return c.Call(t.Context(), http.MethodPatch, "/experimental-features", map[string]bool{"containsFilter": true}, new(any)) == nil
	})
	var s httpapi.ClusterBody
	wait("the killed node is back and level", func() bool {
		if err := c.Call(t.Context(), http.MethodGet, "/cluster", nil, &s); err != nil {
			t.Fatal(err)
		}
		for _, n := range s.Nodes {
			if n.Role == "silent" || n.Seq < s.Node.Seq {
				return false
			}
		}
		return len(s.Nodes) == 2
	})
	p.waitFor("is started again: http://")
	killed, err := strconv.Atoi(strings.TrimPrefix(kill, "kill -9 "))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		b, err := os.ReadFile(filepath.Join(data, "cluster-3", "node-"+strconv.Itoa(i+1)+".pid"))
		if pid, wrong := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || wrong != nil || pid == killed {
			t.Errorf("process of node %d: %q, %v; want a number other than that of the killed one", i+1, b, err)
		}
	}
}

// askNATS connects to a server of NATS without a password and returns what it says.
func askNATS(t *testing.T, addr string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("CONNECT {\"verbose\":false}\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(c) // the server closes it
	return string(said)
}

// TestQuickstartNodesTwice wants a second start over the files of a cluster that runs to say
// where it runs, and to touch nothing: whatever it started before would share the files of
// the first one's servers.
func TestQuickstartNodesTwice(t *testing.T) {
	data := t.TempDir()
	dir := filepath.Join(data, "cluster-3")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := store.LockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.WriteFile(filepath.Join(dir, "nodes"), []byte("http://127.0.0.1:7700\nhttp://127.0.0.1:7701\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	code := run(t.Context(), []string{"quickstart", "--nodes", "3", "--db-path", data}, new(strings.Builder), &stderr)
	if code == 0 || !strings.Contains(stderr.String(), "this cluster runs already, at http://127.0.0.1:7700 http://127.0.0.1:7701") {
		t.Errorf("exit status %d, %s; want an error that says where the cluster runs", code, stderr.String())
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("the directory has %q, %v; want the lock and the addresses alone", left, err)
	}
}

// TestQuickstartTakenPort wants a port that somebody has to be an error before anything
// starts: else the one who answers there is taken for a node.
func TestQuickstartTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	data := t.TempDir()
	var stderr strings.Builder
	code := run(t.Context(), []string{"quickstart", "--nodes", "3", "--db-path", data, "--http-addr", l.Addr().String()}, new(strings.Builder), &stderr)
	if code == 0 || !strings.Contains(stderr.String(), l.Addr().String()) || !strings.Contains(stderr.String(), "give another --http-addr") {
		t.Errorf("exit status %d, %s; want an error that names the port", code, stderr.String())
	}
	if left, _ := filepath.Glob(filepath.Join(data, "cluster-3", "nats-*")); len(left) > 0 {
		t.Errorf("%q are there: servers of NATS were started", left)
	}
}

// TestQuickstartNodesRefuses wants what several nodes cannot do to be refused before
// anything is built.
func TestQuickstartNodesRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--nodes", "2"}, "want 1, 3 or 5"},
		{[]string{"--nodes", "3", t.TempDir()}, "leave out PATH"},
	} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), append([]string{"quickstart", "--db-path", t.TempDir()}, tt.args...), &stdout, &stderr)
		if code != exitUsage || !strings.Contains(stderr.String(), tt.says) {
			t.Errorf("quickstart %q: exit status %d, %s; want %q", tt.args, code, stderr.String(), tt.says)
		}
	}
	t.Setenv("PATH", t.TempDir())
	t.Chdir(t.TempDir())
	if _, err := findNATS(t.Context(), new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "not in PATH") {
		t.Errorf("without a server of NATS: %v, want an error that names PATH", err)
	}
}

// TestFleetKey makes a key for nodes without data alone: of those with data, one that is
// gone must be put back.
func TestFleetKey(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	key, err := readFleetKey(name)
	if err != nil || len(key) < 20 {
		t.Fatalf("the first key is %q, %v", key, err)
	}
	if again, err := readFleetKey(name); err != nil || again != key {
		t.Errorf("the key is %q, %v; want that of before", again, err)
	}
	data := filepath.Join(filepath.Dir(name), "node-1", "badger")
	if err := errors.Join(os.MkdirAll(data, 0o700), os.WriteFile(filepath.Join(data, "MANIFEST"), nil, 0o600), os.Remove(name)); err != nil {
		t.Fatal(err)
	}
	if key, err := readFleetKey(name); err == nil || !strings.Contains(err.Error(), "is gone, and the data of node-1 is under that key") {
		t.Errorf("beside data: the key %q, %v; want an error", key, err)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("another key was written beside data that has one")
	}
}
