package deploy

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTake makes directories of nodes what a cluster shares: what is missing or was
// altered is got and checked, what the cluster had put there goes with its lock, and
// commands are refused.
func TestTake(t *testing.T) {
	from := newInstaller(t)
	install(t, from, module(t, "x", "1.0.0", nil), InstallOptions{})
	shelf := map[string][]byte{}
	share := func() []byte {
		t.Helper()
		lock, err := from.Dir.Shared(nil, func(s SharedModule) (err error) {
			shelf[s.SHA256], _, err = s.Read()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	errGone := errors.New("it is lost")
	get := func(sha256 string) ([]byte, []byte, error) {
		if b, ok := shelf[sha256]; ok {
			return b, []byte("signed"), nil
		}
		return nil, nil, errGone
	}
	node := newInstaller(t)
	install(t, node, module(t, "own", "1.0.0", nil), InstallOptions{})
	take := func(lock []byte, want bool) {
		t.Helper()
		if changed, err := node.Dir.Take(t.Context(), "town", lock, get); err != nil || changed != want {
			t.Errorf("Take = %v, %v, want %v", changed, err, want)
		}
	}
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(node.Dir.Path, name))
		return err == nil
	}
	first := share()
	take(first, true)
	take(first, false)
	if use, _, _ := inUse(t, node.Dir); use == "" || !has("x-1.0.0.wasm.minisig") || !has("own-1.0.0.wasm") {
		t.Errorf("in use is %q, want what the cluster shares, its signature, and the node's own file left", use)
	}
	if err := os.WriteFile(filepath.Join(node.Dir.Path, "x-1.0.0.wasm"), []byte("altered"), 0o600); err != nil {
		t.Fatal(err)
	}
	take(first, true)

	install(t, from, module(t, "x", "1.1.0", nil), InstallOptions{})
	second := share()
	take(second, true)
	if !has("x-1.0.0.wasm") || !has("x-1.1.0.wasm") {
		t.Error("versions that are pinned are not there")
	}
	take(first, true)
	if has("x-1.1.0.wasm") || has("x-1.1.0.wasm.minisig") || !has("x-1.0.0.wasm") {
		t.Error("what the lock does not name any more is there, or what it names is not")
	}

	// What is not what its hash says, or is nowhere, changes nothing.
	for sha := range shelf {
		shelf[sha] = []byte("something else")
	}
	if _, err := node.Dir.Take(t.Context(), "town", second, get); err == nil || !strings.Contains(err.Error(), "not what its hash says") {
		t.Errorf("a module of another hash: %v", err)
	}
	clear(shelf)
	if _, err := node.Dir.Take(t.Context(), "town", second, get); !errors.Is(err, errGone) {
		t.Errorf("a module that is nowhere: %v, want %v", err, errGone)
	}
	if has("x-1.1.0.wasm") {
		t.Error("a module was kept that was refused")
	}
	take(first, false)

	if _, err := node.Rollback(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "cluster town") {
		t.Errorf("a command: %v, want an error that names the cluster", err)
	}
	node.Dir.Node = true
	if _, err := node.Pin(t.Context(), "x@1.0.0", InstallOptions{}); err != nil {
		t.Errorf("the node itself: %v", err)
	}
}

// TestRestore takes back an install: the directory is as before, its files too, and
// belongs to nobody else.
func TestRestore(t *testing.T) {
	in := newInstaller(t)
	install(t, in, module(t, "x", "1.0.0", nil), InstallOptions{})
	files := func() (list []string) {
		t.Helper()
		found, err := os.ReadDir(in.Dir.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			list = append(list, f.Name())
		}
		return list
	}
	before := files()
	errGone := errors.New("it is gone")
	gone := func(string) ([]byte, []byte, error) { return nil, nil, errGone }
	lock, err := in.Dir.Shared(nil, func(SharedModule) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	install(t, in, module(t, "x", "1.1.0", nil), InstallOptions{})
	install(t, in, module(t, "y", "1.0.0", map[string]any{"source": "other"}), InstallOptions{})
	if err := in.Dir.Restore(t.Context(), lock, gone); err != nil {
		t.Fatal(err)
	}
	now, err := in.Dir.Shared(nil, func(SharedModule) error { return nil })
	if err != nil || string(now) != string(lock) {
		t.Errorf("the lock is %s, %v, want %s", now, err, lock)
	}
	if got := files(); !slices.Equal(got, before) {
		t.Errorf("the directory has %q, want %q", got, before)
	}
	if _, err := in.Remove(t.Context(), "x"); err != nil {
		t.Errorf("a command: %v", err)
	}
	if err := in.Dir.Restore(t.Context(), lock, gone); !errors.Is(err, errGone) {
		t.Errorf("a file that is gone: %v, want %v", err, errGone)
	}
}
