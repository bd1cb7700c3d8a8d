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

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
)

// module returns a plugin of a few bytes with a manifest, changed by change.
// Modules that differ in their version differ in their hash.
func module(t testing.TB, name, version string, change map[string]any) []byte {
	t.Helper()
	m := map[string]any{
		"abi": 1, "kind": "provider", "name": name, "version": version, "source": "testAi",
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
	bare, err := os.ReadFile("../plugin/testdata/good.wasm")
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
	c, err := in.Install(t.Context(), module, nil, "file.wasm", o)
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
			return in.Install(t.Context(), module(t, "x", "1.0.0", nil), nil, "f", InstallOptions{})
		}, "1.0.0", "", "", ""},
		{"a newer", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "1.1.0", nil), nil, "f", InstallOptions{})
		}, "1.1.0", "", "1.0.0", ""},
		{"an older", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "0.9.0", nil), nil, "f", InstallOptions{})
		}, "1.1.0", "", "1.0.0", "it is newer"},
		{"a pre-release", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "2.0.0-rc.1", nil), nil, "f", InstallOptions{})
		}, "1.1.0", "", "1.0.0", "it is newer"},
		{"beside", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "1.2.0", nil), nil, "f", InstallOptions{Beside: true})
		}, "1.1.0", "", "1.0.0", "as you wished"},
		{"again", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "1.1.0", nil), nil, "f", InstallOptions{})
		}, "1.1.0", "", "1.0.0", ""},
		{"roll back", func() (*Change, error) { return in.Rollback(t.Context(), "x") }, "1.0.0", "", "1.1.0", ""},
		{"roll forth", func() (*Change, error) { return in.Rollback(t.Context(), "x") }, "1.1.0", "", "1.0.0", ""},
		{"pin a range", func() (*Change, error) { return in.Pin(t.Context(), "x@~1.0", false) }, "1.0.0", "~1.0", "1.1.0", ""},
		{"beyond the range", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "1.3.0", nil), nil, "f", InstallOptions{})
		}, "1.0.0", "~1.0", "1.1.0", "its constraint ~1.0 does not allow 1.3.0"},
		{"in the range", func() (*Change, error) {
			return in.Install(t.Context(), module(t, "x", "1.0.5", nil), nil, "f", InstallOptions{})
		}, "1.0.5", "~1.0", "1.0.0", ""},
		{"pin exactly", func() (*Change, error) { return in.Pin(t.Context(), "x@=2.0.0-rc.1", false) }, "2.0.0-rc.1", "=2.0.0-rc.1", "1.0.5", ""},
		{"roll back with the constraint", func() (*Change, error) { return in.Rollback(t.Context(), "x") }, "1.0.5", "~1.0", "2.0.0-rc.1", ""},
		{"resolve anew", func() (*Change, error) { return in.Pin(t.Context(), "x", false) }, "1.0.5", "~1.0", "2.0.0-rc.1", ""},
		{"drop the constraint", func() (*Change, error) { return in.Pin(t.Context(), "x@", false) }, "1.3.0", "", "1.0.5", ""},
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
	items, err := d.List()
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

	_, err := in.Install(t.Context(), module(t, "x", "1.1.0", wider), nil, "new.wasm", InstallOptions{})
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
	if _, err := in.Pin(t.Context(), "x@1.0.0", false); err != nil {
		t.Error(err)
	}
	if _, err := in.Pin(t.Context(), "x@1.1.0", false); err != nil {
		t.Error(err)
	}
	if _, err := in.Install(t.Context(), module(t, "carried", "1.1.0", wider), nil, "f", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "1.0.0, which the binary carries") {
		t.Errorf("Install of one wider than the binary's: %v", err)
	}

	// A file that somebody put there asks like any other.
	if err := os.WriteFile(in.Dir.file("x", "1.2.0"), module(t, "x", "1.2.0", map[string]any{"grants": map[string]any{"http": []string{"${baseUrl}"}}}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Pin(t.Context(), "x@~1.2", false); err == nil || !strings.Contains(err.Error(), "`parley plugin pin x@1.2.0 --grant") {
		t.Errorf("Pin of a wider file: %v", err)
	}
	if _, err := in.Pin(t.Context(), "x@~1.2", true); err != nil {
		t.Error(err)
	}
	checkDir(t, in.Dir)
}

// TestNarrowed takes a grant out of the lock by hand: the module that asks for
// it is refused until it is accepted again.
func TestNarrowed(t *testing.T) {
	in := newInstaller(t)
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	l, err := ReadLock(in.Dir.Path)
	if err != nil {
		t.Fatal(err)
	}
	l.Plugins["x"].Pinned["1.0.0"].Grants.Secrets = []string{}
	b, err := l.text()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in.Dir.Path, LockFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, in.Dir, "asks for the secret apiKey, which the lock does not accept", "`parley plugin pin x@1.0.0 --grant")
	if _, err := in.Pin(t.Context(), "x@1.0.0", false); err == nil || !strings.Contains(err.Error(), "more than the lock accepts for it: the secret apiKey") {
		t.Errorf("Pin: %v, want the secret named", err)
	}
	if _, err := in.Pin(t.Context(), "x@1.0.0", true); err != nil {
		t.Error(err)
	}
	checkDir(t, in.Dir)
}

