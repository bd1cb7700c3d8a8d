package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A language is one that the examples show a plugin in.
type language struct {
	name  string
	dir   string   // below examples, behind the kind of plugin
	tools []string // that its README names
	kinds []string // of plugins that are shown
}

var languages = []language{
	{"Go", "go", []string{"go"}, []string{"provider", "collector"}},
	{"C", "c", []string{"clang", "wasm-ld"}, []string{"provider", "collector"}},
	{"AssemblyScript", "assemblyscript", []string{"node", "npm"}, []string{"provider", "collector"}},
	{"Rust", "rust", []string{"cargo"}, []string{"provider", "collector", "guard"}},
	{"Zig", "zig", []string{"zig"}, []string{"collector"}},
}

// TestLanguages builds the plugins in other languages by the commands of their
// READMEs, in a folder that holds nothing else, holds them to the contract and
// to the cases that they share, and has a running host answer through them.
func TestLanguages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin in each of five languages")
	}
	skipUnlessLong(t, "builds a plugin in each of five languages")
	plugins := t.TempDir()
	var built []language
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			for _, kind := range l.kinds {
				dir := plugins
				if kind == "guard" {
					dir = t.TempDir()
				}
				file := l.build(t, kind, dir) // whose README checks it
				if kind == "provider" {
					checkCases(t, file, filepath.Join(root(t), "examples", "testdata", "provider"))
				}
			}
			built = append(built, l)
		})
	}
	var names []string
	for _, l := range built {
		for _, kind := range l.kinds {
			names = append(names, kind+"-"+l.dir)
		}
	}
	answerThrough(t, plugins, names)
	compareLanguages(t, plugins, built)
}

// answerThrough has a running host on the folder plugins answer by each provider of the
// examples names, and count by each collector.
func answerThrough(t *testing.T, plugins string, names []string) {
	t.Helper()
	p := start(t, "serve", "--http-addr", "127.0.0.1:0", "--db-path", t.TempDir(), "--plugin-dir", plugins, "--plugin-lock=off")
	base := "http://" + regexp.MustCompile(`addr=(\S+)`).FindStringSubmatch(p.waitFor(" serving "))[1]
	upstream := newProvider(t).url
	ready := readyPlugins(t, base)
	for _, name := range names {
		kind, language, _ := strings.Cut(name, "-")
		if kind == "collector" && !ready["talk-"+language] {
			t.Errorf("the collector talk-%s is not ready in GET /plugins", language)
		}
		if kind != "provider" {
			continue
		}
		workspace := base + "/chats/" + language
		change(t, workspace+"/settings", fmt.Sprintf(`{"source":"plain-%s","baseUrl":%q}`, language, upstream))
		a := ask(t, workspace+"/chat/completions", `{"model":"text","stream":true,"messages":[{"role":"user","content":"Films?"}]}`)
		if a.status != http.StatusOK || a.text != "Inception, Memento and The Prestige." || a.finish != "stop" {
			t.Errorf("%s answered with status %d, %q, %q:\n%s", name, a.status, a.text, a.finish, a.raw)
		}
	}
}

