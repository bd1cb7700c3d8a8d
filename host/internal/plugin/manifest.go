package plugin

import (
	"errors"
	"fmt"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// ReadManifest returns what module says of itself, checked. It runs nothing of
// module. An error is a sentence that says what is wrong and, where a command
// mends it, which.
func ReadManifest(module []byte) (*abi.Manifest, error) {
	if err := CheckForm(module); err != nil {
		return nil, err
	}
	sections, err := abi.Sections(module, abi.SectionManifest)
	if err != nil {
		return nil, fmt.Errorf("the module is damaged: its sections do not add up: %w", err)
	}
	switch len(sections) {
	case 0:
		return nil, errors.New("the module has no manifest: add one with `parley plugin pack FILE --manifest manifest.json`")
	case 1:
		return manifest.Parse(sections[0])
	default:
		return nil, fmt.Errorf("the module has %d manifests and may have one: put one in place of them with `parley plugin pack FILE --manifest manifest.json`", len(sections))
	}
}

// A Warning is a member of a manifest that the contract does not have: it does
// nothing, and may have been meant to.
type Warning struct {
	manifest.Unknown
	Nearest string `json:"nearest,omitempty"` // the member that was most likely meant
}

func (w Warning) String() string {
	s := fmt.Sprintf("line %d, column %d: the manifest has no member %s", w.Line, w.Column, quote(w.Path()))
	if w.Nearest != "" {
		s += fmt.Sprintf(": did you mean %q?", w.Nearest)
	} else {
		s += ", and nothing heeds it"
	}
	return s
}

// ManifestWarnings finds the unknown members of a manifest, which is JSON.
func ManifestWarnings(b []byte) (all []Warning) {
	for _, u := range manifest.FindUnknown(b) {
		all = append(all, Warning{u, apierr.Nearest(u.Member, u.Known)})
	}
	return all
}

// ModuleWarnings are those of the manifest that module carries, which has
// [ReadManifest] succeed; lines and columns are those of the section.
func ModuleWarnings(module []byte) []Warning {
	sections, err := abi.Sections(module, abi.SectionManifest)
	if err != nil || len(sections) != 1 {
		return nil
	}
	return ManifestWarnings(sections[0])
}

// quote shows a name that anybody may have written.
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	return fmt.Sprintf("%q", s)
}
