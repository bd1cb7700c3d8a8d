package wasm

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sync"
)

// formSources are the sources that decide into what a module is brought before wazero
// compiles it.
//
//go:embed meter/*.go compile.go cursor.go engine.go image.go metered.go shell.go tables.go
var formSources embed.FS

// codeForm is part of each key of a cache, so that nothing runs that another version of
// these sources has made.
var codeForm = sync.OnceValue(func() string { return sumFiles(formSources) })

// sumFiles returns a short sum of all files of dir, which can be read.
func sumFiles(dir fs.FS) string {
	h := sha256.New()
	err := fs.WalkDir(dir, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(dir, name)
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(b))
		return err
	})
	if err != nil {
		panic(err) // of files in the program
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
