package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A service that cannot start says why in one line, with what to do, and ends
// with an exit code: it never serves by half.
func TestStartRefused(t *testing.T) {
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
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"port taken":             {[]string{"--http-addr", taken.Addr().String()}, []string{"listen on " + taken.Addr().String(), "address already in use", "--http-addr"}},
		"two on one directory":   {[]string{"--db-path", data}, []string{data + " is in use by process ", "stop it, or give another --db-path"}},
		"no directory":           {[]string{"--db-path", filepath.Join(file, "below")}, []string{file, "not a directory", "--db-path"}},
		"no certificate":         {[]string{"--ssl-cert-path", file, "--ssl-key-path", file}, []string{"read certificate " + file, "--ssl-cert-path"}},
		"no such certificate":    {[]string{"--ssl-cert-path", dir + "/none.pem", "--ssl-key-path", file}, []string{"none.pem", "no such file", "--ssl-cert-path"}},
		"no plugin directory":    {[]string{"--plugin-dir", file, "--plugin-lock", "off"}, []string{file}},
		"no directory to record": {[]string{"--chat-record-dir", filepath.Join(file, "below")}, []string{file, "not a directory"}},
		"no file for telemetry":  {[]string{"--telemetry-file", filepath.Join(file, "below")}, []string{file, "not a directory"}},
		"no dump, though wished": {[]string{"--import-dump", dir + "/none.dump"}, []string{"none.dump", "no such file", "--import-dump"}},
		"no archive, but a text": {[]string{"--import-snapshot", file}, []string{file, "no archive", "--import-snapshot"}},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"serve", "--http-addr", "127.0.0.1:0", "--db-path", filepath.Join(t.TempDir(), "data"), "--plugin-dir", t.TempDir(), "--log-level", "error"}, tt.args...)
			if code := run(t.Context(), args, &stdout, &stderr); code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
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
		})
	}
}
