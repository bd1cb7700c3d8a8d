package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// Options says how a module is tried. The zero value works.
type Options struct {
	// Compiler is a program that compiles the module aside, see [wasm.Options].
	Compiler []string
	// CacheDir keeps compiled code between runs; empty: nowhere.
	CacheDir string
	// Cases are responses and what the plugin must make of them. Without any, a
	// provider is tried with streams of the shapes that LLM APIs have.
	Cases []response.Case
	// Calls is how many the check of memory makes at least; default 10,000.
	Calls int
	// CallTimeout bounds one call; default what a host allows.
	CallTimeout time.Duration
}

// The results of a check.
const (
	OK      = "ok"
	Failed  = "failed"
	Skipped = "skipped"
)

// A Result is how one check ended.
type Result struct {
	Check  string `json:"check"`
	Result string `json:"result"` // OK, Failed or Skipped
	// Detail is what was seen: of a failure what was called, what came and what
	// the contract wants.
	Detail string `json:"detail,omitempty"`
	Remedy string `json:"remedy,omitempty"` // of a failure: what to do
	// SameAs names the first check that failed for the same reason; empty if none did.
	SameAs string `json:"same_as,omitempty"`
}

// A Report is what [Check] found.
type Report struct {
	Name    string   `json:"name"` // of the plugin; empty where the manifest cannot be read
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	ABI     int      `json:"abi"`
	Size    int      `json:"size"` // bytes
	SHA256  string   `json:"sha256"`
	Passed  bool     `json:"passed"` // no check failed
	Checks  []Result `json:"checks"`
	Fuel    []Spent  `json:"fuel"` // by export, of all calls that were made
	// Against is how the module differs from another one; nil if none was given.
	Against *Comparison `json:"against,omitempty"`
	// Warnings are members of the manifest that no host heeds.
	Warnings []plugin.Warning `json:"warnings,omitempty"`
}

// A Spent is what the calls of an export took, in units of the meter.
type Spent struct {
	Export string `json:"export"`
	Calls  int    `json:"calls"`
	Median int64  `json:"median"`
	P99    int64  `json:"p99"`
}

// A check is one row of the kit.
type check struct {
	name string
	// about says what a module must do, in one sentence that goes on from "it".
	about string
	// remedy says what to do about a failure.
	remedy string
	stop   bool // where it fails, what follows cannot be told
	run    func(*subject) (detail string, err error)
}

// errSkip ends a check that says nothing about this module.
var errSkip = errors.New("skipped")

func skip(why string) (string, error) { return why, errSkip }

// Check holds module to the contract. Whatever is wrong with it stands in the
// report; the error is of the machine, or ctx's.
//
// The first checks look at the module, and one that fails ends the rest: what
// does not load cannot be called.
func Check(ctx context.Context, module []byte, o Options) (*Report, error) {
	sum := sha256.Sum256(module)
	r := &Report{Size: len(module), SHA256: hex.EncodeToString(sum[:]), Passed: true}
	rt, err := wasm.Open(wasm.Options{CacheDir: o.CacheDir, Aside: o.Compiler})
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	s := newSubject(ctx, rt, module, o)
	s.all(r, moduleChecks())
	if s.manifest != nil {
		m := s.manifest
		r.Name, r.Version, r.Kind, r.ABI = m.Name, m.Version, m.Kind, m.ABI
		r.Warnings = plugin.ModuleWarnings(module)
	}
	if r.Passed {
		s.all(r, kindChecks(s.manifest.Kind))
	}
	for _, export := range slices.Sorted(maps.Keys(s.spent)) {
		fuel := s.spent[export]
		r.Fuel = append(r.Fuel, Spent{export, len(fuel), quantile(fuel, 50), quantile(fuel, 99)})
	}
	return r, ctx.Err()
}

// kindChecks are those of calls.
func kindChecks(kind string) []check {
	switch kind {
	case abi.KindCollector:
		return collectorChecks()
	case abi.KindGuard:
		return guardChecks()
	}
	return providerChecks()
}

