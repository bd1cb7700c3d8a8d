// Command eventgen writes what follows from the events declared in package
// abi/event: the kinds and their codecs, the accessors of the Go SDK, and the
// catalogue in abi/README.md. `go generate ./abi/event` runs it.
//
// An event is declared once, as a struct with the directive
//
//	//parley:event N
//
// where N is its kind. Its name on the wire is the struct's in snake case. A
// field's is, too, unless its tag `name` says otherwise; the comment behind a
// field is its meaning in the catalogue, and the tag `vocabulary` names what a
// handle stands for.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := writeAll(filepath.Join("..", "..", "..")); err != nil {
		fmt.Fprintln(os.Stderr, "eventgen:", err)
		os.Exit(1)
	}
}

// writeAll writes the generated files below root, the top of the repository.
func writeAll(root string) error {
	files, err := generateFiles(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generateFiles returns the content of each generated file by its path below root.
func generateFiles(root string) (map[string][]byte, error) {
	c, err := readCatalogue(filepath.Join(root, "abi", "event"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, render := range map[string]func(catalogue) ([]byte, error){
		"abi/event/kinds.go":      renderKinds,
		"abi/event/kinds_test.go": renderCodecs,
		"sdk/collector/events.go": renderAccessors,
	} {
		if files[name], err = render(c); err != nil {
			return nil, fmt.Errorf("render %s: %w", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, readme))
	if err != nil {
		return nil, err
	}
	files[readme], err = renderPage(c, page)
	return files, err
}
