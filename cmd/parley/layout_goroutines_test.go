package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// ownGoroutines says for each file of the host that starts goroutines without package contain
// why a panic there does not end the process, or why it may.
var ownGoroutines = map[string]string{
	"host/e2e/":                                   "tests",
	"host/cli/":                                   "commands: a fault ends them",
	"host/host.go":                                "closes a channel",
	"host/internal/base/contain/":                 "contains",
	"host/internal/setup/meilidump/take.go":       "a command's; the queue contains tasks",
	"host/internal/search/index/unite.go":         "Index.contain halts the index",
	"host/internal/search/reader/pdf/":            "recovers",
	"host/internal/chat/calls.go":                 "recovers",
	"host/internal/api/mcp/mcp.go":                "recovers",
	"host/internal/api/httpapi/":                  "handlers recover; the rest waits, or writes bytes to a connection",
	"host/internal/plugin/build_progress.go":      "a command's",
	"host/internal/plugin/wasm/":                  "wazero is contained by fault.go",
	"host/internal/cluster/natsd/":                "tests",
	"host/internal/egress/upstream/upstreamtest/": "tests",
	"host/internal/chat/chattest/":                "tests",
}

// TestGoroutinesAreContained: whatever starts a goroutine in the host says who contains its
// panics, by package contain or by a row above.
func TestGoroutinesAreContained(t *testing.T) {
	used := map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "host"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		contains, starts := false, false
		for _, i := range file.Imports {
			contains = contains || strings.HasSuffix(i.Path.Value, `/internal/base/contain"`)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
					starts = true
				}
			}
			return true
		})
		if !starts || contains {
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		for row := range ownGoroutines {
			if strings.HasPrefix(name, row) {
				used[row] = true
				return nil
			}
		}
		t.Errorf("%s starts goroutines: have package contain keep a panic there from ending the process, or say in ownGoroutines why that is not needed", name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for row := range ownGoroutines {
		if !used[row] {
			t.Errorf("ownGoroutines has %s, which starts none", row)
		}
	}
}