// all makes the checks of a list. In that of the module, each needs those
// before it.
func (s *subject) all(r *Report, checks []check) {
	first := map[string]string{} // the check that failed for a cause
	for _, c := range checks {
		if s.ctx.Err() != nil {
			return
		}
		result := Result{Check: c.name, Result: OK}
		var err error
		result.Detail, err = c.run(s)
		s.settle()
		switch {
		case errors.Is(err, errSkip):
			result.Result = Skipped
		case err != nil:
			cause, remedy := c.explain(err)
			result.Result, result.Detail, result.Remedy, result.SameAs = Failed, err.Error(), remedy, first[cause]
			if result.SameAs == "" {
				first[cause] = c.name
			}
			r.Passed = false
		}
		r.Checks = append(r.Checks, result)
		if !r.Passed && c.stop {
			return
		}
	}
}

// moduleChecks are those that every plugin has to pass before it is called.
func moduleChecks() []check {
	return []check{
		{
			name: "module", stop: true,
			about:  "is a WebAssembly module, of a size that hosts take",
			remedy: "Name the module that your compiler made, of a core target such as wasm32-wasip1. For a plugin in Go, `parley plugin build DIR` makes it.",
			run: func(s *subject) (string, error) {
				return fmt.Sprintf("%d KiB", len(s.module)>>10), plugin.CheckForm(s.module)
			},
		},
		{
			name: "manifest", stop: true,
			about:  "has one manifest, in the section `parley.manifest`, that a host can read",
			remedy: "Mend manifest.json and put it into the module: `parley plugin pack MODULE.wasm --manifest manifest.json`, or `parley plugin build DIR` for Go.",
			run: func(s *subject) (_ string, err error) {
				if s.manifest, err = plugin.ReadManifest(s.module); err != nil {
					return "", err
				}
				m := s.manifest
				return fmt.Sprintf("%s %s %s, ABI %d", m.Kind, m.Name, m.Version, m.ABI), nil
			},
		},
		{
			name: "exports", stop: true,
			about:  "exports its memory and the functions of its kind, with their signatures",
			remedy: "Export it under that name and with that signature: abi/README.md, section Exports.",
			run: func(s *subject) (_ string, err error) {
				if s.shape, err = wasm.Describe(s.module); err != nil {
					return "", err
				}
				if err := plugin.CheckExports(s.shape, s.manifest); err != nil {
					return "", err
				}
				return fmt.Sprintf("%d exports", len(s.shape.Exports)), nil
			},
		},
		{
			name: "imports", stop: true,
			about:  "imports nothing but what the host has, and begins within its memory limit",
			remedy: "Build for a target without a system (freestanding, or wasip1 in Go) and take out what asks for one: files, sockets, threads, printing. abi/README.md, section Imports, has the list.",
			run: func(s *subject) (string, error) {
				if err := s.shape.Check(s.limits()); err != nil {
					return "", err
				}
				if len(s.shape.Imports) == 0 {
					return "none", nil
				}
				return fmt.Sprintf("%d, all known", len(s.shape.Imports)), nil
			},
		},
		{
			name: "start", stop: true,
			about:  "compiles, and starts within its limits of memory and time",
			remedy: "Do less in `_initialize` and global constructors. A plugin gets 16 MiB; `limits.memoryMiB` in the manifest asks for more.",
			run:    checkStart,
		},
		{
			name: "abi", stop: true,
			about:  "says in `parley_abi` a version of the contract that its manifest does not exceed",
			remedy: "Return the version of the contract that the code was written for, and name that or an older one in the manifest's `abi`.",
			run: func(s *subject) (string, error) {
				g, err := s.fresh()
				if err != nil {
					return "", err
				}
				got, err := g.p.Number(abi.FuncABI)
				if err != nil {
					return "", err
				}
				return fmt.Sprint(got), plugin.CheckABI(uint32(got), s.manifest)
			},
		},
	}
}

// checkStart compiles the module and starts an instance.
func checkStart(s *subject) (string, error) {
	compiled, err := s.runtime.Compile(s.ctx, s.manifest.Name+" "+s.manifest.Version, s.module, s.limits())
	if err != nil {
		return "", err
	}
	s.compiled = compiled
	g, err := s.fresh()
	if err != nil {
		return "", err
	}
	detail := fmt.Sprintf("%s of memory, %s of fuel", size(g.p.Memory()), count(g.p.Fuel()))
	if refusal := compiled.Stats().Refusal; refusal != "" {
		detail += "; not metered, since " + refusal + ": a host bounds its calls by slower means"
	}
	return detail, nil
}
