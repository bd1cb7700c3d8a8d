package meter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// specDir returns where wazero keeps the modules of the specification's tests.
// They are read there; nothing of them is ours.
func specDir(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		t.Skipf("cannot find wazero's module, which has the specification's tests: %v", err)
	}
	return dir
}

// TestSpec runs the specification's tests on original and metered modules side
// by side: whatever one does, the other must do. LONG=1 runs all of them, else
// every eighth list of commands of the long suites.
func TestSpec(t *testing.T) {
	dir, long := specDir(t), os.Getenv("LONG") != ""
	suites := []struct {
		name     string
		features api.CoreFeatures
		least    int // commands that must have been compared, so that none is lost by mistake
	}{
		{"v1", api.CoreFeaturesV1, 15_000},
		{"v2", api.CoreFeaturesV2, 40_000},
		{"extended-const", api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst, 50},
		{"tail-call", api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall, 50},
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, s.name, "testdata", "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no lists of commands: %v", err)
			}
			sum, yields := 0, 0
			for i, file := range files {
				if !long && len(files) > 8 && i%8 != 0 {
					continue
				}
				compared, y := runSpec(t, dir, file, s.features)
				sum, yields = sum+compared, yields+y
			}
			t.Logf("%d commands compared, %d yields", sum, yields)
			if yields == 0 || sum < s.least && long {
				t.Errorf("%d commands compared, %d yields: want %d commands and some yields", sum, yields, s.least)
			}
		})
	}
}

// A specCommand is one line of a test, in the form that wabt's wast2json gives
// it (https://github.com/WebAssembly/wabt/blob/main/docs/wast2json.md).
type specCommand struct {
	Type       string
	Line       int
	Name       string
	As         string
	Filename   string
	ModuleType string `json:"module_type"`
	Action     struct {
		Type, Field, Module string
		Args                []specValue
	}
}

// runSpec runs one list of commands and returns how many it compared, and how
// often metered code came to yield.
func runSpec(t *testing.T, dir, file string, features api.CoreFeatures) (compared, yields int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Commands []specCommand }
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	host, err := os.ReadFile(filepath.Join(dir, "testdata", "spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	p := newPair(t, features)
	defer p.close()
	p.slice = 20 // so that most of what runs yields now and then
	if _, errs := p.instantiate(host, "spectest"); errs != [2]error{} {
		t.Fatal(errs)
	}

	named, skip := map[string]*twins{}, false
	var latest *twins
	for i, c := range list.Commands {
		where := fmt.Sprintf("%s:%d %s", filepath.Base(file), c.Line, c.Type)
		switch {
		case skip: // a module's registration, which came with it
			skip = false
			continue
		case c.Type == "register", c.ModuleType == "text":
			continue
		case c.Filename != "":
			bin, err := os.ReadFile(filepath.Join(filepath.Dir(file), c.Filename))
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if next := i + 1; c.Type == "module" && next < len(list.Commands) && list.Commands[next].Type == "register" {
				name, skip = list.Commands[next].As, true
			}
			made, errs := p.instantiate(bin, name)
			compareErrors(t, where, errs)
			if c.Type == "module" {
				if errs[0] != nil {
					t.Fatalf("%s: %v", where, errs[0])
				}
				latest = made
				if c.Name != "" {
					named[c.Name] = made
				}
			}
		default:
			m := latest
			if c.Action.Module != "" {
				m = named[c.Action.Module]
			}
			if m == nil {
				t.Fatalf("%s: no module", where)
			}
			runAction(t, where, m, c)
		}
		compared++
	}
	return compared, p.yields
}

func runAction(t *testing.T, where string, m *twins, c specCommand) {
	t.Helper()
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.words(t)...)
	}
	var got [2][]uint64
	var errs [2]error
	for k, m := range m {
		if c.Action.Type == "get" {
			got[k] = []uint64{m.ExportedGlobal(c.Action.Field).Get()}
			continue
		}
		got[k], errs[k] = m.ExportedFunction(c.Action.Field).Call(context.Background(), args...)
	}
	if !compareErrors(t, where+" "+c.Action.Field, errs) {
		return
	}
	if ok := errs[0] == nil; ok != (c.Type == "assert_return" || c.Type == "action") {
		t.Errorf("%s %s: %v", where, c.Action.Field, errs[0])
	}
	if !slices.Equal(got[1], got[0]) && !references(m[0], c.Action.Field) {
		t.Errorf("%s %s: metered %x, want %x", where, c.Action.Field, got[1], got[0])
	}
}

// references reports whether a function's results hold a reference, which is
// an address of the runtime's.
func references(m api.Module, field string) bool {
	f := m.ExportedFunction(field)
	return f != nil && slices.Contains(f.Definition().ResultTypes(), 0x70)
}

// compareErrors compares two outcomes by all that is not a place in the code.
// It reports whether they are the same.
func compareErrors(t *testing.T, where string, errs [2]error) bool {
	t.Helper()
	var text [2]string
	for k, err := range errs {
		if err != nil {
			text[k], _, _ = strings.Cut(err.Error(), "\n")
		}
		var refused refusal
		if errors.As(err, &refused) {
			// What is not rewritten is left to the other limiter: nothing to
			// compare, as long as the module is no good anyway.
			if errs[0] == nil {
				t.Errorf("%s: a good module is refused: %v", where, err)
				return false
			}
			return true
		}
	}
	if (errs[0] == nil) != (errs[1] == nil) {
		t.Errorf("%s: metered %v, original %v", where, errs[1], errs[0])
		return false
	}
	if strings.HasPrefix(text[0], "wasm error") && text[0] != text[1] {
		t.Errorf("%s: metered %s, original %s", where, text[1], text[0])
		return false
	}
	return true
}
