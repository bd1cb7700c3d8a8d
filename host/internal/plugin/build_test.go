package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// source is a plugin in Go without any SDK. Each call answers with what the
// const says; a decode call whose input begins with "!" panics.
const source = `package main

import "unsafe"

const answer = "\x00\x00\x00\x00"

var region []byte

func main() {}

func span(s string) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.StringData(s))))<<32 | uint64(len(s))
}

//go:wasmexport parley_abi
func version() uint32 { return 1 }

//go:wasmexport parley_input
func input(size uint32) uint32 {
	region = make([]byte, size)
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(region))))
}

//go:wasmexport parley_encode
func encode(uint32) uint64 { return span("{\"reply\":\"hello\"}") }

//go:wasmexport parley_decode
func decode(uint32) uint64 {
	if region[0] == '!' {
		panic("told to")
	}
	return span(answer)
}

//go:wasmexport parley_error
func failed(uint32) uint64 { return span("{\"kind\":\"auth\"}") }
`

// project returns a folder with a plugin in it.
func project(t *testing.T, main string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not on PATH")
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/plugin\n\ngo 1.26\n")
	write(t, dir, "main.go", main)
	write(t, dir, "manifest.json", string(manifest(t, nil)))
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBuild(t *testing.T) {
	dir, out := project(t, source), filepath.Join(t.TempDir(), "dist")
	var said bytes.Buffer
	build := func(dir, want string) []byte {
		t.Helper()
		said.Reset()
		file, err := plugin.Build(t.Context(), dir, out, &said)
		if err != nil {
			t.Fatal(err)
		}
		if file != filepath.Join(out, "test-1.2.0.wasm") {
			t.Errorf("file %s, want test-1.2.0.wasm in %s", file, out)
		}
		if !strings.Contains(said.String(), want) {
			t.Errorf("progress %q, want %q", said.String(), want)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := build(dir, "built plugin test 1.2.0 in ")
	if again := build(dir, "is up to date"); !bytes.Equal(first, again) {
		t.Error("a second run changed the file")
	}
	// Elsewhere the same files make the same module, byte for byte.
	if moved := build(project(t, source), "is up to date"); !bytes.Equal(first, moved) {
		t.Error("the same files in another folder are not up to date")
	}
	write(t, out, "test-1.2.0.wasm", "damaged")
	if moved := build(project(t, source), "built plugin"); !bytes.Equal(first, moved) {
		t.Error("the same files in another folder make another module")
	}
	write(t, dir, "manifest.json", string(manifest(t, map[string]any{"description": "changed"})))
	if bytes.Equal(first, build(dir, "built plugin")) {
		t.Error("another manifest makes the same module")
	}
	write(t, dir, "main.go", source+"// changed\n")
	build(dir, "built plugin")

	// And it runs.
	p, err := plugin.Load(t.Context(), open(t, nil), first, "test", plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Encode(t.Context(), encodeInput)
	if err != nil || r.Reply == nil || *r.Reply != "hello" {
		t.Errorf("Encode = %+v, %v, want the reply hello", r, err)
	}
	if got, err := p.Decode(t.Context(), decodeInput, nil); string(got) != "\x00\x00\x00\x00" || err != nil {
		t.Errorf("Decode = %q, %v", got, err)
	}
	_, err = p.Decode(t.Context(), []byte("!"), nil)
	if f, ok := errors.AsType[*wasm.Fault](err); !ok || f.Kind != wasm.FaultTrap || !strings.Contains(f.Output, "panic: told to") {
		t.Errorf("Decode that panics: %v, want a trap with the panic's text", err)
	}
	if got, err := p.Decode(t.Context(), decodeInput, nil); string(got) != "\x00\x00\x00\x00" || err != nil {
		t.Errorf("Decode after a panic = %q, %v", got, err)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Run("no compile", func(t *testing.T) {
		dir := project(t, source+strings.Repeat("var x int = \"text\"\n", 1000))
		_, err := plugin.Build(t.Context(), dir, t.TempDir(), nil)
		if err == nil || !strings.Contains(err.Error(), "main.go:") || len(err.Error()) > 6<<10 {
			t.Errorf("Build: %.500v, want the compiler's words, bounded", err)
		}
	})
	t.Run("no main", func(t *testing.T) {
		dir := project(t, strings.Replace(source, "package main", "package other", 1))
		if _, err := plugin.Build(t.Context(), dir, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "main package") {
			t.Errorf("Build: %v, want a word on the main package", err)
		}
	})
	t.Run("missing export", func(t *testing.T) {
		dir := project(t, strings.Replace(source, "//go:wasmexport parley_error\n", "", 1))
		if _, err := plugin.Build(t.Context(), dir, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "it lacks the export parley_error") {
			t.Errorf("Build: %v, want a word on the export", err)
		}
	})
	t.Run("bad manifest", func(t *testing.T) {
		dir := project(t, source)
		write(t, dir, "manifest.json", "{}")
		if _, err := plugin.Build(t.Context(), dir, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "the manifest is wrong") {
			t.Errorf("Build: %v, want a word on the manifest", err)
		}
	})
	t.Run("no manifest", func(t *testing.T) {
		if _, err := plugin.Build(t.Context(), t.TempDir(), t.TempDir(), nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Build: %v, want %v", err, os.ErrNotExist)
		}
	})
	t.Run("ended context", func(t *testing.T) {
		dir := project(t, source)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := plugin.Build(ctx, dir, t.TempDir(), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Build: %v, want %v", err, context.Canceled)
		}
	})
	t.Run("no go", func(t *testing.T) {
		dir := project(t, source)
		t.Setenv("PATH", t.TempDir())
		if _, err := plugin.Build(t.Context(), dir, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "the go command is not on PATH: install Go") {
			t.Errorf("Build: %v, want a word on how to get Go", err)
		}
	})
}

// FuzzManifest checks that no bytes make the reading of a manifest panic: it is
// done before anything is trusted.
func FuzzManifest(f *testing.F) {
	f.Add(packed(f, "good", nil))
	f.Add(guest(f, "component"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := plugin.ReadManifest(b)
		if (m == nil) == (err == nil) {
			t.Errorf("ReadManifest = %v, %v", m, err)
		}
		if m == nil {
			return
		}
		if m.ABI < abi.MinVersion || m.ABI > abi.Version {
			t.Errorf("ReadManifest accepts ABI %d", m.ABI)
		}
	})
}
