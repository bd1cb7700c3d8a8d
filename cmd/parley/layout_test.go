package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/parley-search/parley"

// TestLayoutTopLevel holds the top of the tree to its list.
func TestLayoutTopLevel(t *testing.T) {
	allowed := []string{
		"host", "plugins", "sdk", "abi", "cmd", "examples", "go.mod", "go.sum", "justfile", "README.md",
		".ci", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".git", ".gitignore", ".gitattributes",
		"data", "dumps", "snapshots", "pinned", "config.toml", "parley", "dist", // git-ignored: what running leaves
	}
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s stands at the top level: it belongs in one of the rooms", e.Name())
		}
	}
}

// The import table. A package may import of ours what the first rule that fits
// its path allows, and whatever stands in the same room.
var mayImport = []struct {
	pkg     string
	allowed []string
}{
	{"abi", nil},
	{"sdk", []string{"abi", "sdk"}},
	{"plugins", []string{"abi", "sdk"}},
	{"examples", []string{"abi", "sdk"}},
	// The domain knows no technology.
	{"host/internal/apierr", []string{"host/internal/rawjson"}},
	{"host/internal/rawjson", nil},
	{"host/internal/telemetry", []string{"abi"}},
	{"host/internal/auth", []string{"host/internal/apierr"}},
	{"host/internal/task", []string{"abi", "host/internal/apierr", "host/internal/auth"}},
	{"host/internal/chat", []string{"abi", "host/internal/apierr", "host/internal/auth", "host/internal/rawjson"}},
	{"host/internal/feature", []string{"host/internal/apierr"}},
	{"host/internal/network", []string{"host/internal/apierr", "host/internal/chat"}},
	{"host/internal/search", []string{"abi", "host/internal/apierr", "host/internal/auth", "host/internal/chat", "host/internal/feature", "host/internal/network", "host/internal/task"}},
	{"host/internal/export", []string{"host/internal/apierr", "host/internal/auth", "host/internal/chat", "host/internal/search", "host/internal/task"}},
	{"host/internal", []string{"abi", "host/internal"}},
	{"host", []string{"abi", "host"}},
	{"cmd", []string{"abi", "host", "examples/quickstart"}},
}

// The one room, or the few, that may import a module of others.
var owners = map[string][]string{
	"github.com/tetratelabs/wazero":        {"host/internal/wasm"},
	"github.com/gofiber/fiber/v2":          {"host/internal/httpapi"},
	"github.com/valyala/fasthttp":          {"host/internal/httpapi"},
	"github.com/dgraph-io/badger/v4":       {"host/internal/store"},
	"github.com/blevesearch":               {"host/internal/search"},
	"github.com/osteele/liquid":            {"host/internal/search"},
	"github.com/knadh/koanf":               {"host"},
	"github.com/golang-jwt/jwt/v5":         {"host/internal/auth"},
	"golang.org/x/crypto/ocsp":             {"host/internal/httpapi"},
	"golang.org/x/crypto/chacha20poly1305": {"host/internal/store"},
	"github.com/spf13/cobra":               {"cmd/parley"},
	"github.com/valyala/fastjson":          {"sdk", "plugins", "examples", "host/internal/rawjson"},
	"github.com/prometheus":                {"host/internal/metrics"},
	"github.com/fsnotify/fsnotify":         {"host/internal/watch"},
	"go.opentelemetry.io/otel":             {"host/internal/tracing"},
	"golang.org/x/mod":                     {"host/internal/plugin"},
	"aead.dev/minisign":                    {"host/internal/deploy"},
	"github.com/dustin/go-humanize":        {"host", "host/internal/store", "host/internal/export", "cmd/parley"},
	"github.com/parley-search/parley/sdk":  {"sdk", "plugins", "examples"},
}

// TestLayoutImports parses every file's imports and holds them to both tables.
// Test files are free to import sdk and plugins of the tree, but no technology
// of another room.
func TestLayoutImports(t *testing.T) {
	dir := root(t)
	checked := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != dir || d.Name() == "node_modules" || d.Name() == "testdata" || nestedModule(dir, path)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		checked++
		pkg, test := filepath.ToSlash(filepath.Dir(rel)), strings.HasSuffix(path, "_test.go")
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if msg := refused(pkg, name, test); msg != "" {
				t.Errorf("%s imports %s: %s", rel, name, msg)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 50 {
		t.Errorf("checked %d files, want the whole tree", checked)
	}
}

// refused says why a file of pkg may not import name, or nothing.
func refused(pkg, name string, test bool) string {
	if !test {
		for owned, rooms := range owners {
			if within(name, owned) && !slices.ContainsFunc(rooms, func(r string) bool { return within(pkg, r) }) {
				return "only " + strings.Join(rooms, ", ") + " may"
			}
		}
	}
	ours, ok := strings.CutPrefix(name, module+"/")
	if !ok || within(ours, pkg) {
		return ""
	}
	if test {
		return ""
	}
	for _, rule := range mayImport {
		if !within(pkg, rule.pkg) {
			continue
		}
		if within(ours, rule.pkg) || slices.ContainsFunc(rule.allowed, func(a string) bool { return within(ours, a) }) {
			return ""
		}
		return "the import table allows " + rule.pkg + " only " + strings.Join(rule.allowed, ", ")
	}
	return "no row of the import table fits"
}

// within reports whether path is parent or lies below it.
func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}

// nestedModule reports whether path is a Go module of its own.
func nestedModule(root, path string) bool {
	if path == root {
		return false
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}
