package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTelemetryOptOut runs the program in a network namespace where there is
// none but the loopback interface, with each of the switches: no collector is
// compiled, there is no file of telemetry's, and no socket but those of the API.
// Without a switch all of that is there, so that the looking can fail.
func TestTelemetryOptOut(t *testing.T) {
	t.Parallel()
	const inside = "TEST_NET_SPACE"
	if os.Getenv(inside) != "" {
		loopbackUp(t)
		optOuts(t)
		return
	}
	if testing.Short() {
		t.Skip("starts the program eight times")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes a network namespace")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTelemetryOptOut$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		t.Skipf("cannot make a network namespace: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestTelemetryOptOut") {
		t.Errorf("%v\n%s", err, out)
	}
}

// loopbackUp switches the loopback interface on, which a new namespace has off.
func loopbackUp(t *testing.T) {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}

func optOuts(t *testing.T) {
	off := filepath.Join(t.TempDir(), "off.toml")
	if err := os.WriteFile(off, []byte("no_analytics = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	switchedOff, before := t.TempDir(), t.TempDir()
	if code, out := parleySays(t, "telemetry", "off", "--db-path", switchedOff); code != exitOK {
		t.Fatalf("telemetry off: code %d\n%s", code, out)
	}
	for _, tt := range []struct {
		name string
		dir  string // of the data; empty: a new one
		args []string
		env  string
		on   bool
	}{
		{name: "no switch", dir: before, on: true},
		{name: "nonsense that leaves it on", env: "PARLEY_NO_ANALYTICS=0", on: true},
		{name: "flag, where it was on before", dir: before, args: []string{"--no-analytics"}},
		{name: "flag", args: []string{"--no-analytics"}},
		{name: "variable of its own", env: "PARLEY_NO_ANALYTICS=1"},
		{name: "variable of all programs", env: "DO_NOT_TRACK=nonsense"},
		{name: "configuration file", args: []string{"--config-file-path", off}},
		{name: "command", dir: switchedOff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, knew := tt.dir, tt.dir == before && !tt.on
			if dir == "" {
				dir = t.TempDir()
			}
			w := newOptOut(t, dir, tt.args, tt.env)
			w.check(t, tt.on, knew)
		})
	}
}

// An optOut is the program, running, with what it leaves on the machine.
type optOut struct {
	*life
	dir  string
	port string
}

// newOptOut starts the program where a collector is at hand and a platform is
// named, and uses it.
func newOptOut(t *testing.T, dir string, args []string, env string) *optOut {
	t.Helper()
	p := newPaced(t, "http_request", "http://127.0.0.1:9") // for its module
	args = append([]string{
		"serve", "--db-path", dir, "--plugin-cache-dir", filepath.Join(dir, "compiled"), "--http-addr", "127.0.0.1:0", "--experimental-logs-mode", "json", "--plugin-dir", p.plugins, "--plugin-lock=off",
		"--telemetry-url", "http://127.0.0.1:9/v1/batch", "--telemetry-file", filepath.Join(dir, "telemetry-file"),
	}, args...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), reexec+"=parley")
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	c := &life{t: t, cmd: cmd, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	c.url = startServing(t, cmd, io.Discard)
	t.Cleanup(c.kill)
	w := &optOut{life: c, dir: dir}
	_, w.port, _ = strings.Cut(strings.TrimPrefix(w.url, "http://"), ":")
	for range 100 {
		w.call("GET", "/version", "")
	}
	w.call("POST", "/indexes", `{"uid":"films"}`)
	w.call("POST", "/indexes/films/search", `{"q":"x"}`)
	return w
}

// check looks for telemetry, of which there is all or nothing. knew says that it
// was on in that directory before: the UID stays, since it is the key to what was
// sent, and so does the file that the operator asked for.
func (w *optOut) check(t *testing.T, on, knew bool) {
	t.Helper()
	code, body := w.call("GET", "/telemetry", "")
	if code != http.StatusOK || strings.Contains(body, `"on":true`) != on {
		t.Errorf("GET /telemetry = %d %s, want on: %v", code, body, on)
	}
	_, plugins := w.call("GET", "/plugins", "")
	if strings.Contains(plugins, `"kind":"collector"`) != on {
		t.Errorf("GET /plugins = %s, want a collector that runs: %v", plugins, on)
	}
	files := map[string]bool{"telemetry": on, "telemetry.old": false, "telemetry-file": on || knew, "instance-uid": on || knew}
	for name, want := range files {
		if _, err := os.Stat(filepath.Join(w.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	compiled := 0
	err := filepath.WalkDir(filepath.Join(w.dir, "compiled"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			compiled++
		}
		return nil
	})
	// Where `go generate` was run the program carries a provider, too.
	if carries := strings.Contains(plugins, `"kind":"provider"`); err != nil || compiled > 0 != (on || knew || carries) {
		t.Errorf("%d compiled modules, %v, want some: %v", compiled, err, on || knew || carries)
	}
	open, sockets := w.descriptors(t)
	if spool := slices.ContainsFunc(open, func(f string) bool { return strings.HasPrefix(f, filepath.Join(w.dir, "telemetry")) }); spool != on {
		t.Errorf("files of telemetry are open: %v, want %v: %q", spool, on, open)
	}
	for _, s := range w.internet(t) {
		if slices.Contains(sockets, s.inode) && s.port != w.port {
			t.Errorf("a socket of port %s, state %s, which is not the API's %s", s.port, s.state, w.port)
		}
	}
}

// descriptors are the files that the process has open, and the inodes of its
// sockets.
func (w *optOut) descriptors(t *testing.T) (files, sockets []string) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", w.cmd.Process.Pid)
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // it was closed meanwhile
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			sockets = append(sockets, strings.TrimSuffix(inode, "]"))
		} else {
			files = append(files, to)
		}
	}
	if len(files) == 0 || len(sockets) == 0 {
		t.Fatalf("%d files and %d sockets are open, want some of each", len(files), len(sockets))
	}
	return files, sockets
}

// A socket is a line of the kernel's tables: its own port, in decimal.
type socket struct{ port, state, inode string }

func (w *optOut) internet(t *testing.T) (all []socket) {
	t.Helper()
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", w.cmd.Process.Pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n")[1:] {
			f := strings.Fields(line)
			if len(f) < 10 {
				continue
			}
			_, port, _ := strings.Cut(f[1], ":")
			n, err := strconv.ParseUint(port, 16, 16)
			if err != nil {
				t.Fatalf("%s: %q: %v", table, line, err)
			}
			all = append(all, socket{strconv.FormatUint(n, 10), f[3], f[9]})
		}
	}
	return all
}