// readyPlugins are the names of those that a host says are ready.
func readyPlugins(t *testing.T, base string) map[string]bool {
	t.Helper()
	resp, err := http.Get(base + "/plugins")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Results []struct{ Name, State string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	ready := map[string]bool{}
	for _, p := range list.Results {
		ready[p.Name] = p.State == "ready"
	}
	return ready
}

// TestLanguagesShare sees to it that the files which the examples of a language
// share are the same.
func TestLanguagesShare(t *testing.T) {
	for _, file := range []string{"c/parley.h", "assemblyscript/parley.ts", "assemblyscript/.npmrc", "rust/src/parley.rs"} {
		if read(t, "examples/provider-"+file) != read(t, "examples/collector-"+file) {
			t.Errorf("examples/provider-%s and examples/collector-%s differ: copy the one over the other", file, file)
		}
	}
	if read(t, "examples/provider-rust/src/parley.rs") != read(t, "examples/guard-rust/src/parley.rs") {
		t.Error("parley.rs of examples/provider-rust and examples/guard-rust differ: copy the one over the other")
	}
}

// registryIsAway is what npm says where its registry cannot be reached, or is
// down: nothing that an example could do about.
var registryIsAway = regexp.MustCompile(`npm (?:error|ERR!) code (?:EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ERR_SOCKET_TIMEOUT|E429|E5\d\d)\b`)

// build makes the example of kind by the first commands of its README and
// returns the plugin, in dir.
func (l language) build(t *testing.T, kind, dir string) string {
	t.Helper()
	source := filepath.Join(root(t), "examples", kind+"-"+l.dir)
	for _, tool := range l.tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed; examples/%s-%s/README.md says how to get it", tool, kind, l.dir)
		}
	}
	if l.name == "Rust" {
		needRustTarget(t, "wasm32-unknown-unknown")
	}
	out := filepath.Join(source, "plugins") // Go builds in the checkout, which is its module
	if l.name != "Go" {
		work := t.TempDir()
		copyTree(t, source, work)
		source, out = work, filepath.Join(work, "plugins")
	} else {
		t.Cleanup(func() { os.RemoveAll(out) })
	}
	_, block, ok := strings.Cut(read(t, filepath.Join("examples", kind+"-"+l.dir, "README.md")), "\n```sh\n")
	block, _, ok2 := strings.Cut(block, "\n```\n")
	if !ok || !ok2 {
		t.Fatal("the README has no block of commands")
	}
	env := append(os.Environ(), "PATH="+parleyOnPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	// npm asks its cache first, and a registry that stumbles six times in half a minute.
	env = append(env, "npm_config_prefer_offline=true", "npm_config_fetch_retries=5", "npm_config_fetch_retry_factor=2", "npm_config_fetch_retry_mintimeout=1000")
	cmd := command(source, env, "sh", "-e", "-c", block)
	if said, err := cmd.CombinedOutput(); err != nil && registryIsAway.Match(said) {
		t.Skipf("the registry that the README's commands need cannot be reached:\n%s", said)
	} else if err != nil {
		t.Fatalf("the commands of the README: %v\n%s", err, said)
	}
	files, err := filepath.Glob(filepath.Join(out, "*.wasm"))
	if err != nil || len(files) != 1 {
		t.Fatalf("they left %q, %v, want one plugin", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, filepath.Base(files[0]))
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func needRustTarget(t *testing.T, target string) {
	t.Helper()
	sysroot, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err == nil {
		_, err = os.Stat(filepath.Join(strings.TrimSpace(string(sysroot)), "lib", "rustlib", target, "lib"))
	}
	if err != nil {
		t.Skipf("cargo has no target %s: `rustup target add %s`", target, target)
	}
}

// TestLanguagesWASI builds plugins for WASI preview 1, whose libraries import far more than
// they call, with the compilers of four languages, and holds them to the contract.
func TestLanguagesWASI(t *testing.T) {
	t.Parallel()
	skipUnlessLong(t, "builds plugins with the C library of WASI")
	const pack = " && parley plugin pack plugin.wasm --manifest manifest.json --out plugins && parley plugin check plugins/*.wasm"
	const loud = `#include <stdio.h>
static FILE *f;
__attribute__((constructor)) static void speak(void) { f = fopen("/etc/hostname", "r"); printf("%p %d\n", (void *)f, getchar()); fflush(stdout); }
`
	const zigLoud = `
export fn speak() void { std.debug.print("{d}\n", .{out}); @panic("no way on"); }
`
	plugins := t.TempDir()
	var built []string
	for _, tt := range []struct{ name, tool, example, file, more, commands string }{
		{"Rust provider", "cargo", "provider-rust", "", "", "cargo build --release --target wasm32-wasip1 && cp target/wasm32-wasip1/release/*.wasm plugin.wasm"},
		{"Rust collector", "cargo", "collector-rust", "", "", "cargo build --release --target wasm32-wasip1 && cp target/wasm32-wasip1/release/*.wasm plugin.wasm"},
		{"C provider", "zig", "provider-c", "provider.c", loud, "zig cc -target wasm32-wasi -mexec-model=reactor -O2 -Wl,--strip-all -Wl,-z,stack-size=65536 -o plugin.wasm provider.c"},
		{"C collector", "zig", "collector-c", "collector.c", loud, "zig cc -target wasm32-wasi -mexec-model=reactor -O2 -Wl,--strip-all -Wl,-z,stack-size=65536 -o plugin.wasm collector.c"},
		{"AssemblyScript provider", "npm", "provider-assemblyscript", "provider.ts", "\nprocess.stdout.write(\"loaded\\n\");\n", "npm ci --ignore-scripts && npm install --ignore-scripts --no-save @assemblyscript/wasi-shim@0.1.0 && " +
			"npx asc provider.ts --config node_modules/@assemblyscript/wasi-shim/asconfig.json --exportStart _initialize --outFile plugin.wasm -O3 --noAssert --runtime stub"},
		{"Zig collector", "zig", "collector-zig", "collector.zig", zigLoud, "zig build-exe collector.zig -target wasm32-wasi -fno-entry -rdynamic -O ReleaseFast --stack 16384 -femit-bin=plugin.wasm"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.tool); err != nil {
				t.Skipf("%s is not installed; CONTRIBUTING.md says how to get it", tt.tool)
			}
			if tt.tool == "cargo" {
				needRustTarget(t, "wasm32-wasip1")
			}
			work := t.TempDir()
			copyTree(t, filepath.Join(root(t), "examples", tt.example), work)
			if tt.more != "" {
				file := filepath.Join(work, tt.file)
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, append(text, tt.more...), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := append(os.Environ(), "PATH="+parleyOnPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
			if said, err := command(work, env, "sh", "-e", "-c", tt.commands+pack).CombinedOutput(); err != nil && registryIsAway.Match(said) {
				t.Skipf("the registry that the commands need cannot be reached:\n%s", said)
			} else if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if err := os.CopyFS(plugins, os.DirFS(filepath.Join(work, "plugins"))); err != nil {
				t.Fatal(err)
			}
			built = append(built, tt.example)
		})
	}
	answerThrough(t, plugins, built)
}

// copyTree copies the files of an example, without what building left there.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "node_modules" || d.Name() == "target" || d.Name() == "plugins" {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// parleyOnPath is a folder with this program in it, by its name.
func parleyOnPath(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=parley exec %q \"$@\"\n", reexec, self)
	if err := os.WriteFile(filepath.Join(dir, "parley"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func checkCases(t *testing.T, file, cases string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"plugin", "check", file, "--cases", cases, "--call-timeout", "1m"}, &out, &errs); code != exitOK {
		t.Errorf("plugin check: code %d\n%s%s", code, &out, &errs)
	}
}

// compareLanguages logs the tables of examples/README.md, of this machine.
func compareLanguages(t *testing.T, dir string, built []language) {
	for kind, name := range map[string]string{"provider": "plain", "collector": "talk"} {
		var table strings.Builder
		for _, l := range built {
			if !slices.Contains(l.kinds, kind) {
				continue
			}
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"plugin", "bench", filepath.Join(dir, name+"-"+l.dir+"-0.1.0.wasm"), "--json"}, &out, &errs); code != exitOK {
				t.Fatalf("plugin bench: code %d\n%s", code, &errs)
			}
			var f struct {
				Size, Memory int64
				CompileMS    int64 `json:"compile_ms"`
				StartUS      int64 `json:"start_us"`
				Calls        []struct{ NS, Fuel int64 }
			}
			if err := json.Unmarshal(out.Bytes(), &f); err != nil || len(f.Calls) < 2 {
				t.Fatalf("plugin bench printed %s: %v", &out, err)
			}
			fmt.Fprintf(&table, "| %s | %d KiB | %d ms | %d µs | %d KiB | %d ns | %d | ok |\n",
				l.name, (f.Size+1023)>>10, f.CompileMS, f.StartUS, f.Memory>>10, f.Calls[0].NS, f.Calls[0].Fuel)
		}
		t.Logf("\n| %s | module | compile, once | start | memory | an event | its fuel | `plugin check` |\n|---|---|---|---|---|---|---|---|\n%s", kind, table.String())
	}
}
