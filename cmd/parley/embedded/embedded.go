// Package embedded has the shipped plugins, where `go generate ./cmd/parley` built them.
package embedded

import "embed"

// Files are NAME-VERSION.wasm, the modules that the program runs where no other version is
// pinned; NAME-VERSION.wasm.gz, those that it only brings along to be installed by name; and
// in the file sources what [parley.Sum] says of what they were built from.
//
//go:embed *
var Files embed.FS
