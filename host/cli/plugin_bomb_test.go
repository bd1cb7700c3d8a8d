package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/abi"
)

// bomb writes a plugin of some hundred bytes, one function of which has four
// thousand million local variables: the meter refuses it, and a compiler that takes
// it at its word asks for gigabytes.
func bomb(t *testing.T, dir string) string {
	t.Helper()
	return writeGrown(t, dir, "bomb", func(code []byte) []byte {
		return append([]byte{1, 0xf0, 0xff, 0xff, 0xff, 0x0f, 0x7f}, code...)
	})
}

// slow writes a plugin that a compiler works at for long: one function of many
// branches, each of which changes one of many local variables.
func slow(t *testing.T, dir string) string {
	t.Helper()
	return writeGrown(t, dir, "slow", func([]byte) []byte {
		const locals, branches = 2000, 40_000
		body := append(appendUleb([]byte{1}, locals), 0x7f)
		for i := range branches {
			local := 8 + i*7919%(locals-8)
			body = append(appendUleb(append(body, 0x02, 0x40, 0x20), local), 0x0d, 0) // block, local.get, br_if 0
			body = append(appendUleb(append(body, 0x20), local), 0x41, 1, 0x6a)       // local.get, i32.const 1, i32.add
			body = append(appendUleb(append(body, 0x21), local), 0x0b)                // local.set, end
		}
		return append(body, 0x00, 0x0b) // unreachable, end
	})
}

// writeGrown writes a plugin whose last function is what grow makes of its code,
// which has no local variables before.
func writeGrown(t *testing.T, dir, name string, grow func(code []byte) []byte) string {
	t.Helper()
	module := []byte(read(t, "host/internal/plugin/testdata/good.wasm"))
	at, body := codeSection(t, module)
	// The section again, with its last function grown.
	count, rest := body[0], body[1:]
	var bodies [][]byte
	for range count {
		n, used := uleb(rest)
		bodies = append(bodies, rest[used:used+n])
		rest = rest[used+n:]
	}
	last := bodies[len(bodies)-1]
	groups, used := uleb(last)
	if groups == 0 {
		bodies[len(bodies)-1] = grow(last[used:])
	} else {
		t.Fatal("the last function has locals of its own")
	}
	code := []byte{count}
	for _, b := range bodies {
		code = append(appendUleb(code, len(b)), b...)
	}
	_, used = uleb(module[at+1:])
	bad := append([]byte{}, module[:at]...)
	bad = append(appendUleb(append(bad, 10), len(code)), code...)
	bad = append(bad, module[at+1+used+len(body):]...)
	manifest, err := json.Marshal(map[string]any{"abi": 1, "kind": "provider", "name": name, "version": "1.0.0", "source": name})
	if err != nil {
		t.Fatal(err)
	}
	if bad, err = abi.WithSection(bad, abi.SectionManifest, manifest); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name+".wasm")
	if err := os.WriteFile(file, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func codeSection(t *testing.T, module []byte) (at int, body []byte) {
	t.Helper()
	for at = 8; at < len(module); {
		n, used := uleb(module[at+1:])
		if module[at] == 10 {
			return at, module[at+1+used : at+1+used+n]
		}
		at += 1 + used + n
	}
	t.Fatal("no code section")
	return 0, nil
}

func uleb(b []byte) (v, used int) {
	for {
		v |= int(b[used]&0x7f) << (7 * used)
		used++
		if b[used-1] < 0x80 {
			return v, used
		}
	}
}

func appendUleb(b []byte, v int) []byte {
	for ; v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// TestCompileBounded gives a module that no compiler bears to the commands that
// compile: the child that compiles it is refused its memory, the command says so.
func TestCompileBounded(t *testing.T) {
	t.Parallel()
	file := bomb(t, t.TempDir())
	body := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(body, []byte("data: {}\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"install", file, "--plugin-dir", t.TempDir()},
		{"check", file},
		{"bench", file},
		{"replay", "--source", "bomb", "--plugin-dir", filepath.Dir(file), body},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"plugin"}, args...)...)
		cmd.Env = append(os.Environ(), reexec+"=parley", "XDG_CACHE_HOME="+t.TempDir())
		cmd.Stdout, cmd.Stderr = &said, &said
		err := cmd.Run()
		if err == nil || !strings.Contains(said.String(), "the compiler's process failed") {
			t.Errorf("parley plugin %s: %v\n%s", args[0], err, &said)
		}
	}
}
