package plugin

import "github.com/parley-search/parley/abi/manifest"

// ValidName reports whether a plugin may be called s: what passes is safe as
// part of a file name.
func ValidName(s string) bool { return manifest.ValidName(s) }

// ValidSource reports whether a source may be called s.
func ValidSource(s string) bool { return manifest.ValidSource(s) }

// ValidVersion reports whether s is a semantic version without "v"; it is safe
// as part of a file name too.
func ValidVersion(s string) bool { return manifest.ValidVersion(s) }

// FileName is what a plugin's file is called in a plugin directory. Both parts
// must be valid.
func FileName(name, version string) string { return name + "-" + version + ".wasm" }

// Newer orders two versions, as a comparison function does: a release before
// any pre-release, then the higher before the lower.
func Newer(a, b string) int { return newer(a, b) }

// ABIRange says which versions of the contract this host speaks.
func ABIRange() string { return manifest.ABIRange() }
