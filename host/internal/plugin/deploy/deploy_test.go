package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// module returns a plugin of a few bytes with a manifest, changed by change. Each
// name has a source of its own; that of x is testAi.
// Modules that differ in their version differ in their hash.
func module(t testing.TB, name, version string, change map[string]any) []byte {
	t.Helper()
	source := "testAi"
	if name != "x" {
		source = "of-" + name
	}
	m := map[string]any{
		"abi": 1, "kind": "provider", "name": name, "version": version, "source": source,
		"settings": map[string]any{"apiKey": map[string]any{"required": true}},
		"grants":   map[string]any{"http": []string{"https://api.example.com"}, "secrets": []string{"apiKey"}},
	}
	for k, v := range change {
		m[k] = v
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := os.ReadFile("../testdata/good.wasm")
	if err != nil {
		t.Fatal(err)
	}
	b, err := abi.WithSection(bare, abi.SectionManifest, manifest)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wider asks for an origin more than module does.
var wider = map[string]any{"grants": map[string]any{"http": []string{"https://api.example.com", "https://evil.example"}, "secrets": []string{"apiKey"}}}

func newInstaller(t testing.TB) *Installer {
	return &Installer{Dir: Dir{Path: filepath.Join(t.TempDir(), "plugins")}, Try: func(context.Context, []byte) error { return nil }}
}

// install wants module to be installed.
func install(t testing.TB, in *Installer, module []byte, o InstallOptions) *Change {
	t.Helper()
	c, err := in.Install(t.Context(), &Fetched{Module: module, Place: "file.wasm"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// inUse reads from the lock what of plugin x is in use and before.
func inUse(t testing.TB, d Dir) (use, constraint, before string) {
	t.Helper()
	l, err := ReadLock(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	e := l.Plugins["x"]
	if e == nil {
		return "", "", ""
	}
	if e.Before != nil {
		before = e.Before.Use
	}
	return e.Use, e.Constraint, before
}

// TestLifeCycle installs, pins, rolls back and removes, and looks at the lock
// after each step.
func TestLifeCycle(t *testing.T) {
	in := newInstaller(t)
	steps := []struct {
		name                    string
		do                      func() (*Change, error)
		use, constraint, before string
		kept                    string
	}{
		{"the first", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.0.0", nil), Place: "f"}, InstallOptions{})
		}, "1.0.0", "", "", ""},
		{"a newer", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.1.0", nil), Place: "f"}, InstallOptions{})
		}, "1.1.0", "", "1.0.0", ""},
		{"an older", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "0.9.0", nil), Place: "f"}, InstallOptions{})
		}, "1.1.0", "", "1.0.0", "it is newer, or 0.9.0 a pre-release"},
		{"a pre-release", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "2.0.0-rc.1", nil), Place: "f"}, InstallOptions{})
		}, "1.1.0", "", "1.0.0", "it is newer"},
		{"beside", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.2.0", nil), Place: "f"}, InstallOptions{Beside: true})
		}, "1.1.0", "", "1.0.0", "as you wished"},
		{"again", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.1.0", nil), Place: "f"}, InstallOptions{})
		}, "1.1.0", "", "1.0.0", ""},
		{"roll back", func() (*Change, error) { return in.Rollback(t.Context(), "x") }, "1.0.0", "", "1.1.0", ""},
		{"roll forth", func() (*Change, error) { return in.Rollback(t.Context(), "x") }, "1.1.0", "", "1.0.0", ""},
		{"pin a range", func() (*Change, error) { return in.Pin(t.Context(), "x@~1.0", InstallOptions{}) }, "1.0.0", "~1.0", "1.1.0", ""},
		{"beyond the range", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.3.0", nil), Place: "f"}, InstallOptions{})
		}, "1.0.0", "~1.0", "1.1.0", "its constraint ~1.0 does not allow 1.3.0"},
		{"in the range", func() (*Change, error) {
			return in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.0.5", nil), Place: "f"}, InstallOptions{})
		}, "1.0.5", "~1.0", "1.0.0", ""},
		{"pin exactly", func() (*Change, error) { return in.Pin(t.Context(), "x@=2.0.0-rc.1", InstallOptions{}) }, "2.0.0-rc.1", "=2.0.0-rc.1", "1.0.5", ""},
		{"roll back with the constraint", func() (*Change, error) { return in.Rollback(t.Context(), "x") }, "1.0.5", "~1.0", "2.0.0-rc.1", ""},
		{"resolve anew", func() (*Change, error) { return in.Pin(t.Context(), "x", InstallOptions{}) }, "1.0.5", "~1.0", "2.0.0-rc.1", ""},
		{"drop the constraint", func() (*Change, error) { return in.Pin(t.Context(), "x@", InstallOptions{}) }, "1.3.0", "", "1.0.5", ""},
		{"remove the one before", func() (*Change, error) { return in.Remove(t.Context(), "x@1.0.5") }, "1.3.0", "", "", ""},
		{"remove all", func() (*Change, error) { return in.Remove(t.Context(), "x") }, "", "", "", ""},
	}
	for _, s := range steps {
		c, err := s.do()
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		use, constraint, before := inUse(t, in.Dir)
		if use != s.use || constraint != s.constraint || before != s.before {
			t.Fatalf("%s: in use %q by %q, before %q; want %q by %q, before %q", s.name, use, constraint, before, s.use, s.constraint, s.before)
		}
		if c.Use != s.use || c.Constraint != s.constraint || (c.Kept == "") != (s.kept == "") || !strings.Contains(c.Kept, s.kept) {
			t.Errorf("%s: %+v, want use %q, constraint %q, kept …%s…", s.name, c, s.use, s.constraint, s.kept)
		}
		checkDir(t, in.Dir)
	}
	left, err := os.ReadDir(in.Dir.Path)
	if err != nil || len(left) != 1 || left[0].Name() != LockFile {
		t.Errorf("left in the directory: %v, %v; want the lock alone", left, err)
	}
}

