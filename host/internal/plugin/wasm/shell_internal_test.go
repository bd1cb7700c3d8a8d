package wasm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tetratelabs/wazero"
)

// numbering returns a module whose function number returns n, below 64.
func numbering(n byte) []byte {
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		makeSection(1, 1, 0x60, 0, 1, 0x7f),
		makeSection(3, 1, 0),
		makeSection(5, 1, 0, 1),
		makeSection(7, append([]byte("\x02\x06memory\x02\x00\x06number\x00"), 0)...),
		makeSection(10, 1, 4, 0, 0x41, n, 0x0b),
	}, nil)
}

// sayNumber compiles numbering(n) in r and holds it to its number.
func sayNumber(t *testing.T, r *Runtime, n byte) {
	t.Helper()
	m, err := r.Compile(t.Context(), fmt.Sprint("number ", n), numbering(n), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Number(t.Context(), 0, "number"); err != nil || got != uint32(n) {
		t.Errorf("the number is %d, %v, want %d", got, err, n)
	}
}

// TestShellsKeptApart runs modules of one form side by side, each by its own code: as
// they are compiled, and as the cache keeps them.
func TestShellsKeptApart(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		r, err := Open(Options{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for n := range byte(3) {
			sayNumber(t, r, n)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if kept := modulesOf(t, dir); len(kept) != 3 {
		t.Errorf("the cache keeps %v, want three modules", kept)
	}
}

// TestShellNotTaken gives wazero code that it does not take, and a host that of another
// processor: what wazero then makes of the shell is not run.
func TestShellNotTaken(t *testing.T) {
	dir := t.TempDir()
	use := func(machine string) (path string) {
		t.Helper()
		r, err := Open(Options{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if machine != "" {
			r.machine = machine
		}
		sayNumber(t, r, 7)
		return r.packed(r.key(sumCode(numbering(7))))
	}
	path := use("")
	head, shell, good := readKept(t, path)
	stale := bytes.Clone(good)
	stale[len("WAZEVO")+1]++ // the version of wazero follows its length
	otherName := head
	otherName.Entry = codeName(codeKey{})
	for what, bad := range map[string]struct {
		head packedHead
		code []byte
	}{
		"of another version":   {head, stale},
		"of another name":      {otherName, good},
		"and more":             {head, append(bytes.Clone(good), 0)},
		"that wazero refuses":  {head, good[1:]},
		"with another content": {head, append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1)},
	} {
		if err := pack(path, "number 7", bad.head, shell, bytes.NewReader(bad.code)); err != nil {
			t.Fatal(err)
		}
		use("")
		if got, _, code := readKept(t, path); got != head || !bytes.Equal(code, good) {
			t.Errorf("code %s: the cache keeps %d bytes as %s, want the code as it was made first", what, len(code), got.Entry)
		}
	}
	if use("another"); len(modulesOf(t, dir)) != 2 {
		t.Errorf("the cache keeps %v, want an entry for each processor", modulesOf(t, dir))
	}
}

// readKept returns what the entry at path holds.
func readKept(t *testing.T, path string) (head packedHead, shell, code []byte) {
	t.Helper()
	k, err := (&Runtime{dir: filepath.Dir(path)}).openKept(strings.TrimPrefix(filepath.Base(path), packedPrefix))
	if err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if code, err = io.ReadAll(k.unpacked); err != nil {
		t.Fatal(err)
	}
	return k.head, k.shell, code
}

// TestShellOf makes shells that wazero takes, with all that an instance is made of.
func TestShellOf(t *testing.T) {
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)
	shapeOf := func(bin []byte) string {
		t.Helper()
		s, err := Describe(bin)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(*s)
	}
	for _, name := range guests(t) {
		bin, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, bin, err = recastFor(Metered(), bin); err != nil {
			t.Fatal(err)
		}
		_, invalid := r.CompileModule(ctx, bin)
		shell := shellOf(bin, "one")
		if bytes.Equal(shell, shellOf(bin, "two")) {
			t.Errorf("%s: the mark makes no other shell", name)
		}
		if got, want := shapeOf(shell), shapeOf(bin); got != want {
			t.Errorf("%s: the shell is %s, want %s", name, got, want)
		}
		m, err := r.CompileModule(ctx, shell)
		if err != nil {
			if invalid == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

func guests(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*.wasm"))
	if err != nil || len(names) < 10 {
		t.Fatalf("guests: %v, %v", names, err)
	}
	return names
}

// TestCodeForm: what is kept of a module belongs to the sources that decide its form, each
// byte of all of them.
func TestCodeForm(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("meter", "*.go"))
	if err != nil || len(files) < 9 {
		t.Fatalf("the meter has the files %q, %v", files, err)
	}
	var all []byte
	copied := fstest.MapFS{}
	if err := fs.WalkDir(formSources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(formSources, name)
		all, copied[name] = append(all, b...), &fstest.MapFile{Data: b}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if copied[filepath.ToSlash(name)] == nil {
			t.Errorf("%s does not count", name)
		}
	}
	for _, name := range []string{"boundTables", "findData", "recastFor", "shellOf", "sumCode", "sections", "keepIn"} {
		if !bytes.Contains(all, []byte("\nfunc "+name+"(")) {
			t.Errorf("%s is in no source that counts", name)
		}
	}
	before := sumFiles(copied)
	if before != codeForm() {
		t.Errorf("the form is %s, and that of its sources %s", codeForm(), before)
	}
	for _, name := range []string{"meter/ops.go", "tables.go"} {
		changed := maps.Clone(copied)
		changed[name] = &fstest.MapFile{Data: append(bytes.Clone(copied[name].Data), '\n')}
		if sumFiles(changed) == before {
			t.Errorf("a change of %s changes nothing", name)
		}
	}
	r := &Runtime{engine: &engine{limiter: Metered()}}
	if key := r.key("sum"); !strings.Contains(key, "-"+before+"-") {
		t.Errorf("the key %s has not the form %s", key, before)
	}
}
