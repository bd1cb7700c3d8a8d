package wasm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/plugin/wasm/meter"
)

// keepModule packs an entry for a module of that name, which was used so long ago.
func keepModule(t *testing.T, dir, module string, size int, ago time.Duration) {
	t.Helper()
	path := filepath.Join(dir, packedPrefix+module)
	if err := pack(path, module, packedHead{Entry: codeName(codeKey{})}, nil, bytes.NewReader(make([]byte, size))); err != nil {
		t.Fatal(err)
	}
	used := time.Now().Add(-ago)
	if err := os.Chtimes(path, used, used); err != nil {
		t.Fatal(err)
	}
}

func modulesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	kept, err := ListCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kept {
		names = append(names, k.Module)
	}
	return names
}

func TestBoundCache(t *testing.T) {
	dir := t.TempDir()
	keepModule(t, dir, "old", 1000, 3*time.Hour)
	keepModule(t, dir, "new", 1000, time.Hour)
	keepModule(t, dir, "unused", 1000, maxUnused+time.Hour)
	for name, ago := range map[string]time.Duration{"stale": 2 * staleAfter, "young": 0} {
		run := filepath.Join(dir, scratchPrefix+name)
		if err := os.Mkdir(run, 0o700); err != nil {
			t.Fatal(err)
		}
		made := time.Now().Add(-ago)
		if err := os.Chtimes(run, made, made); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := ListCache(dir)
	if err != nil || len(kept) != 3 || kept[0].Module != "new" || kept[0].Size > 500 {
		t.Fatalf("kept %+v, %v, want three packed modules, the last used first", kept, err)
	}
	if err := boundCache(dir, maxCache, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, want := modulesOf(t, dir), []string{"new", "old"}; !slices.Equal(got, want) {
		t.Errorf("within its bound the cache keeps %v, want %v", got, want)
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, scratchPrefix+"*")); len(runs) != 1 || filepath.Base(runs[0]) != scratchPrefix+"young" {
		t.Errorf("folders of processes: %v, want the young one alone", runs)
	}
	if err := boundCache(dir, kept[0].Size, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, want := modulesOf(t, dir), []string{"new"}; !slices.Equal(got, want) {
		t.Errorf("beyond its bound the cache keeps %v, want %v", got, want)
	}
}

func TestCleanCache(t *testing.T) {
	dir := t.TempDir()
	keepModule(t, dir, "old", 10, 3*time.Hour)
	keepModule(t, dir, "new", 10, 0)
	if removed, err := CleanCache(dir, time.Hour); err != nil || len(removed) != 1 || removed[0].Module != "old" {
		t.Errorf("removed %+v, %v, want the old one", removed, err)
	}
	if removed, err := CleanCache(dir, 0); err != nil || len(removed) != 1 || len(modulesOf(t, dir)) != 0 {
		t.Errorf("removed %+v, %v, and %v is left; want nothing left", removed, err, modulesOf(t, dir))
	}
	if removed, err := CleanCache(filepath.Join(dir, "none"), 0); err != nil || len(removed) != 0 {
		t.Errorf("of no folder: removed %+v, %v, want nothing", removed, err)
	}
}

// TestOpenKept gives back what was packed, and nothing of a file that is damaged.
func TestOpenKept(t *testing.T) {
	dir := t.TempDir()
	r := &Runtime{dir: dir}
	code, shell, path := bytes.Repeat([]byte("code"), 50_000), []byte("a shell"), filepath.Join(dir, packedPrefix+"x")
	packed := func(head packedHead) []byte {
		t.Helper()
		if err := pack(path, "a module", head, shell, bytes.NewReader(code)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// read returns the head and what of the code can be read.
	read := func() (head packedHead, b []byte, err error) {
		k, err := r.openKept("x")
		if err != nil {
			return head, nil, err
		}
		defer k.close()
		if !bytes.Equal(k.shell, shell) {
			t.Errorf("the shell is %q, want %q", k.shell, shell)
		}
		b = make([]byte, len(code))
		if _, err := k.Read(b); err != nil {
			return k.head, nil, err
		}
		if !k.wholly() {
			err = errors.New("there is more, or it is not as it was packed")
		}
		return k.head, b, err
	}
	name := codeName(codeKey{0x0a})
	head := packedHead{Key: "x", Entry: name, Shell: len(shell), recast: recast{Limiter: "metered", State: meter.State{Globals: 3}}}
	good := packed(head)
	for range 2 { // the second time with the unpacker of the first
		if got, b, err := read(); err != nil || got != head || !bytes.Equal(b, code) {
			t.Fatalf("read %+v, %d bytes, %v, want what was packed", got, len(b), err)
		}
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	for what, damaged := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)-3], "head": good[:5], "flipped": flipped,
		"no name":            packed(packedHead{Key: "x", Shell: len(shell)}),
		"another key":        packed(packedHead{Key: "y", Entry: name, Shell: len(shell)}),
		"no key":             packed(packedHead{Entry: name, Shell: len(shell)}),
		"another name":       packed(packedHead{Key: "x", Entry: name + "0", Shell: len(shell)}),
		"a shell too long":   packed(packedHead{Key: "x", Entry: name, Shell: 1 << 20}),
		"a shell of nothing": packed(packedHead{Key: "x", Entry: name, Shell: -1}),
		"a huge shell":       packed(packedHead{Key: "x", Entry: name, Shell: 1 << 40}),
	} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if head, _, err := read(); err == nil {
			t.Errorf("%s: read %+v, want an error", what, head)
		}
	}
}
