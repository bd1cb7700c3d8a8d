package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// outside is a folder outside the checkout, and the environment of a person who
// works there with parley on the path.
func outside(t *testing.T) (dir string, env []string) {
	t.Helper()
	env = append(os.Environ(), "PATH="+parleyOnPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	return t.TempDir(), env
}

// TestGuide runs the five commands of the SDK guide as they stand there, and
// asks what they have left running.
func TestGuide(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin and serves it")
	}
	_, block, ok := strings.Cut(read(t, "sdk/README.md"), "<!-- run by host/cli TestGuide -->\n\n```sh\n")
	block, _, ok2 := strings.Cut(block, "\n```\n")
	lines := strings.Split(block, "\n")
	if !ok || !ok2 || len(lines) > 5 {
		t.Fatalf("sdk/README.md has %d commands in its first block, want at most 5", len(lines))
	}
	dir, env := outside(t)
	for _, line := range lines[:len(lines)-1] {
		if out, err := command(dir, env, "sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	last, _, _ := strings.Cut(lines[len(lines)-1], "#")
	p := startIn(t, dir, env, strings.TrimSpace(last)+" --http-addr 127.0.0.1:0 --db-path data")
	asking := regexp.MustCompile(`curl -N (\S+)/chats/demo`).FindStringSubmatch(p.waitFor("curl -N "))
	p.waitFor("serving until interrupted")
	a := ask(t, "http://"+asking[1]+"/chats/demo/chat/completions", `{"model":"any","stream":true,"messages":[{"role":"user","content":"Hello"}]}`)
	if a.status != http.StatusOK || a.text != "You said: Hello" || a.finish != "stop" {
		t.Errorf("answer: status %d, text %q, finish %q\n%s\n%s", a.status, a.text, a.finish, a.raw, p.text())
	}
}

// startIn runs a shell's command in dir until the test ends.
func startIn(t *testing.T, dir string, env []string, line string) *process {
	t.Helper()
	p := &process{t: t, grown: make(chan struct{}, 1), ended: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, p, p
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait()
		p.ended <- cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		cancel()
		<-p.ended // the interrupt ends it, in whatever it was doing
	})
	return p
}

// TestPluginNew writes a plugin of each kind outside the checkout; each is in
// form, passes its test and keeps the contract.
func TestPluginNew(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds plugins")
	}
	for _, kind := range []string{"provider", "collector", "guard"} {
		t.Run(kind, func(t *testing.T) {
			dir, env := outside(t)
			do := func(line string) string {
				t.Helper()
				out, err := command(dir, env, "sh", "-c", line).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
				return string(out)
			}
			do("parley plugin new " + kind + " my-first --dir 'a folder'")
			if out := do("gofmt -l 'a folder'"); out != "" {
				t.Errorf("gofmt would change %s", out)
			}
			if out := do("cat 'a folder/.github/workflows/plugin.yml'"); !strings.Contains(out, "go install "+modulePath+"/cmd/parley@latest\n") {
				t.Errorf("the workflow does not install the program, of which the plugin has the SDK alone:\n%s", out)
			}
			do("go -C 'a folder' vet .")
			do("go -C 'a folder' test .")
			do("parley plugin build 'a folder' --out dist")
			do("parley plugin check dist/my-first-0.1.0.wasm --call-timeout 1m")

			// A colleague's clone builds, wherever it lies, and needs the SDK alone.
			do("cp -r 'a folder' clone && go -C clone test .")
			if out := do("go -C clone list -m all"); strings.Count(out, "\n") != 2 {
				t.Errorf("the plugin needs the modules\n%swant the SDK alone", out)
			}

			// What is there is not written over.
			if out := do("parley plugin new " + kind + " my-first --dir 'a folder' 2>&1 || true"); !strings.Contains(out, "holds files already") {
				t.Errorf("plugin new into a folder that is not empty: %s", out)
			}
		})
	}
}

// TestPluginNewReleased takes the SDK from a module proxy, as a program does
// that was installed by its version.
func TestPluginNewReleased(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("packs the SDK as a module")
	}
	skipUnlessLong(t, "packs the SDK as a module and compiles it anew")
	const version = "v0.7.0"
	proxy, cache := t.TempDir(), t.TempDir()
	serveModule(t, filepath.Join(proxy, filepath.FromSlash(modulePath), "@v"), version)
	dir, env := outside(t)
	env = append(env, "GOPROXY=file://"+filepath.ToSlash(proxy), "GOSUMDB=off", "GOMODCACHE="+cache, "GOFLAGS=-modcacherw")
	if out, err := command(dir, env, "sh", "-e", "-c", "parley plugin new provider echo --sdk "+version+"\ngo -C echo test .").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(dir, "echo", "go.mod"))
	if err != nil || !bytes.Contains(b, []byte("require "+modulePath+" "+version)) || bytes.Contains(b, []byte("replace")) {
		t.Errorf("go.mod: %v\n%s\nwant the version and no replace", err, b)
	}
	if workflow := readFile(t, filepath.Join(dir, "echo", ".github", "workflows", "plugin.yml")); !strings.Contains(workflow, "/cmd/parley@$(go list -m -f '{{.Version}}' "+modulePath+")\n") {
		t.Errorf("the workflow does not install the SDK's version:\n%s", workflow)
	}
}

// serveModule writes the SDK and the contract, as a version of this module, in
// the form of a module proxy.
func serveModule(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string) {
		content := read(t, name)
		w, err := z.Create(path.Join(modulePath+"@"+version, filepath.ToSlash(name)))
		if err == nil {
			_, err = io.WriteString(w, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("go.mod")
	for _, room := range []string{"abi", "sdk"} {
		err := filepath.WalkDir(filepath.Join(root(t), room), func(file string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(file, ".go") {
				rel, err := filepath.Rel(root(t), file)
				if err != nil {
					return err
				}
				add(rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": read(t, "go.mod"), version + ".zip": b.String(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPluginNewRefuses tries what cannot be written.
func TestPluginNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"sink", "x"}, "say provider, collector or guard"},
		{[]string{"provider", "No Name"}, "is not a plugin name"},
		{[]string{"provider", "x", "--module", "bad path"}, "such as example.com/x"},
		{[]string{"provider", "x", "--module", "a//b"}, "such as example.com/x"},
		{[]string{"provider", "x", "--lang", "cobol"}, "examples/provider-c"},
		{[]string{"provider", "x", "--sdk", "nowhere"}, "is neither a version, such as v1.2.0, nor the folder of a checkout"},
	} {
		var out, errs bytes.Buffer
		dir := filepath.Join(t.TempDir(), "x")
		code := run(t.Context(), append(append([]string{"plugin", "new"}, tt.args...), "--dir", dir), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("plugin new %s: code %d, %s; want code %d and %q", tt.args, code, &errs, exitUsage, tt.want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("plugin new %s left a folder", tt.args)
		}
	}
}

// TestScaffoldGo compares the version of Go that new plugins name with ours.
func TestScaffoldGo(t *testing.T) {
	if !strings.Contains(read(t, "go.mod"), "\ngo "+goVersion+"\n") {
		t.Errorf("go.mod names another version of Go than %s, which plugin new writes", goVersion)
	}
}
