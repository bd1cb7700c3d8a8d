package deploy

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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
	if _, err := in.Pin(t.Context(), "x@1.0.0", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "more than the lock accepts for it: the secret apiKey") {
		t.Errorf("Pin: %v, want the secret named", err)
	}
	if _, err := in.Pin(t.Context(), "x@1.0.0", InstallOptions{Grant: true}); err != nil {
		t.Error(err)
	}
	checkDir(t, in.Dir)
}

// wantRefused wants the one pinned version to be refused, with words.
func wantRefused(t testing.TB, d Dir, words ...string) {
	t.Helper()
	p, err := d.Locked(nil)
	wanted, refused := p.Wanted, p.Refused
	if err != nil || len(wanted) != 1 || len(refused) != 0 {
		t.Fatalf("Locked = %v, %v, %v; want one pinned", wanted, refused, err)
	}
	module, err := wanted[0].Read(new(bytes.Buffer))
	if err == nil || module != nil {
		t.Fatalf("Read = %d bytes, %v; want a refusal", len(module), err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("Read: %v\nwhich lacks %q", err, w)
		}
	}
	items, err := d.List(nil)
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
	wantRefused(t, in.Dir, file+" was altered", "expects sha256 "+hash(good), "the file has "+hash(altered), "`parley plugin sync"+at)
	if _, err := in.Pin(t.Context(), "x", InstallOptions{}); err == nil || !strings.Contains(err.Error(), "was altered") {
		t.Errorf("Pin of an altered one: %v", err)
	}
	if _, err := in.Install(t.Context(), &Fetched{Module: altered, Place: "f"}, InstallOptions{}); err == nil || !strings.Contains(err.Error(), "is pinned with sha256 "+hash(good)+", and this one has "+hash(altered)) {
		t.Errorf("Install of another module of the same version: %v", err)
	}

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, in.Dir, "the file is missing: "+file, "sha256 "+hash(good), "`parley plugin sync"+at, "`parley plugin pin x@VERSION"+at)
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

// TestRollbackRefused leaves in use what is, where what was before cannot run.
func TestRollbackRefused(t *testing.T) {
	in := newInstaller(t)
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	install(t, in, module(t, "x", "1.1.0", nil), InstallOptions{})
	if err := os.Remove(in.Dir.file("x", "1.0.0")); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Rollback(t.Context(), "x"); !errors.Is(err, ErrMissing) || !strings.HasPrefix(err.Error(), "roll back plugin x: ") {
		t.Errorf("Rollback: %v, want roll back plugin x: … %v", err, ErrMissing)
	}
	if use, _, before := inUse(t, in.Dir); use != "1.1.0" || before != "1.0.0" {
		t.Errorf("in use %s, before %s; want 1.1.0 and 1.0.0", use, before)
	}
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
	p, err := in.Dir.Locked(nil)
	wanted, refused := p.Wanted, p.Refused
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
		p, err := in.Dir.Locked(carried)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range p.Wanted {
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
	p, err := d.Unlocked([][]byte{module(t, "x", "3.0.0", nil), module(t, "y", "2.0.0", nil)})
	wanted, refused := p.Wanted, p.Refused
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range wanted {
		mark := ""
		if w.Use {
			mark = "*"
		}
		b, err := w.Read(new(bytes.Buffer))
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
	if _, err := wanted[1].Read(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("Read of a file that has changed: %v", err)
	}
	if p, err := (Dir{Path: filepath.Join(d.Path, "absent")}).Unlocked(nil); err != nil || len(p.Wanted) != 0 {
		t.Errorf("Unlocked of no directory = %v, %v", p, err)
	}
}
