package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// Pack returns module with the manifest text, a JSON object, in it, in place of any
// that was there. It checks both and that they fit each other, as far as that
// can be told without running module.
func Pack(module, text []byte) ([]byte, error) {
	if err := CheckForm(module); err != nil {
		return nil, err
	}
	m, err := manifest.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := wasm.Runnable(module); err != nil {
		return nil, fmt.Errorf("pack plugin %s: %w", m.Name, err)
	}
	if err := checkReactor(module); err != nil {
		return nil, fmt.Errorf("pack plugin %s: %w", m.Name, err)
	}
	if err := checkModule(module, m); err != nil {
		return nil, fmt.Errorf("pack plugin %s: %w", m.Name, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	packed, err := abi.WithSection(module, abi.SectionManifest, compact.Bytes())
	if err != nil {
		return nil, fmt.Errorf("pack plugin %s: %w", m.Name, err)
	}
	return packed, nil
}

// checkReactor refuses a command: a program whose main runs once, by _start, which a host
// never calls.
func checkReactor(module []byte) error {
	shape, err := wasm.Describe(module)
	if err != nil {
		return err
	}
	_, starts := shape.Func("_start")
	if _, initializes := shape.Func(abi.FuncInitialize); !starts || initializes {
		return nil
	}
	return errors.New("it is a command (it exports _start), and a plugin is a reactor, whose functions are called: build it with -buildmode=c-shared (Go, TinyGo), crate-type = [\"cdylib\"] (Rust), -mexec-model=reactor (C, C++), -fno-entry (Zig) or without --exportStart _start (AssemblyScript)")
}

// checkModule refuses a module that m's kind could not use.
func checkModule(module []byte, m *abi.Manifest) error {
	shape, err := wasm.Describe(module)
	if err != nil {
		return err
	}
	if err := checkExports(shape, m.Kind); err != nil {
		return err
	}
	return shape.Check(wasm.Limits{Memory: uint64(m.Limits.MemoryMiB) << 20})
}

// A Report is all that can be told of a module without running it.
type Report struct {
	Size     int           `json:"size"` // bytes
	SHA256   string        `json:"sha256"`
	Manifest *abi.Manifest `json:"manifest"` // nil where there is none that is right
	Imports  []Item        `json:"imports"`
	Exports  []Item        `json:"exports"`
	// MemoryKiB is what an instance begins with.
	MemoryKiB int `json:"memoryKiB"`
	// Unmetered is why the host would not count what the module does, but bound
	// its calls by slower means; empty where it would.
	Unmetered string `json:"unmetered,omitempty"`
	// NeedsHost is the oldest release of Parley that has the manifest's features; empty
	// where it names none.
	NeedsHost string `json:"needsHost,omitempty"`
	// Problems are the reasons why a host would refuse the module; none where
	// it would not, as far as can be told.
	Problems []string `json:"problems"`
	// Warnings are members of the manifest that no host heeds.
	Warnings []Warning `json:"warnings,omitempty"`
}

// An Item is something that a module imports or exports.
type Item struct {
	Name      string `json:"name"` // of an import: module.name
	Kind      string `json:"kind"`
	Signature string `json:"signature,omitempty"`
}

// Inspect reports on module. The error is about bytes that are no module at
// all; whatever else is wrong stands in the report.
func Inspect(module []byte) (*Report, error) {
	if err := CheckForm(module); err != nil {
		return nil, err
	}
	shape, err := wasm.Describe(module)
	if err != nil {
		return nil, fmt.Errorf("the module is damaged: %w", err)
	}
	sum := sha256.Sum256(module)
	r := &Report{
		Size: len(module), SHA256: hex.EncodeToString(sum[:]), MemoryKiB: int(shape.MemoryMin) * 64,
		Imports: []Item{}, Exports: []Item{}, Problems: []string{},
	}
	for _, i := range shape.Imports {
		r.Imports = append(r.Imports, Item{i.Module + "." + i.Name, i.Kind, i.Signature})
	}
	for _, e := range shape.Exports {
		r.Exports = append(r.Exports, Item(e))
	}
	if err := wasm.MeterRefuses(module); err != nil {
		r.Unmetered = err.Error()
	}
	if r.Manifest, err = ReadManifest(module); err != nil {
		r.Problems = append(r.Problems, err.Error())
		return r, nil
	}
	r.NeedsHost = manifest.NeededHost(r.Manifest)
	r.Warnings = ModuleWarnings(module)
	if err := checkModule(module, r.Manifest); err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	return r, nil
}
