package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gomodule "golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// A moduleFile is a file of the checkout, as it goes into the archive of a version.
type moduleFile struct{ root, name string }

func (f moduleFile) Path() string                 { return f.name }
func (f moduleFile) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }

// TestInstalled does what a stranger does with Go alone: `go install`, in a checkout or
// of a version from a module proxy, then an install by name, quickstart and serve in an
// empty folder, far from any checkout, with a home of its own.
func TestInstalled(t *testing.T) {
	t.Parallel()
	skipUnlessLong(t, "compiles the program as a stranger would, and all its plugins")
	proxy := t.TempDir()
	version := writeProxy(t, filepath.Join(proxy, modulePath, "@v"))
	vars, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Fields(string(vars))
	removeVersion(t, caches[1], version)
	t.Cleanup(func() { removeVersion(t, caches[1], version) })
	for name, tt := range map[string]struct{ from, arg, version string }{
		"checkout": {root(t), "./cmd/parley", "0.2.0-dev"},
		"version":  {t.TempDir(), modulePath + "/cmd/parley@" + version, version[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin, home := t.TempDir(), t.TempDir()
			env := append(os.Environ(), "GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GOFLAGS=-modcacherw", "GOWORK=off",
				"GOBIN="+bin, "GOCACHE="+caches[0], "GOMODCACHE="+caches[1], "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"))
			in := func(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
				cmd := exec.CommandContext(ctx, name, args...)
				cmd.Dir, cmd.Env = dir, env
				return cmd
			}
			if out, err := in(t.Context(), tt.from, "go", "install", tt.arg).CombinedOutput(); err != nil {
				t.Fatalf("go install: %v\n%s", err, out)
			}
			program := filepath.Join(bin, "parley")
			if out, err := in(t.Context(), home, program, "plugin", "install", "mistral", "--plugin-dir", "plugins").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("in use   ")) {
				t.Errorf("install by name: %v\n%s", err, out)
			}
			if out, err := in(t.Context(), home, program, "plugin", "list", "--available").Output(); err != nil || bytes.Count(out, []byte("\n")) != 24 || !bytes.Contains(out, []byte("vLlm")) {
				t.Errorf("list --available: %v\n%s; want a line for each of 23 plugins", err, out)
			}
			if out, err := in(t.Context(), home, program, "version").Output(); err != nil || !bytes.HasPrefix(out, []byte("parley "+tt.version+"\n")) {
				t.Errorf("version: %s %v, want %s", out, err, tt.version)
			}
			serve := func(args ...string) *process {
				return startProgram(t, args[0], func(ctx context.Context, p *process) int {
					cmd := in(ctx, home, program, append(args, "--http-addr", "127.0.0.1:0", "--db-path", filepath.Join(home, args[0]))...)
					cmd.Stdout, cmd.Stderr = p, p
					cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
					_ = cmd.Run()
					return cmd.ProcessState.ExitCode()
				})
			}
			p := serve("quickstart")
			url, body := parseCurl(t, p.waitFor("curl -N "))
			p.waitFor("7 collectors count usage")
			if a := ask(t, url, body); a.status != http.StatusOK || !strings.Contains(a.text, "Inception") {
				t.Errorf("answer: status %d, %s", a.status, a.raw)
			}
			p = serve("serve", "--plugin-dir", "plugins", "--experimental-logs-mode", "json")
			var log struct{ Addr string }
			if err := json.Unmarshal([]byte(p.waitFor(`"message":"serving"`)), &log); err != nil {
				t.Fatal(err)
			}
			code, plugins := send(t, http.MethodGet, "http://"+log.Addr+"/plugins", "")
			for _, want := range []string{"extract", "mistral", "ollama", "openai", "instance", "search"} {
				if !strings.Contains(plugins, `"name":"`+want+`"`) {
					t.Errorf("GET /plugins: %d, and no %s: %s", code, want, plugins)
				}
			}
		})
	}
}

// writeProxy writes the checkout to dir as a file tree of a module proxy, and returns
// its version there. Go takes it that what a version is never changes, so that each
// state of the checkout has another one.
func writeProxy(t *testing.T, dir string) (version string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	list.Dir = root(t)
	out, err := list.Output()
	if err != nil {
		t.Skipf("this is no checkout: git ls-files: %v", err)
	}
	var files []modzip.File
	state := sha256.New()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		f := moduleFile{root(t), name}
		if b, err := os.ReadFile(filepath.Join(f.root, f.name)); err == nil { // else it is removed and not committed yet
			files = append(files, f)
			fmt.Fprintf(state, "%q %x\n", name, sha256.Sum256(b))
		}
	}
	version = fmt.Sprintf("v0.0.1-test%x", state.Sum(nil)[:6])
	mod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := modzip.Create(&archive, gomodule.Version{Path: modulePath, Version: version}, files); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]string{"Version": version})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{version + ".info": info, version + ".mod": mod, version + ".zip": archive.Bytes(), "list": []byte(version + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return version
}

// removeVersion takes the version out of go's cache of modules.
func removeVersion(t *testing.T, cache, version string) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(cache, "cache", "download", modulePath, "@v", version+".*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(kept, filepath.Join(cache, modulePath+"@"+version)) {
		if err := os.RemoveAll(name); err != nil {
			t.Error(err)
		}
	}
}
