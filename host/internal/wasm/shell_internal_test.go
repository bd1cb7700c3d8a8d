package wasm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// numbering returns a module whose function number returns n, below 64.
func numbering(n byte) []byte {
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, 1, 0x60, 0, 1, 0x7f),
		section(3, 1, 0),
		section(5, 1, 0, 1),
		section(7, append([]byte("\x02\x06memory\x02\x00\x06number\x00"), 0)...),
		section(10, 1, 4, 0, 0x41, n, 0x0b),
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

// TestShellNotTaken gives wazero an entry that it does not take, and a host one of another
// processor: what wazero then makes of the shell is not run.
func TestShellNotTaken(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	at := &Runtime{folder: to}
	use := func(machine string) (path string) {
		t.Helper()
		r, err := Open(Options{CacheDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.knowMachine(); err != nil {
			t.Fatal(err)
		}
		if machine != "" {
			r.machine = machine
		}
		sayNumber(t, r, 7)
		return r.packed(r.key(sumCode(numbering(7))))
	}
	path := use("")
	head, shell, _, err := at.unpack(path)
	if err != nil {
		t.Fatal(err)
	}
	entry := filepath.Join(to, head.Entry)
	good, err := os.ReadFile(entry)
	if err != nil {
		t.Fatal(err)
	}
	stale := bytes.Clone(good)
	stale[len("WAZEVO")+1]++ // the version of wazero follows its length
	if err := os.WriteFile(entry, stale, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pack(path, "number 7", head, shell, entry); err != nil {
		t.Fatal(err)
	}
	use("")
	if _, _, _, err = at.unpack(path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(entry); err != nil || !bytes.Equal(b, good) {
		t.Errorf("the cache keeps %d bytes, %v, want the code as it was made first", len(b), err)
	}
	if use("another"); len(modulesOf(t, dir)) != 2 {
		t.Errorf("the cache keeps %v, want an entry for each processor", modulesOf(t, dir))
	}
}

// TestNoRoomForMachine compiles where nothing can be written, as on a full disk, and then
// where it can: a host begins nonetheless, and goes on.
func TestNoRoomForMachine(t *testing.T) {
	r := openRuntime(t, Options{CacheDir: t.TempDir()})
	scratch := r.scratch
	r.scratch = filepath.Join("testdata", "echo.wasm") // in which there can be no folder
	if _, err := r.Compile(t.Context(), "number 7", numbering(7), Limits{}); err == nil || !strings.Contains(err.Error(), "use compilation cache: ") {
		t.Errorf("Compile without room: %v", err)
	}
	r.scratch = scratch
	sayNumber(t, r, 7)
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

// TestCodeForm tells when modules are compiled in another form than codeForm says:
// what a cache keeps of them must not be run any more.
func TestCodeForm(t *testing.T) {
	const want = "328b1b59fd63b05f"
	h := sha256.New()
	for _, name := range guests(t) {
		bin, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Describe(bin)
		if err != nil {
			t.Fatal(err)
		}
		begin, end, _ := findData(bin, uint64(s.MemoryMin)*pageSize)
		if bin, err = boundTables(slices.Concat(bin[:begin], bin[end:])); err != nil {
			fmt.Fprintln(h, name, err)
			continue
		}
		how, bin, err := recastFor(Metered(), bin)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%s %+v %x %x\n", name, how, bin, shellOf(bin, "mark"))
	}
	if got := hex.EncodeToString(h.Sum(nil))[:16]; got != want {
		t.Errorf("modules are compiled as %s and were as %s: raise codeForm, and write that here", got, want)
	}
}
