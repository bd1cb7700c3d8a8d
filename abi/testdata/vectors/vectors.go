// Package vectors carries the contract's vectors into programs in Go, such as
// `parley plugin check`. Others read the files.
package vectors

import "embed"

// Files are the *.json files of this folder.
//
//go:embed *.json
var Files embed.FS
