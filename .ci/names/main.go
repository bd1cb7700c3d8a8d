// Command names looks at how functions are named. It prints the share of
// unexported package functions that have one word for a name, by package, and
// the names that mean something else in each package that has them. It fails
// where the share is above the bound.
//
//	go run ./.ci/names [-v] [bound in percent]
//
// A name of one word says neither what is done nor to what: parseFilter, not
// parse. Methods do not count, since their receiver says the noun; nor do main,
// init, tests and generated files.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A function is one that counts.
type function struct {
	name, pkg string
	signature string // types of its parameters and results
}

func main() {
	verbose := flag.Bool("v", false, "print the names of one word, too")
	flag.Parse()
	bound := 100.0
	if flag.NArg() > 0 {
		var err error
		if bound, err = strconv.ParseFloat(flag.Arg(0), 64); err != nil {
			fmt.Fprintf(os.Stderr, "names: the bound is %q: want a percentage\n", flag.Arg(0))
			os.Exit(2)
		}
	}
	all, err := readFunctions(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "names:", err)
		os.Exit(2)
	}
	printShares(all, *verbose)
	printMeanings(all)
	short := countOneWord(all)
	share := 100 * float64(short) / float64(max(len(all), 1))
	fmt.Printf("%d of %d unexported package functions have a name of one word: %.1f %%\n", short, len(all), share)
	if share > bound {
		fmt.Printf("want at most %g %%: name a function by verb and object\n", bound)
		os.Exit(1)
	}
}

// readFunctions returns the functions that count below root.
func readFunctions(root string) (all []function, err error) {
	files := token.NewFileSet()
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && (base == "testdata" || base == "node_modules" || name != root && strings.HasPrefix(base, ".")):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && !fn.Name.IsExported() && fn.Name.Name != "main" && fn.Name.Name != "init" {
				all = append(all, function{fn.Name.Name, filepath.ToSlash(filepath.Dir(name)), describeType(files, fn.Type)})
			}
		}
		return nil
	})
	return all, err
}

// describeType prints a function's types without the names of its parameters.
func describeType(files *token.FileSet, t *ast.FuncType) string {
	var b bytes.Buffer
	for _, list := range []*ast.FieldList{t.Params, t.Results} {
		b.WriteByte('(')
		if list != nil {
			for _, field := range list.List {
				for range max(len(field.Names), 1) {
					printer.Fprint(&b, files, field.Type)
					b.WriteByte(',')
				}
			}
		}
		b.WriteByte(')')
	}
	return b.String()
}

func isOneWord(name string) bool { return !strings.ContainsFunc(name, unicode.IsUpper) }

func countOneWord(all []function) (n int) {
	for _, f := range all {
		if isOneWord(f.name) {
			n++
		}
	}
	return n
}

// printShares prints a line for each package that has names of one word.
func printShares(all []function, verbose bool) {
	by := map[string][]function{}
	for _, f := range all {
		by[f.pkg] = append(by[f.pkg], f)
	}
	var packages []string
	for pkg, list := range by {
		if countOneWord(list) > 0 {
			packages = append(packages, pkg)
		}
	}
	slices.SortFunc(packages, func(a, b string) int {
		if n := countOneWord(by[b]) - countOneWord(by[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for _, pkg := range packages {
		fmt.Printf("%4d of %4d  %s\n", countOneWord(by[pkg]), len(by[pkg]), pkg)
		if !verbose {
			continue
		}
		var names []string
		for _, f := range by[pkg] {
			if isOneWord(f.name) {
				names = append(names, f.name)
			}
		}
		slices.Sort(names)
		fmt.Printf("              %s\n", strings.Join(slices.Compact(names), " "))
	}
}

// printMeanings prints the names that several packages give to functions of
// different types.
func printMeanings(all []function) {
	by := map[string][]function{}
	for _, f := range all {
		by[f.name] = append(by[f.name], f)
	}
	var lines []string
	for name, list := range by {
		packages, signatures := map[string]bool{}, map[string]bool{}
		for _, f := range list {
			packages[path.Base(f.pkg)], signatures[f.signature] = true, true
		}
		if len(packages) > 1 && len(signatures) > 1 {
			lines = append(lines, fmt.Sprintf("%s (%d types in %d packages)", name, len(signatures), len(packages)))
		}
	}
	slices.Sort(lines)
	fmt.Printf("%d names have more than one meaning: %s\n", len(lines), strings.Join(lines, ", "))
}
