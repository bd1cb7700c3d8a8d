package event_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi/event"
)

const (
	readme    = "../README.md"
	tableHead = "<!-- events: written by UPDATE=1 go test ./abi/event -run TestReadme -->\n"
	tableEnd  = "<!-- end of events -->\n"
)

// TestReadme holds the catalogue in the specification to the code. With
// UPDATE=1 it writes it.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(b), tableHead)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the catalogue", readme)
	}
	want := before + tableHead + render(t) + tableEnd + after
	if string(b) == want {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("the catalogue in %s is not what the code says: UPDATE=1 go test ./abi/event -run TestReadme", readme)
	}
	if err := os.WriteFile(readme, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// comments are what the source says of a type and of its fields.
type comments struct {
	about  string
	fields map[string]string
}

func sourceComments(t *testing.T) map[string]comments {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]comments{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				st, ok := spec.Type.(*ast.StructType)
				if !ok {
					continue
				}
				c := comments{oneLine(g.Doc.Text()), map[string]string{}}
				for _, field := range st.Fields.List {
					c.fields[field.Names[0].Name] = oneLine(field.Comment.Text())
				}
				all[spec.Name.Name] = c
			}
		}
	}
	return all
}

var typeLink = regexp.MustCompile(`\[[A-Z][A-Za-z]*\]`)

func oneLine(s string) string {
	var p doc.Package
	s = strings.Join(strings.Fields(string(p.Text(s))), " ")
	s = typeLink.ReplaceAllStringFunc(s, func(link string) string { return "`" + nameOf(link[1:len(link)-1]) + "`" })
	return strings.NewReplacer("|", "\\|", "*", "\\*").Replace(s)
}

// render writes the catalogue as tables.
func render(t *testing.T) string {
	said := sourceComments(t)
	var b strings.Builder
	for i, e := range catalogue {
		typ := reflect.TypeOf(e)
		c := said[typ.Name()]
		about := strings.TrimPrefix(c.about, typ.Name()+" ")
		about = strings.TrimPrefix(about, "is ")
		fmt.Fprintf(&b, "\n### %d `%s`\n\n%s%s\n\n| # | Field | Kind | Meaning |\n|---|---|---|---|\n",
			i+1, event.Kind(i+1), strings.ToUpper(about[:1]), about[1:])
		for n := range typ.NumField() {
			f := typ.Field(n)
			kind, labels := kindOfField(t, typ, f)
			meaning := c.fields[f.Name]
			switch {
			case kind == "handle":
				kind = "handle, `" + labels[0] + "`"
			case f.Type == reflect.TypeFor[event.Locales]():
				kind = "set of locales"
			case len(labels) > 0:
				kind += ": `" + strings.Join(labels, "`, `") + "`"
			}
			number := fmt.Sprint(f.Offset / 8)
			if k := words(f.Type); k > 1 {
				number = fmt.Sprintf("%d–%d", f.Offset/8, int(f.Offset/8)+k-1)
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", number, fieldName(f), kind, meaning)
		}
	}
	fmt.Fprintf(&b, "\nLocales, from ordinal 1: %s.\n", strings.Join(locales, " "))
	return b.String()
}
