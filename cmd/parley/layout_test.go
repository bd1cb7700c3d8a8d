package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
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
		"host", "plugins", "sdk", "abi", "cmd", "examples", "go.mod", "go.sum", "justfile", "README.md", "sources.go", ".github",
		".ci", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", ".git", ".gitignore", ".gitattributes",
		"data", "dumps", "snapshots", "pinned", "config.toml", "parley", "dist", // git-ignored: what running leaves
	}
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s is at the top level: it belongs in one of the folders there", e.Name())
		}
	}
}

// TestLayoutImports holds each import of the tree to the table. Test files are
// free: they use what a user would.
func TestLayoutImports(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range sourceFiles(t) {
		seen[f.pkg] = true
		for _, name := range f.imports {
			if msg := refused(f.pkg, name); msg != "" {
				t.Errorf("%s imports %s: %s", f.name, name, msg)
			}
		}
		if _, ok := rowOf(f.pkg); !ok {
			t.Errorf("%s: package %s has no row in the table of layout_table_test.go: add one", f.name, f.pkg)
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d packages checked, want the whole tree", len(seen))
	}
	for _, r := range layout {
		if name := r.path(); !strings.HasSuffix(name, "/...") && r.layer != layerTests && !seen[name] {
			t.Errorf("the table has a row of %s, which is no package", name)
		}
	}
}

// TestLayoutTable holds the table to itself: a row names only layers that its
// own may see, and a module has one owner.
func TestLayoutTable(t *testing.T) {
	owner := map[string]string{}
	for _, r := range layout {
		for _, msg := range r.faults() {
			t.Error(msg)
		}
		for _, m := range strings.Fields(r.modules) {
			if by := owner[m]; by != "" && !slices.Contains(shared, m) {
				t.Errorf("%s and %s both own %s", by, r.path(), m)
			}
			owner[m] = r.path()
		}
	}
}

// TestLayoutTests wants tests in each package that is large, so that a change there is tested where it is made.
// Packages that help tests need none.
func TestLayoutTests(t *testing.T) {
	const large = 400 // lines
	lines := map[string]int{}
	for _, f := range sourceFiles(t) {
		lines[f.pkg] += f.lines
	}
	for pkg, n := range lines {
		r, _ := rowOf(pkg)
		if n <= large || r.layer == layerTests || strings.HasSuffix(pkg, "test") {
			continue
		}
		if tests, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(pkg), "*_test.go")); err != nil || len(tests) == 0 {
			t.Errorf("package %s has %d lines and no test of its own: write one that needs no service (%v)", pkg, n, err)
		}
	}
}

// TestLayoutRefuses tests the test: an import of each forbidden kind is caught.
func TestLayoutRefuses(t *testing.T) {
	for _, tt := range []struct{ what, pkg, name, want string }{
		{"a package without a row", "host/internal/newcomer", module + "/abi", "no row"},
		{"a subpackage without a row", "host/internal/access/auth/newcomer", module + "/host/internal/access/auth", "no row"},
		{"a module without an owner", "host/internal/chat", "example.com/module", "owns no such module"},
		{"a module of another package", "host/internal/chat", "github.com/dgraph-io/badger/v4", "owns no such module"},
		{"a module of the package above", "host/internal/search/filter", "github.com/blevesearch/bleve/v2", "owns no such module"},
		{"a module of composition", "host/internal/base/watch", "github.com/knadh/koanf/v2", "owns no such module"},
		{"a shared module that is not in the row", "host/internal/base/watch", "github.com/dustin/go-humanize", "owns no such module"},
		{"a package that begins like the owner's", "host/internal/base/watch", "github.com/fsnotify/fsnotifyer", "owns no such module"},
		{"technology by the domain", "host/internal/chat", module + "/host/internal/data/store", "does not name it"},
		{"technology by technology", "host/internal/base/watch", module + "/host/internal/api/httpapi", "does not name it"},
		{"the domain by a leaf", "host/internal/base/secret", module + "/host/internal/chat", "does not name it"},
		{"composition by technology", "host/internal/api/httpapi", module + "/host/internal/setup/config", "does not name it"},
		{"the SDK by the host", "host", module + "/sdk/provider", "does not name it"},
		{"the host by a plugin", "plugins/provider/vllm", module + "/host", "does not name it"},
		{"a package below one that is allowed", "host/internal/telemetry/tracing", module + "/host/internal/chat/chattest", "does not name it"},
		{"tests of the whole", "cmd/parley", module + "/host/e2e", "does not name it"},
	} {
		if got := refused(tt.pkg, tt.name); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s imports %s: refused with %q, want %q", tt.what, tt.pkg, tt.name, got, tt.want)
		}
	}
	for pkg, name := range map[string]string{
		"host/internal/data/store": "github.com/dgraph-io/badger/v4/options", "host/internal/chat": module + "/host/internal/base/secret",
		"host": module + "/host/internal/plugin/wasm", "plugins/provider/vllm": module + "/sdk/provider", "host/internal/base/secret": "crypto/sha256",
	} {
		if got := refused(pkg, name); got != "" {
			t.Errorf("%s imports %s: refused with %q, want it allowed", pkg, name, got)
		}
	}
	for what, r := range map[string]row{
		"technology in a row of the domain": {layerDomain, "~chat", "~data/store", ""},
		"the domain in a row of a leaf":     {layerLeaf, "~base/secret", "~chat", ""},
		"a package that is not there":       {layerDomain, "~chat", "~nothing", ""},
	} {
		if len(r.faults()) == 0 {
			t.Errorf("%s: no fault found in %+v", what, r)
		}
	}
}

