package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A service that cannot start says why in one line, with what to do, and ends
// with an exit code: it never serves by half.
//
//parley:option http-addr
func TestStartRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	serving(t, data)
	below := filepath.Join(file, "below")
	for name, tt := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"port taken":             {[]string{"--http-addr", taken.Addr().String()}, exitFailed, []string{"listen on " + taken.Addr().String(), "address already in use", "--http-addr"}},
		"two on one directory":   {[]string{"--db-path", data}, exitFailed, []string{data + " is in use by process ", "stop it, or give another --db-path"}},
		"no directory":           {[]string{"--db-path", below}, exitUsage, []string{"option db-path (flag --db-path)", below, "leads through a file", "want a directory's path"}},
		"no certificate":         {[]string{"--ssl-cert-path", file, "--ssl-key-path", file}, exitUsage, []string{"read certificate " + file, "--ssl-cert-path"}},
		"no such certificate":    {[]string{"--ssl-cert-path", dir + "/none.pem", "--ssl-key-path", file}, exitUsage, []string{"none.pem", "no such file", "--ssl-cert-path"}},
		"a file for dumps":       {[]string{"--dump-dir", file}, exitUsage, []string{file, "dump-dir"}},
		"a file for snapshots":   {[]string{"--snapshot-dir", file}, exitUsage, []string{file, "snapshot-dir"}},
		"no plugin directory":    {[]string{"--plugin-dir", file, "--plugin-lock", "off"}, exitUsage, []string{file, "plugin-dir"}},
		"no directory to record": {[]string{"--chat-record-dir", below}, exitUsage, []string{below, "chat-record-dir"}},
		"no file for telemetry":  {[]string{"--telemetry-file", below}, exitUsage, []string{below, "telemetry-file"}},
		"no dump, though wished": {[]string{"--import-dump", dir + "/none.dump"}, exitUsage, []string{"none.dump", "no such file", "--import-dump"}},
		"no archive, but a text": {[]string{"--import-snapshot", file}, exitUsage, []string{file, "not an archive", "--import-snapshot"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			cwd := t.TempDir()
			args := append([]string{"serve", "--http-addr", "127.0.0.1:0", "--db-path", filepath.Join(cwd, "data"), "--plugin-dir", t.TempDir(), "--log-level", "error"}, tt.args...)
			if code := run(t.Context(), args, &stdout, &stderr); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			said := strings.TrimSuffix(stderr.String(), "\n")
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("said %q, want %q in it", said, want)
				}
			}
			if strings.Contains(said, "\n") {
				t.Errorf("said %q, want one line", said)
			}
			if left, _ := os.ReadDir(cwd); len(left) > 0 {
				t.Errorf("left %s behind", left)
			}
		})
	}
}

// A start that has plugins to build looks at its address and its data first.
func TestStartRefusedBeforeBuild(t *testing.T) {
	t.Parallel()
	if inProgram, err := hasModules(); err != nil || inProgram {
		t.Skip("this program has its plugins in it")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data := filepath.Join(t.TempDir(), "data")
	serving(t, data)
	build := func(context.Context, io.Writer) ([][]byte, error) {
		t.Error("plugins are built")
		return nil, nil
	}
	for want, args := range map[string][]string{"address already in use": {"--db-path", filepath.Join(t.TempDir(), "data"), "--http-addr", taken.Addr().String()}, "is in use by process ": {"--db-path", data, "--http-addr", "127.0.0.1:0"}} {
		var out, errs bytes.Buffer
		if code := runArguments(t.Context(), append([]string{"serve"}, args...), &out, &errs, build); code != exitFailed || !strings.Contains(errs.String(), want) {
			t.Errorf("serve %s: code %d, said %q; want %q", args, code, &errs, want)
		}
	}
}

// A command that asks where no service is names the one that there is.
func TestAskedElsewhere(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	url := serving(t, data)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	for _, args := range [][]string{{"ask", "x"}, {"telemetry", "status"}, {"dump", "create"}, {"search", "a", "b"}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), reexec+"=parley", "PARLEY_DB_PATH="+data, "PARLEY_HTTP_ADDR="+dead.Addr().String())
		said, err := cmd.CombinedOutput()
		if want := "one does at " + url + ": add --url " + url + "\n"; err == nil || !strings.HasSuffix(string(said), want) {
			t.Errorf("%s: %v, said %q; want %q in it", args, err, said, want)
		}
	}
}
