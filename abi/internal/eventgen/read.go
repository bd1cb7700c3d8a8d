package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// directive precedes the number of an event's kind in its doc comment.
const directive = "//parley:event "

// A catalogue is what package event declares, in the order of the kinds.
type catalogue struct {
	events  []declaration
	labels  map[string][]string // of enums, by the name of their type
	locales []string
}

// A declaration is one event.
type declaration struct {
	kind   int
	goName string
	name   string // on the wire
	about  string // its doc comment in one line, for Markdown
	fields []field
}

// A field is one field of an event.
type field struct {
	name       string // on the wire
	goType     string
	vocabulary string // of a handle
	meaning    string
	words      int
}

// readCatalogue parses the package in dir.
func readCatalogue(dir string) (catalogue, error) {
	c := catalogue{labels: map[string][]string{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return c, err
	}
	lists := map[string][]string{} // of strings, by the variable that holds them
	var methods []*ast.FuncDecl
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "kinds.go" {
			continue
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			return c, err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "Labels" && d.Recv != nil {
					methods = append(methods, d)
				}
			case *ast.GenDecl:
				readLists(d, lists)
				if err := c.readEvents(d); err != nil {
					return c, fmt.Errorf("%s: %w", files.Position(d.Pos()), err)
				}
			}
		}
	}
	for _, m := range methods {
		enum := m.Recv.List[0].Type.(*ast.Ident).Name
		if c.labels[enum], err = readLabels(m, lists); err != nil {
			return c, err
		}
	}
	c.locales = c.labels["Locale"]
	slices.SortFunc(c.events, func(a, b declaration) int { return a.kind - b.kind })
	for i, e := range c.events {
		if e.kind != i+1 {
			return c, fmt.Errorf("%s has the kind %d, want %d: kinds count from 1, without gaps and each once", e.goName, e.kind, i+1)
		}
	}
	return c, nil
}

// readEvents adds the events that d declares.
func (c *catalogue) readEvents(d *ast.GenDecl) error {
	if d.Tok != token.TYPE || d.Doc == nil {
		return nil
	}
	for _, line := range d.Doc.List {
		number, ok := strings.CutPrefix(line.Text, directive)
		if !ok {
			continue
		}
		spec := d.Specs[0].(*ast.TypeSpec)
		kind, err := strconv.Atoi(number)
		if err != nil || kind < 1 || kind > 63 {
			return fmt.Errorf("%s has the kind %q: want a number from 1 to 63", spec.Name.Name, number)
		}
		body, ok := spec.Type.(*ast.StructType)
		if !ok {
			return fmt.Errorf("%s is not a struct: want one", spec.Name.Name)
		}
		e := declaration{kind: kind, goName: spec.Name.Name, name: snakeCase(spec.Name.Name), about: markdownLine(d.Doc.Text())}
		for _, f := range body.Fields.List {
			if e.fields, err = appendFields(e.fields, f); err != nil {
				return fmt.Errorf("%s: %w", e.goName, err)
			}
		}
		c.events = append(c.events, e)
	}
	return nil
}

// appendFields appends the one field that f declares.
func appendFields(fields []field, f *ast.Field) ([]field, error) {
	if len(f.Names) != 1 {
		return nil, fmt.Errorf("a line declares %d fields: want one", len(f.Names))
	}
	var tag reflect.StructTag
	if f.Tag != nil {
		text, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil, err
		}
		tag = reflect.StructTag(text)
	}
	one := field{name: tag.Get("name"), vocabulary: tag.Get("vocabulary"), meaning: markdownLine(f.Comment.Text()), words: 1}
	if one.name == "" {
		one.name = snakeCase(f.Names[0].Name)
	}
	switch t := f.Type.(type) {
	case *ast.Ident:
		one.goType = t.Name
	case *ast.IndexExpr: // Set[E]
		one.goType = t.X.(*ast.Ident).Name + "[" + t.Index.(*ast.Ident).Name + "]"
	default:
		return nil, fmt.Errorf("field %s is not a 64-bit word: want a type of this package", f.Names[0].Name)
	}
	if one.goType == "Locales" {
		one.words = 2
	}
	return append(fields, one), nil
}

// readLists adds the variables of d that are lists of strings.
func readLists(d *ast.GenDecl, lists map[string][]string) {
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if list, ok := stringsOf(v.Values[0]); ok {
				lists[v.Names[0].Name] = list
			}
		}
	}
}

// readLabels returns what the method Labels of an enum returns: a literal, or
// all of a variable.
func readLabels(m *ast.FuncDecl, lists map[string][]string) ([]string, error) {
	if r, ok := m.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
		if list, ok := stringsOf(r.Results[0]); ok {
			return list, nil
		}
		if s, ok := r.Results[0].(*ast.SliceExpr); ok {
			return lists[s.X.(*ast.Ident).Name], nil
		}
	}
	return nil, fmt.Errorf("method Labels of %s: want it to return a list of strings", m.Recv.List[0].Type)
}

// stringsOf returns the strings of a composite literal of them.
func stringsOf(e ast.Expr) (list []string, ok bool) {
	c, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	for _, e := range c.Elts {
		lit, ok := e.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return nil, false
		}
		s, err := strconv.Unquote(lit.Value)
		if err != nil {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// snakeCase returns the name on the wire of an event or field of that Go name.
func snakeCase(goName string) string {
	var b strings.Builder
	runes := []rune(goName)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

var typeLink = regexp.MustCompile(`\[[A-Z][A-Za-z]*\]`)

// markdownLine returns a comment as one line of a Markdown table.
func markdownLine(comment string) string {
	var p doc.Package
	s := strings.Join(strings.Fields(string(p.Text(comment))), " ")
	s = typeLink.ReplaceAllStringFunc(s, func(link string) string { return "`" + snakeCase(link[1:len(link)-1]) + "`" })
	return strings.NewReplacer("|", "\\|", "*", "\\*").Replace(s)
}