// refused says why files of pkg may not import name; empty: they may.
func refused(pkg, name string) string {
	r, ok := rowOf(pkg)
	if !ok {
		return "package " + pkg + " has no row"
	}
	if name == module {
		name = module + "/." // the package at the top
	}
	if ours, ok := strings.CutPrefix(name, module+"/"); ok {
		if !slices.ContainsFunc(r.mayImport(), func(a string) bool { return matches(ours, a) }) {
			return "the row of " + pkg + " does not name it: move what needs it, or extend the row in layout_table_test.go"
		}
		return ""
	}
	first, _, _ := strings.Cut(name, "/")
	if strings.Contains(first, ".") && !slices.ContainsFunc(strings.Fields(r.modules), func(m string) bool { return within(name, m) }) {
		return "the row of " + pkg + " owns no such module"
	}
	return ""
}

// rowOf finds the row of a package: its own, or that of a tree that it is in.
func rowOf(pkg string) (row, bool) {
	i := slices.IndexFunc(layout, func(r row) bool { return matches(pkg, r.path()) })
	if i < 0 {
		return row{}, false
	}
	return layout[i], true
}

func (r row) path() string { return expand(r.pkg) }

func (r row) mayImport() []string { return strings.Fields(expand(r.ours)) }

// faults lists what r names that its layer may not see.
func (r row) faults() (all []string) {
	for _, name := range r.mayImport() {
		known := false
		for _, other := range layout {
			if !matches(other.path(), name) && !matches(name, other.path()) {
				continue
			}
			known = true
			if !slices.Contains(maySee[r.layer], other.layer) {
				all = append(all, fmt.Sprintf("the row of %s (%s) names %s (%s)", r.path(), r.layer, other.path(), other.layer))
			}
		}
		if !known {
			all = append(all, fmt.Sprintf("the row of %s names %s, which has no row", r.path(), name))
		}
	}
	return all
}

// expand puts the full path in place of ~.
func expand(s string) string { return strings.ReplaceAll(s, "~", "host/internal/") }

// matches reports whether pkg is what a row names: a package, or any of a tree.
func matches(pkg, name string) bool {
	if tree, ok := strings.CutSuffix(name, "/..."); ok {
		return within(pkg, tree)
	}
	return pkg == name
}

// A sourceFile is a file of Go that is no test.
type sourceFile struct {
	name, pkg string
	imports   []string
	doc       string // of the package, where it is in this file
	lines     int
	exported  int // names at the top
}

// sourceFiles reads all of the module.
func sourceFiles(t *testing.T) (files []sourceFile) {
	t.Helper()
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != dir || d.Name() == "node_modules" || d.Name() == "testdata" || nestedModule(dir, path)) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := sourceFile{
			name: filepath.ToSlash(rel), pkg: filepath.ToSlash(filepath.Dir(rel)), doc: parsed.Doc.Text(),
			lines: bytes.Count(text, []byte("\n")), exported: countExported(parsed),
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, name)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// countExported counts the exported names that f declares at its top, methods
// not among them.
func countExported(f *ast.File) (n int) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

const layoutPage = "host/docs/explanation/architecture.md"

// TestArchitecturePage writes the table for people, with what each package says of
// itself; -v logs how large each is.
func TestArchitecturePage(t *testing.T) {
	synopsis, lines, exported := map[string]string{}, map[string]int{}, map[string]int{}
	for _, f := range sourceFiles(t) {
		if f.doc != "" {
			synopsis[f.pkg] = strings.TrimSuffix(new(doc.Package).Synopsis(f.doc), ".")
		}
		lines[f.pkg] += f.lines
		exported[f.pkg] += f.exported
	}
	var b strings.Builder
	b.WriteString(layoutHead)
	b.WriteString(wingDiagram())
	for _, l := range layers {
		fmt.Fprintf(&b, "\n## %s%s\n\n| package | what it is | may import | owns |\n|---|---|---|---|\n", strings.ToUpper(string(l[:1])), l[1:])
		for _, r := range layout {
			if r.layer != l {
				continue
			}
			what := synopsis[r.path()]
			if _, rest, ok := strings.Cut(what, " "+path.Base(r.path())+" "); ok {
				what = rest
			}
			ours, modules := strings.Fields(r.ours), strings.Fields(r.modules)
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.pkg, what, strings.Join(ours, ", "), strings.Join(modules, ", "))
			t.Logf("%-42s %6d lines %4d exported names", r.path(), lines[r.path()], exported[r.path()])
		}
	}
	file := filepath.Join(root(t), filepath.FromSlash(layoutPage))
	old, err := os.ReadFile(file)
	if err == nil && string(old) == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the table and the packages say: UPDATE=1 go test ./cmd/parley -run TestArchitecturePage writes it", layoutPage)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(b.String()), 0o644)); err != nil {
		t.Fatal(err)
	}
}

const layoutHead = `# Architecture

Written by ` + "`UPDATE=1 go test ./cmd/parley -run TestArchitecturePage`" + ` from the table in
[layout_table_test.go](../../../cmd/parley/layout_table_test.go) and the comments of the packages.

A package may import what its row names, and nothing else but the standard library. Each module of
others has one owner, but for a few that are types or small helpers. ` + "`~`" + ` stands for ` + "`host/internal/`" + `.

A request goes from ` + "`~api/httpapi`" + ` to the domain (` + "`~chat`, `~search`, `~task`" + `), which asks for what it needs by
interfaces of its own: of ` + "`~data/store`" + ` for what lasts, of ` + "`~plugin`" + ` over ` + "`~plugin/wasm`" + ` for the words of a provider, of
` + "`~egress/upstream`" + ` for what leaves the host. ` + "`host`" + ` opens them in order and connects them.

The wings of ` + "`host/internal`" + `, from the one that knows all others down. Each may import those that it
points at, and those that these point at. All import ` + "`base`" + `.

`

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
