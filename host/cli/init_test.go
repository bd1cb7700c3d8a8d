package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v2"
)

// TestInit serves what `parley init` made, by the very command of its unit, and asks by
// the public name.
func TestInit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	dir := filepath.Join(t.TempDir(), "service")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"init", dir, "--http-addr", "127.0.0.1:0", "--public-url", "https://ask.example.org/parley"}, &out, &errs); code != exitOK {
		t.Fatalf("init: code %d, %s", code, &errs)
	}
	config := filepath.Join(dir, "config.toml")
	text := readFile(t, config)
	key := regexp.MustCompile(`(?m)^master_key = "(\S{32})"$`).FindStringSubmatch(text)
	if st, err := os.Stat(config); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 || key == nil {
		t.Fatalf("config.toml: %v %v, want one that others cannot read, with a key:\n%s", st.Mode(), err, text)
	}
	if strings.Contains(out.String(), key[1]) || !strings.Contains(out.String(), "serve --config-file-path "+config) {
		t.Errorf("init printed\n%s", &out)
	}
	out.Reset()
	if code := run(t.Context(), []string{"plugin", "verify", "--plugin-dir", filepath.Join(dir, "plugins")}, &out, &errs); code != exitOK || strings.Count(out.String(), "ok  ") != 10 {
		t.Errorf("plugin verify: code %d, want 10 that are right:\n%s", code, &out)
	}
	var log struct{ Addr string }
	p := start(t, "serve", "--config-file-path", config, "--experimental-logs-mode", "json", "--no-analytics")
	if err := json.Unmarshal([]byte(p.waitFor(`"message":"serving"`)), &log); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"ask.example.org": http.StatusOK, "other.example.org": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+log.Addr+"/openapi.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = name
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET /openapi.json of %s: status %d, want %d", name, resp.StatusCode, want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) < 4 {
		t.Errorf("the folder has %v, %v; want all that the service writes", entries, err)
	}

	for what, args := range map[string][]string{
		"holds files already":                          {dir},
		"a sign that a systemd":                        {filepath.Join(t.TempDir(), "a b")},
		"a sign that a systemd unit or a compose file": {filepath.Join(t.TempDir(), "a:b")},
		"option public-url":                            {filepath.Join(t.TempDir(), "a"), "--public-url", "ask.example.org"},
		"DIR is missing":                               {},
		"option http-addr (flag --":                    {filepath.Join(t.TempDir(), "b"), "--http-addr", "nowhere"},
	} {
		errs.Reset()
		if code := run(t.Context(), append([]string{"init"}, args...), &out, &errs); code == exitOK || !strings.Contains(errs.String(), what) {
			t.Errorf("init %q: code %d, %q; want %q", args, code, &errs, what)
		}
		if len(args) > 0 && args[0] != dir {
			if _, err := os.Stat(args[0]); err == nil {
				t.Errorf("init %q failed and left the folder", args)
			}
		}
	}

	unit := filepath.Join(dir, "parley.service")
	if runtime.GOOS != "linux" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if text := readFile(t, unit); !strings.Contains(text, "\nExecStart="+exe+" serve --config-file-path "+config+"\n") || strings.Contains(text, "/var/lib") {
		t.Errorf("the unit:\n%s", text)
	}
	var compose struct {
		Services map[string]struct {
			Entrypoint, Ports, Volumes []string
			User                       string
		}
	}
	file := filepath.Join(dir, "compose.yaml")
	err = yaml.Unmarshal([]byte(readFile(t, file)), &compose)
	if s := compose.Services["parley"]; err != nil || !slices.Equal(s.Entrypoint, []string{exe, "serve", "--config-file-path", config}) || !slices.Equal(s.Ports, []string{"127.0.0.1:0:7700"}) ||
		!slices.Equal(s.Volumes, []string{exe + ":" + exe + ":ro", dir + ":" + dir}) || s.User != fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()) {
		t.Errorf("the compose file: %v, %+v", err, s)
	}
	if tool, err := exec.LookPath("check-jsonschema"); err == nil {
		if out, err := exec.Command(tool, "--builtin-schema", "vendor.compose-spec", file).CombinedOutput(); err != nil {
			t.Errorf("check-jsonschema: %v\n%s", err, out)
		}
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("systemd-analyze is not installed: the unit is not verified")
		return
	}
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestInitOfGoRun wants no unit for a program that is removed when it ends.
func TestInitOfGoRun(t *testing.T) {
	for exe, want := range map[string]bool{
		filepath.FromSlash("/tmp/go-build3412/b001/exe/parley"):  true,
		filepath.FromSlash("/tmp/go-build3412/b001/parley.test"): false,
		filepath.FromSlash("/home/me/go/bin/parley"):             false,
		filepath.FromSlash("/srv/exe/parley"):                    false,
	} {
		if got := isOfGoRun(exe); got != want {
			t.Errorf("isOfGoRun(%s) = %t, want %t", exe, got, want)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestInitInterrupted: an init that Ctrl-C ends leaves nothing of its own behind, and a
// shell does not go on behind it. What else came into the folder meanwhile stays.
func TestInitInterrupted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	for _, other := range []string{"", "notes.md"} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := filepath.Join(t.TempDir(), "service")
		var said bytes.Buffer
		code := run(ctx, []string{"init", dir}, &said, callWriter(func(b []byte) {
			said.Write(b)
			if !bytes.Contains(b, []byte("pinning plugins")) {
				return
			}
			if other != "" {
				if err := os.WriteFile(filepath.Join(dir, other), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
			cancel()
		}))
		if code != exitInterrupted || !strings.HasSuffix(said.String(), "parley: interrupted before it was done\n") {
			t.Errorf("init: code %d, want %d; it said\n%s", code, exitInterrupted, &said)
		}
		entries, err := os.ReadDir(dir)
		if other == "" && err == nil || other != "" && (len(entries) != 1 || entries[0].Name() != other) {
			t.Errorf("beside %q the folder has %v, %v", other, entries, err)
		}
	}
}

// A callWriter is called with what is written.
type callWriter func([]byte)

func (w callWriter) Write(b []byte) (int, error) {
	w(b)
	return len(b), nil
}
