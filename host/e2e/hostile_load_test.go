package e2e

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/e2e/house"
)

// A badFile is a module that no host may load.
type badFile struct {
	name   string
	what   string // for the page; empty: not in it
	module []byte
	reason string // a part of what the operator has to see
}

// leftOut returns all modules that are refused before a stream can begin on
// them.
func leftOut(t *testing.T) []badFile {
	t.Helper()
	good := guest(t, "plugin", "good")
	with := func(name string, change map[string]any) []byte { return house.Packed(t, good, name, change) }
	files := []badFile{
		{"empty", "an empty file", nil, "make one with `parley plugin build DIR`"},
		{"text", "a script", []byte("#!/bin/sh\nexit 1\n"), "make one with `parley plugin build DIR`"},
		{"component", "a component in place of a core module", guest(t, "plugin", "component"), "`parley plugin pack FILE --manifest manifest.json`"},
		{"bare", "no manifest", good, "add one with `parley plugin pack FILE --manifest manifest.json`"},
		{"twice", "two manifests", append(slices.Clone(with("twice", nil)), manifestSection([]byte(`{}`))...), "the module has 2 manifests and may have one"},
		{"long", "a manifest of over 64 KiB", with("long", map[string]any{"description": strings.Repeat("x", abi.MaxManifest)}), "and may have 65536"},
		{"deep", "a manifest of 20,000 open brackets", append(slices.Clone(good), manifestSection(bytes.Repeat([]byte("["), 20_000))...), "the manifest is not the JSON of one"},
		{"damaged", "a file that is cut off", with("damaged", nil)[:400], "the module is damaged"},
		{"garbage", "sections that do not add up", append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Repeat([]byte{0xff}, 100)...), "the module is damaged"},
		{"escape", "a name that leads out of the folder", with("escape", map[string]any{"name": "../../../etc/passwd"}), "name is \"../../../etc/passwd\" and must be"},
		{"escapeversion", "a version that leads out of the folder", with("escapeversion", map[string]any{"version": "1.0.0/../../x"}), "version is \"1.0.0/../../x\" and must be"},
		{"wildcard", "a grant for any host", with("wildcard", map[string]any{"grants": map[string]any{"http": []string{"https://*.example.com"}}}), "grants.http has \"https://*.example.com\""},
		{"othersecret", "a grant for a secret that is not a workspace's", with("othersecret", map[string]any{"grants": map[string]any{"secrets": []string{"masterKey"}}}), "grants.secrets has \"masterKey\""},
		{"abi99", "an ABI from the future, in the manifest", with("abi99", map[string]any{"abi": 99}), "this host speaks ABI 1 to 2"},
		{"future", "an ABI from the future, in the code", house.Packed(t, guest(t, "plugin", "future"), "future", nil), "`parley plugin build DIR` does"},
		{"noexport", "an export is missing", house.Packed(t, guest(t, "plugin", "noexport"), "noexport", nil), "it lacks the export parley_decode"},
		{"signature", "an export of another signature", house.Packed(t, guest(t, "plugin", "wrongsignature"), "signature", nil), "must be (i32) -> i64"},
		{"import", "an import that the host does not have", house.Packed(t, guest(t, "plugin", "unknownimport"), "import", nil), "which the host does not have"},
		{"greedy", "more memory than is granted", with("greedy", map[string]any{"limits": map[string]any{"memoryMiB": 2000}}), "asks for 2000 MiB"},
		{"start", "a trap in its start", house.Packed(t, guest(t, "plugin", "inittrap"), "start", nil), "trap in _initialize of start 1.0.0"},
		{"liar", "an answer other than its own self-test says", with("liar", map[string]any{"selfTest": []any{
			map[string]any{"call": "error", "input": map[string]any{"status": 401}, "output": map[string]any{"kind": "auth"}},
		}}), `kind: want "auth", got "rate_limit"`},
		{"nomanifest", "", with("nomanifest", map[string]any{"name": "", "version": "one"}), "version"},
	}
	// The guests of the sandbox's own tests are no providers: each lacks exports
	// at least.
	others, err := filepath.Glob(filepath.Join("..", "internal", "plugin", "wasm", "testdata", "*.wasm"))
	if err != nil || len(others) < 10 {
		t.Fatalf("%d guests, %v", len(others), err)
	}
	for _, file := range others {
		name := strings.TrimSuffix(filepath.Base(file), ".wasm")
		files = append(files, badFile{"sandbox-" + name, "", house.Packed(t, guest(t, "plugin/wasm", name), "sandbox"+name, nil), "sandbox" + name})
	}
	return files
}

// manifestSection is a custom section to put behind a module.
func manifestSection(payload []byte) []byte {
	whole, err := abi.WithSection([]byte("\x00asm\x01\x00\x00\x00"), abi.SectionManifest, payload)
	if err != nil {
		panic(err) // an empty module is one
	}
	return whole[8:]
}
