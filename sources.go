// Package parley holds the sources of the shipped plugins, so that a program made of
// this module can build them wherever it runs.
package parley

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
)

// Sources is a Go module that has what the shipped plugins are built from, below
// plugins their own folders, and the SDK, which needs no other module: abi and sdk.
//
//go:embed go.mod go.sum abi/*.go abi/*/*.go sdk/*/*.go sdk/internal/*/*.go plugins/collector/*.go plugins/*/*/*.go plugins/*/*/manifest.json
var Sources embed.FS

// Unit is the systemd unit that packages have.
//
//go:embed examples/deploy/parley.service
var Unit string

// Carried are the names of the providers that the program runs without being told to:
// the one that needs no model, and those whose sources an embedder of Meilisearch has.
// It runs all collectors beside them.
var Carried = []string{"extract", "ollama", "openai"}

// Sum is the hash of [Sources] as a short name.
func Sum() (string, error) { return SumIn(Sources) }

// SumIn is Sum of the same files as dir has them, which may have others, too.
func SumIn(dir fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(Sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(dir, name)
		fmt.Fprintf(sum, "%q %d\n", name, len(b))
		sum.Write(b)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), err
}