// checkDir wants every pinned version to be there as the lock says, and
// nothing else to be.
func checkDir(t testing.TB, d Dir) {
	t.Helper()
	items, err := d.List(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if i.State != StatePinned {
			t.Errorf("%s %s is %s: %s", i.Name, i.Version, i.State, i.Reason)
		}
	}
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != LockFile && filepath.Ext(e.Name()) != ".wasm" {
			t.Errorf("%s lies in the directory", e.Name())
		}
	}
}

func TestWidened(t *testing.T) {
	in := newInstaller(t)
	in.Embedded = [][]byte{module(t, "carried", "1.0.0", nil)}
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})

	_, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.1.0", wider), Place: "new.wasm"}, InstallOptions{})
	widened, ok := errors.AsType[*WidenedError](err)
	if !ok || !slices.Equal(widened.Change.Widened.HTTP, []string{"https://evil.example"}) || len(widened.Change.Widened.Secrets) != 0 {
		t.Fatalf("Install of a wider one: %v, want a WidenedError about https://evil.example", err)
	}
	at := " --plugin-dir " + in.Dir.Path + "`"
	for _, want := range []string{"plugin x 1.1.0 asks for more than 1.0.0, which is in use: requests to https://evil.example", "`parley plugin diff x new.wasm" + at, "`parley plugin install new.wasm --grant" + at} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
	if use, _, _ := inUse(t, in.Dir); use != "1.0.0" {
		t.Errorf("in use after a refused install: %s, want 1.0.0", use)
	}
	if _, err := os.Stat(in.Dir.file("x", "1.1.0")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused install left its file: %v", err)
	}
	if c := install(t, in, module(t, "x", "1.1.0", wider), InstallOptions{Grant: true}); c.Use != "1.1.0" || c.Widened.IsZero() {
		t.Errorf("Install with a yes = %+v", c)
	}
	// What is accepted needs no second yes, nor does asking for less.
	if _, err := in.Pin(t.Context(), "x@1.0.0", InstallOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := in.Pin(t.Context(), "x@1.1.0", InstallOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := in.Install(t.Context(), &Fetched{Module: module(t, "carried", "1.1.0", wider), Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "1.0.0, which the binary carries") {
		t.Errorf("Install of one wider than the binary's: %v", err)
	}

	// A file that somebody put there asks like any other.
	if err := os.WriteFile(in.Dir.file("x", "1.2.0"), module(t, "x", "1.2.0", map[string]any{"grants": map[string]any{"http": []string{"${baseUrl}"}}}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Pin(t.Context(), "x@~1.2", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "`parley plugin pin x@1.2.0 --grant") {
		t.Errorf("Pin of a wider file: %v", err)
	}
	if _, err := in.Pin(t.Context(), "x@~1.2", InstallOptions{Grant: true}); err != nil {
		t.Error(err)
	}
	checkDir(t, in.Dir)
}

// TestHostileNames tries to leave the directory by what a manifest says, by
// references and by links.
func TestHostileNames(t *testing.T) {
	in := newInstaller(t)
	outside := filepath.Join(filepath.Dir(in.Dir.Path), "outside.wasm")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../outside", "..", "/outside", "a/../../outside", `..\outside`, "outside\x00", ".", "", "x\n", "plugins.lock"} {
		if _, err := in.Install(t.Context(), &Fetched{Module: module(t, name, "1.0.0", nil), Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "name is ") {
			t.Errorf("Install of a plugin called %q: %v", name, err)
		}
		if name == "" {
			continue
		}
		for what, err := range map[string]error{
			"Pin":      second(in.Pin(t.Context(), name+"@1.0.0", InstallOptions{Grant: true})),
			"Rollback": second(in.Rollback(t.Context(), name)),
			"Remove":   second(in.Remove(t.Context(), name)),
		} {
			if err == nil {
				t.Errorf("%s of %q: no error", what, name)
			}
		}
	}
	for _, version := range []string{"1.0.0-../../outside", "../1.0.0", "1.0.0/..", "1.0.0+a/b", "1.0.0-..", ""} {
		if _, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", version, nil), Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "version is ") {
			t.Errorf("Install of version %q: %v", version, err)
		}
		if _, err := in.Remove(t.Context(), "x@"+version); err == nil {
			t.Errorf("Remove of version %q: no error", version)
		}
	}

	// A link where a file will be is replaced, and what it leads to is not.
	if err := os.MkdirAll(in.Dir.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(in.Dir.Path, plugin.FileName("x", "1.0.0"))); err != nil {
		t.Fatal(err)
	}
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	checkDir(t, in.Dir)
	if _, err := in.Remove(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "mine" {
		t.Errorf("outside the directory: %q, %v; want it untouched", b, err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestPinExactly tells versions apart that semantic versioning holds equal.
func TestPinExactly(t *testing.T) {
	in := newInstaller(t)
	for _, version := range []string{"1.0.0+a", "1.0.0+b", "1.0.0+c"} {
		install(t, in, module(t, "x", version, nil), InstallOptions{Beside: true})
	}
	for _, version := range []string{"1.0.0+b", "1.0.0+c", "1.0.0+a"} {
		if c, err := in.Pin(t.Context(), "x@"+version, InstallOptions{}); err != nil || c.Use != version {
			t.Errorf("Pin of %s: %+v, %v", version, c, err)
		}
	}
}

// TestInstallByReference keeps the range that a plugin was asked for by, and refuses
// what is not what was asked for.
func TestInstallByReference(t *testing.T) {
	in := newInstaller(t)
	for _, tt := range []struct {
		version, reference string
		beside             bool
		use, constraint    string
		kept               string // a part of why version is not in use
	}{
		{"1.0.0", "x@~1.0", false, "1.0.0", "~1.0", ""},
		{"1.1.0", "", false, "1.0.0", "~1.0", "its constraint ~1.0 does not allow 1.1.0"},
		{"1.1.0", "x", false, "1.0.0", "~1.0", "its constraint ~1.0 does not allow 1.1.0"},
		{"1.1.0", "x@^1", true, "1.0.0", "~1.0", "stays in use, as you wished"},
		{"1.1.0", "x@~1.1", false, "1.1.0", "~1.1", ""},
		{"1.1.0", "x@1.1.0", false, "1.1.0", "1.1.0", ""},
		{"1.2.0", "x", false, "1.1.0", "1.1.0", "its constraint 1.1.0 does not allow 1.2.0"},
		{"1.1.0", "x@~1.1", false, "1.1.0", "~1.1", ""},
		{"1.1.0", "x@^1", true, "1.1.0", "~1.1", ""},
		{"1.0.5", "x@~1.0", false, "1.1.0", "~1.1", "`parley plugin pin x@~1.0 "},
		{"1.2.0", "x@^1.1", false, "1.2.0", "^1.1", ""},
		{"1.2.0", "x@", false, "1.2.0", "", ""},
		{"1.1.0", "x@1.1.0", false, "1.2.0", "", "`parley plugin pin x@1.1.0 "},
		{"1.3.0", "x@~1.3", false, "1.3.0", "~1.3", ""},
	} {
		c := install(t, in, module(t, "x", tt.version, nil), InstallOptions{Reference: tt.reference, Beside: tt.beside})
		lock, err := ReadLock(in.Dir.Path)
		if err != nil {
			t.Fatal(err)
		}
		if e := lock.Plugins["x"]; e.Use != tt.use || e.Constraint != tt.constraint || c.Use != tt.use || !strings.Contains(c.Kept, tt.kept) || tt.kept == "" && c.Kept != "" {
			t.Errorf("%s by %q: %s by %q, kept for %q; want %s by %q for %q", tt.version, tt.reference, e.Use, e.Constraint, c.Kept, tt.use, tt.constraint, tt.kept)
		}
	}
	if c, err := in.Rollback(t.Context(), "x"); err != nil || c.Use != "1.2.0" || c.Constraint != "" {
		t.Errorf("rolled back to %+v, %v; want 1.2.0 by none", c, err)
	}
	for _, reference := range []string{"y", "x@~1.0", "x@1.2.1"} {
		_, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.2.0", nil), Place: "f"}, InstallOptions{Reference: reference})
		if want := "install " + reference + ": f holds plugin x 1.2.0: nothing was kept"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("by %s: %v, want %q", reference, err, want)
		}
	}
}

// TestTagOfAnotherVersion refuses a tag that names another version than the module has.
func TestTagOfAnotherVersion(t *testing.T) {
	t.Parallel()
	in := newInstaller(t)
	folder := t.TempDir()
	for tag, ok := range map[string]bool{
		"x-1.2.3": true, "x-9.9.9": false, "x-1.2": true, "x-1": true, "x-1.3": false, "x-2": false, "x-v1.2.3": true, "x-v9.9.9": false, "x-latest": true, "stable": true,
	} {
		place := "oci-layout://" + folder + ":" + tag
		if _, err := in.Dir.Publish(t.Context(), &Fetched{Module: module(t, "x", "1.2.3", nil), Place: "f"}, place, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		src, err := ParseSource(place)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Dir.Fetch(t.Context(), src)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "holds plugin x 1.2.3, and its tag names another version") {
			t.Errorf("Fetch of tag %s with version 1.2.3: %v, want it taken: %v", tag, err, ok)
		}
	}
}

// TestEditedGrants finds grants in a lock that its module does not ask for.
func TestEditedGrants(t *testing.T) {
	t.Parallel()
	in := newInstaller(t)
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	path := filepath.Join(in.Dir.Path, LockFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{`"http": [`: `"http": ["https://evil.example", `, `"secrets": [`: `"secrets": ["orgId", `} {
		edited := strings.Replace(string(b), from, to, 1)
		edited = strings.ReplaceAll(edited, ", ]", "]")
		if edited == string(b) {
			t.Fatalf("the lock has no %s: %s", from, b)
		}
		if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		items, err := in.Dir.List(nil)
		if err != nil || len(items) != 1 || items[0].State != StateEdited || !strings.Contains(items[0].Reason, "does not ask for") {
			t.Errorf("List after %s: %+v, %v", to, items, err)
		}
	}
}

// TestInstallCase refuses a version that differs from a pinned one in case alone.
func TestInstallCase(t *testing.T) {
	in := newInstaller(t)
	install(t, in, module(t, "x", "1.0.0-RC1", nil), InstallOptions{})
	if _, err := in.Install(t.Context(), &Fetched{Module: module(t, "x", "1.0.0-rc1", nil), Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "differs in case alone") {
		t.Errorf("Install of 1.0.0-rc1 beside 1.0.0-RC1: %v", err)
	}
}
