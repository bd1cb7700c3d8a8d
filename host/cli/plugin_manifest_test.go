package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManifestWarnings has each command that reads a manifest warn of members that
// no host heeds, with the place and the name that was meant.
func TestManifestWarnings(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "manifest.json")
	const text = `{"abi": 1, "kind": "provider", "name": "subject", "version": "1.0.0", "source": "subject",
  "licence": "MIT",
  "grant": {"http": []}, "selfTests": [], "zzzzzzzz": 1}`
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	try := func(args ...string) (stdout, said string) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"plugin"}, args...), &out, &errs); code != exitOK && args[0] != "build" {
			t.Fatalf("parley plugin %s: code %d\n%s%s", args, code, &out, &errs)
		}
		return out.String(), out.String() + errs.String()
	}
	check := func(said string, places ...string) {
		t.Helper()
		for i, want := range []string{
			`the manifest has no member "licence": did you mean "license"?`, `the manifest has no member "grant": did you mean "grants"?`,
			`the manifest has no member "selfTests": did you mean "selfTest"?`, `the manifest has no member "zzzzzzzz", and nothing heeds it`,
		} {
			if want = places[i%len(places)] + want; !strings.Contains(said, want) {
				t.Errorf("it says\n%s\nwithout %q", said, want)
			}
		}
	}
	source := []string{manifest + ": line 2, column 3: ", manifest + ": line 3, column 3: ", manifest + ": line 3, column 26: ", manifest + ": line 3, column 43: "}
	file, said := try("pack", filepath.Join(root(t), "host/internal/plugin/conformance/testdata/subject.wasm"), "--manifest", manifest, "--out", dir)
	file = strings.TrimSpace(file)
	check(said, source...)
	_, said = try("build", dir, "--out", dir) // which finds no Go there, but the manifest first
	check(said, source...)
	out, said := try("inspect", file)
	check(said, "")
	var report struct {
		Warnings []struct {
			Member, Nearest string
			Line, Column    int
		}
	}
	if json.NewDecoder(strings.NewReader(out)).Decode(&report) != nil || len(report.Warnings) != 4 || report.Warnings[1].Nearest != "grants" || report.Warnings[1].Column == 0 {
		t.Errorf("inspect reports %+v", report.Warnings)
	}
	_, said = try("check", file, "--call-timeout", "1m")
	check(said, "")
}

// TestPackCase refuses a version beside one that differs from it in case alone: on some file
// systems the one file would be the other.
func TestPackCase(t *testing.T) {
	out := t.TempDir()
	for _, name := range []string{"a-1.0.0-RC1.wasm", "b-1.0.0.wasm"} {
		if err := os.WriteFile(filepath.Join(out, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a-1.0.0-rc1.wasm": "a-1.0.0-RC1.wasm", "a-1.0.0-RC1.wasm": "", "c.wasm": ""} {
		if got := sameButCase(out, name); got != want {
			t.Errorf("beside %s: %q, want %q", name, got, want)
		}
	}
}
