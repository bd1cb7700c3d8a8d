// Command systems checks the types of packages as other systems would build
// them, tests included. It reads sources alone: building for a system that
// nothing here is run on would take minutes.
//
//	go run ./.ci/systems darwin,freebsd,windows ./cmd/... ./host/...
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: systems GOOS[,GOOS...] package...")
		os.Exit(2)
	}
	failed := false
	for system := range strings.SplitSeq(os.Args[1], ",") {
		ok, err := check(system, os.Args[2:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "systems: %s: %v\n", system, err)
			os.Exit(2)
		}
		failed = failed || !ok
	}
	if failed {
		os.Exit(1)
	}
}

// check prints what keeps the packages from being built for system, and reports
// whether nothing does.
func check(system string, patterns []string) (bool, error) {
	root, err := os.Getwd()
	if err != nil {
		return false, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedModule,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
		ParseFile: func(files *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, root) {
				dropBodies(file) // of others' code the declarations are enough
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		return false, err
	}
	count := 0
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.PkgPath, ".test") {
			return // without bodies, whose lack is not an error of ours
		}
		for _, e := range p.Errors {
			fmt.Printf("%s: %v\n", system, e)
			count++
		}
	})
	fmt.Printf("%s: %d packages, %d errors\n", system, len(loaded), count)
	return count == 0 && len(loaded) > 0, nil
}

// dropBodies leaves of the functions in file what other packages see.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
