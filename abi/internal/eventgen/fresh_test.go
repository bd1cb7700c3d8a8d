package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEventFilesFresh holds the generated files to the declarations.
func TestEventFilesFresh(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	files, err := generateFiles(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("%d files are generated, want 4", len(files))
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the declarations say (%v): `go generate ./abi/event` writes it", name, err)
		}
	}
}

// TestEventsRefused reads declarations that cannot be.
func TestEventsRefused(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{"// A is one.\n//\n//parley:event 2\ntype A struct{ X Flag }", "want 1"},
		{"// A is one.\n//\n//parley:event 1\ntype A struct{ X Flag }\n\n// B is one.\n//\n//parley:event 1\ntype B struct{ X Flag }", "B has the kind 1, want 2"},
		{"// A is one.\n//\n//parley:event x\ntype A struct{ X Flag }", "want a number"},
		{"// A is one.\n//\n//parley:event 64\ntype A struct{ X Flag }", "from 1 to 63"},
		{"// A is one.\n//\n//parley:event 1\ntype A uint64", "not a struct"},
		{"// A is one.\n//\n//parley:event 1\ntype A struct{ X, Y Flag }", "2 fields"},
		{"// A is one.\n//\n//parley:event 1\ntype A struct{ X []byte }", "not a 64-bit word"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package event\n\n"+tt.source+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readCatalogue(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("reading\n%s\nfails with %v, want %q", tt.source, err, tt.want)
		}
	}
	c := catalogue{events: []declaration{{kind: 1, goName: "A", name: "a", about: "A is", fields: []field{{name: "x", goType: "Text"}}}}}
	if _, err := renderPage(c, []byte(tableHead+tableEnd)); err == nil || !strings.Contains(err.Error(), "none of the kinds of field") {
		t.Errorf("a field of type Text renders with %v, want it refused", err)
	}
	if _, err := renderPage(c, nil); err == nil {
		t.Error("a page without the marks gives no error, want one")
	}
}