// wantRefused wants the one pinned version to be refused, with words.
func wantRefused(t testing.TB, d Dir, words ...string) {
	t.Helper()
	wanted, refused, err := d.Locked(nil)
	if err != nil || len(wanted) != 1 || len(refused) != 0 {
		t.Fatalf("Locked = %v, %v, %v; want one pinned", wanted, refused, err)
	}
	module, err := wanted[0].Read()
	if err == nil || module != nil {
		t.Fatalf("Read = %d bytes, %v; want a refusal", len(module), err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("Read: %v\nwhich lacks %q", err, w)
		}
	}
	items, err := d.List()
	if err != nil || len(items) != 1 || items[0].State == StatePinned || items[0].Reason == "" {
		t.Errorf("List = %+v, %v; want it refused", items, err)
	}
}

func TestRefused(t *testing.T) {
	in := newInstaller(t)
	good := module(t, "x", "1.0.0", nil)
	install(t, in, good, InstallOptions{})
	file := in.Dir.file("x", "1.0.0")
	at := " --plugin-dir " + in.Dir.Path + "`"

	altered := append(slices.Clone(good), 0, 1, 0) // a custom section without a name: harmless, and not what was pinned
	if err := os.WriteFile(file, altered, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, in.Dir, file+" was altered", "expects sha256 "+hash(good), "the file has "+hash(altered), "`parley plugin install FILE-or-URL@"+hash(good)+at)
	if _, err := in.Pin(t.Context(), "x", false); err == nil || !strings.Contains(err.Error(), "was altered") {
		t.Errorf("Pin of an altered one: %v", err)
	}
	if _, err := in.Install(t.Context(), altered, nil, "f", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "is pinned with sha256 "+hash(good)+", and this one has "+hash(altered)) {
		t.Errorf("Install of another module of the same version: %v", err)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, in.Dir, "the file is missing: "+file, "sha256 "+hash(good), "`parley plugin install FILE-or-URL@"+hash(good)+at, "`parley plugin pin x@VERSION"+at)
	install(t, in, good, InstallOptions{})
	checkDir(t, in.Dir)

	// By hand: another ABI, and a hash that belongs to another plugin.
	change := func(f func(e *Entry)) {
		t.Helper()
		l, err := ReadLock(in.Dir.Path)
		if err != nil {
			t.Fatal(err)
		}
		f(l.Plugins["x"])
		b, err := l.text()
		if err == nil {
			err = os.WriteFile(filepath.Join(in.Dir.Path, LockFile), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	change(func(e *Entry) { e.Pinned["1.0.0"].ABI = 7 })
	wantRefused(t, in.Dir, file+" is pinned for ABI 7, and this host speaks ABI 1", "`parley plugin pin x@VERSION"+at)
	other := module(t, "y", "3.0.0", nil)
	if err := os.WriteFile(file, other, 0o600); err != nil {
		t.Fatal(err)
	}
	change(func(e *Entry) { e.Pinned["1.0.0"].ABI, e.Pinned["1.0.0"].SHA256 = 1, hash(other) })
	wantRefused(t, in.Dir, file+" holds plugin y 3.0.0, and the lock expects x 1.0.0", "`parley plugin install "+file+at)

	future := module(t, "x", "1.0.0", map[string]any{"abi": 9})
	if err := os.WriteFile(file, future, 0o600); err != nil {
		t.Fatal(err)
	}
	change(func(e *Entry) { e.Pinned["1.0.0"].SHA256 = hash(future) })
	wantRefused(t, in.Dir, "abi is 9, and this host speaks ABI 1")
}

func TestUnlisted(t *testing.T) {
	in := newInstaller(t)
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	files := map[string][]byte{
		"y-1.0.0.wasm": module(t, "y", "1.0.0", nil),
		"copy.wasm":    module(t, "y", "1.1.0", nil),
		"junk.wasm":    []byte("junk"),
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(in.Dir.Path, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wanted, refused, err := in.Dir.Locked(nil)
	if err != nil || len(wanted) != 1 || wanted[0].Name != "x" {
		t.Fatalf("Locked = %+v, %v; want x alone", wanted, err)
	}
	want := []struct{ file, name, words string }{
		{"copy.wasm", "y", "not in plugins.lock: install it under its proper name by `parley plugin install " + filepath.Join(in.Dir.Path, "copy.wasm")},
		{"junk.wasm", "", "not in plugins.lock, nor could it be: "},
		{"y-1.0.0.wasm", "y", "not in plugins.lock: pin it by `parley plugin pin y@1.0.0 --plugin-dir"},
	}
	if len(refused) != len(want) {
		t.Fatalf("refused %v, want %d", refused, len(want))
	}
	for i, w := range want {
		r := refused[i]
		if filepath.Base(r.From) != w.file || r.Name != w.name || !strings.Contains(r.Error(), w.words) || !errors.Is(r.Err, ErrUnlisted) {
			t.Errorf("refused %v, want %s %q: …%s…", r, w.file, w.name, w.words)
		}
	}
}

// TestLockedEmbedded: what is locked takes the place of what the binary
// carries, refused or not.
func TestLockedEmbedded(t *testing.T) {
	in := newInstaller(t)
	carried := [][]byte{module(t, "x", "3.0.0", nil), module(t, "y", "1.0.0", nil)}
	list := func() (got []string) {
		t.Helper()
		wanted, _, err := in.Dir.Locked(carried)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wanted {
			mark := ""
			if w.Use {
				mark = "*"
			}
			got = append(got, w.Name+" "+w.Version+mark)
		}
		return got
	}
	if got, want := list(), []string{"x 3.0.0*", "y 1.0.0*"}; !slices.Equal(got, want) {
		t.Errorf("without a directory: %q, want %q", got, want)
	}
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	install(t, in, module(t, "x", "1.1.0", nil), InstallOptions{})
	if _, err := in.Rollback(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), []string{"x 1.0.0*", "x 1.1.0", "y 1.0.0*"}; !slices.Equal(got, want) {
		t.Errorf("with a lock: %q, want %q", got, want)
	}
	if err := os.Remove(in.Dir.file("x", "1.0.0")); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), []string{"x 1.0.0*", "x 1.1.0", "y 1.0.0*"}; !slices.Equal(got, want) {
		t.Errorf("with a missing file: %q, want %q", got, want)
	}
}

func TestUnlocked(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	files := map[string][]byte{
		"any.wasm":     module(t, "x", "1.1.0", nil),
		"copy.wasm":    module(t, "x", "1.1.0", nil),
		"x-1.0.0.wasm": module(t, "x", "1.0.0", nil),
		"z-9.0.0.wasm": module(t, "z", "0.1.0", nil),
		"junk.wasm":    []byte("junk"),
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(d.Path, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wanted, refused, err := d.Unlocked([][]byte{module(t, "x", "3.0.0", nil), module(t, "y", "2.0.0", nil)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range wanted {
		mark := ""
		if w.Use {
			mark = "*"
		}
		b, err := w.Read()
		if err != nil || hash(b) != w.SHA256 {
			t.Errorf("Read of %s: %v", w.From, err)
		}
		got = append(got, w.Name+" "+w.Version+mark)
	}
	if want := []string{"y 2.0.0*", "x 1.1.0*", "x 1.0.0", "z 0.1.0*"}; !slices.Equal(got, want) {
		t.Errorf("Unlocked = %q, want %q", got, want)
	}
	if len(refused) != 2 || filepath.Base(refused[0].From) != "copy.wasm" || filepath.Base(refused[1].From) != "junk.wasm" {
		t.Errorf("refused %v, want copy.wasm and junk.wasm", refused)
	}
	if err := os.WriteFile(filepath.Join(d.Path, "any.wasm"), module(t, "x", "1.1.0", wider), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wanted[1].Read(); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("Read of a file that has changed: %v", err)
	}
	if wanted, _, err := (Dir{Path: filepath.Join(d.Path, "absent")}).Unlocked(nil); err != nil || len(wanted) != 0 {
		t.Errorf("Unlocked of no directory = %v, %v", wanted, err)
	}
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
		if _, err := in.Install(t.Context(), module(t, name, "1.0.0", nil), nil, "f", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "name is ") {
			t.Errorf("Install of a plugin called %q: %v", name, err)
		}
		if name == "" {
			continue
		}
		for what, err := range map[string]error{
			"Pin":      second(in.Pin(t.Context(), name+"@1.0.0", true)),
			"Rollback": second(in.Rollback(t.Context(), name)),
			"Remove":   second(in.Remove(t.Context(), name)),
		} {
			if err == nil {
				t.Errorf("%s of %q: no error", what, name)
			}
		}
	}
	for _, version := range []string{"1.0.0-../../outside", "../1.0.0", "1.0.0/..", "1.0.0+a/b", "1.0.0-..", ""} {
		if _, err := in.Install(t.Context(), module(t, "x", version, nil), nil, "f", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "version is ") {
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
