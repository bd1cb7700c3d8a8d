package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
)

// TestPluginCheck runs `plugin check` and `plugin bench` on a plugin that
// keeps the contract, and `plugin check` on one that does not.
func TestPluginCheck(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a plugin")
	}
	dir := t.TempDir()
	try := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != want {
			t.Fatalf("parley %s: code %d, want %d\n%s%s", args, code, want, &out, &errs)
		}
		return out.String(), errs.String()
	}
	built, _ := try(exitOK, "plugin", "build", filepath.Join(root(t), "examples", "provider-smallest"), "--out", dir)
	file := strings.TrimSpace(built)

	table, _ := try(exitOK, "plugin", "check", file, "--call-timeout", "1m")
	if !strings.Contains(table, "statelessness") || strings.Contains(table, "failed") {
		t.Errorf("plugin check printed\n%s", table)
	}
	junit := filepath.Join(dir, "report.xml")
	table, _ = try(exitOK, "plugin", "check", file, "--call-timeout", "1m", "--against", file, "--junit", junit)
	if !strings.Contains(table, "against smallest 0.1.0") || !regexp.MustCompile(`\nanswers that changed +0`).MatchString(table) {
		t.Errorf("plugin check against the same plugin printed\n%s", table)
	}
	if b, err := os.ReadFile(junit); err != nil || !strings.Contains(string(b), `<testsuite name="smallest 0.1.0"`) {
		t.Errorf("the report for CI is %q, %v", b, err)
	}
	figures, _ := try(exitOK, "plugin", "bench", file)
	for _, want := range []string{"smallest 0.1.0, metered", "size ", "start of an instance", "event ", "of fuel, p99 "} {
		if !strings.Contains(figures, want) {
			t.Errorf("plugin bench printed no %q:\n%s", want, figures)
		}
	}

	built, _ = try(exitOK, "plugin", "build", filepath.Join(root(t), "examples", "guard-smallest"), "--out", dir)
	figures, _ = try(exitOK, "plugin", "bench", strings.TrimSpace(built))
	for _, want := range []string{"question ", "passages ", "answer ", "of fuel, p99 "} {
		if !strings.Contains(figures, want) {
			t.Errorf("plugin bench printed no %q of a guard:\n%s", want, figures)
		}
	}

	// Without one of its exports it is no plugin any more.
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.wasm")
	if err := os.WriteFile(bad, bytes.Replace(module, []byte("parley_decode"), []byte("parley_decodx"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	said, problem := try(exitFailed, "plugin", "check", bad, "--json")
	var report struct {
		Passed bool
		Checks []struct{ Check, Result, Remedy string }
	}
	if err := json.Unmarshal([]byte(said), &report); err != nil {
		t.Fatal(err)
	}
	last := report.Checks[len(report.Checks)-1]
	if report.Passed || last.Check != "exports" || last.Result != "failed" || last.Remedy == "" || !strings.Contains(problem, "does not keep the contract") {
		t.Errorf("check of a module without parley_decode: %+v, %s", report, problem)
	}
}

// TestFindCases finds the cases next to a plugin's manifest, and nobody else's.
func TestFindCases(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(root(t), "host/internal/plugin/conformance/testdata/subject.wasm"))
	if err == nil {
		module, err = plugin.Pack(module, []byte(`{"abi":1,"kind":"provider","name":"mine","version":"1.0.0","source":"mine"}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ module, manifest, cases string }{
		{"dist/mine.wasm", "manifest.json", "testdata"},
		{"dist/mine.wasm", "mine/manifest.json", "mine/testdata"},
		{"mine.wasm", "manifest.json", "."},
		{"dist/mine.wasm", "other/manifest.json", ""},
	} {
		dir := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(tt.module, "")
		write(tt.manifest, `{"name": "mine"}`)
		want := ""
		if tt.cases != "" {
			want = filepath.Join(dir, tt.cases)
			write(filepath.Join(tt.cases, "one.case"), "")
		} else {
			write("other/testdata/one.case", "")
		}
		got := findCases(filepath.Join(dir, tt.module), module)
		if filepath.Clean(got) != filepath.Clean(want) && got != want {
			t.Errorf("findCases of %s beside %s = %q, want %q", tt.module, tt.manifest, got, want)
		}
	}
}
