package store

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// all returns everything in s, but what belongs to one database alone.
func all(t *testing.T, s *Store) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := s.db.View(func(tx *badger.Txn) error {
		return scan(tx, nil, func(key, value []byte) (bool, error) {
			if !ownSwitch(string(key)) {
				got[string(key)] = string(value)
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func fill(t *testing.T, s *Store, records map[string]string) {
	t.Helper()
	err := s.update(func(tx txn) error {
		for k, v := range records {
			if err := tx.Set([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func open2(t *testing.T) *Store {
	t.Helper()
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestExportImport(t *testing.T) {
	from, to := open2(t), open2(t)
	records := map[string]string{
		"m/features":                  `{"metrics":true}`,
		"m/keys":                      "1",
		"k/uid":                       `{"name":"ä \u2028 <b>"}`,
		"w/demo":                      `{"source":"x"}`,
		"i/movies":                    `{"UID":"movies","LastSeq":18446744073709551615}`,
		"d/docs/one":                  "\x00\x00\x00\x00\x00\x00\x00\x07" + `{"id":"one","n":1.0e+2}`,
		"d/docs/odd":                  "\x00\x00\x00\x00\x00\x00\x00\x08no JSON",
		"v/docs/\x00\x00\x00\x01/one": "\x01\xff\x00binary",
		"t/\x00\x00\x00\x05":          `{"UID":5}`,
		"t/\x00\x00\x00\x09":          `{"UID":9}`,
		"p/\x00\x00\x00\x05":          "{}\n[1,2]",
		"p/\x00\x00\x00\x09":          "x",
		"b/\x00\x00\x00\x05":          `{"UID":5}`,
		"r/\x00\x00\x00\x05":          `{}`,
		"e/\x00\x00\x00\x05":          `{"Index":"movies"}`,
	}
	fill(t, from, records)
	fill(t, from, map[string]string{"o/docs/\x00": "derived", "x/ts": "derived", "y/te": "derived"})
	err := from.Export(t.Context(), 9, func(k Kind, write func(io.Writer) error) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		_, err := to.Import(t.Context(), k, &b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(records, "t/\x00\x00\x00\x09")
	delete(records, "p/\x00\x00\x00\x09")
	if got := all(t, to); fmt.Sprint(got) != fmt.Sprint(records) {
		t.Errorf("imported %q\nwant     %q", got, records)
	}
}

func TestImportRefuses(t *testing.T) {
	s := open2(t)
	kind := func(name string) Kind {
		return Kinds()[slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == name })]
	}
	for _, tt := range []struct{ kind, lines, want string }{
		{"keys", "{\"key\":\"a\",\"value\":1}\nnonsense\n", "line 2"},
		{"keys", `{"key":"a","keyBytes":"YQ==","value":1}`, "no key, or two"},
		{"keys", `{"value":1}`, "no key, or two"},
		{"keys", `{"key":"a","value":1,"bytes":"YQ=="}`, "two values"},
		{"keys", `{"key":"a","vaule":1}`, "vaule"},
		{"switches", `{"key":"format","value":9}`, "m/format"},
	} {
		if _, err := s.Import(t.Context(), kind(tt.kind), strings.NewReader(tt.lines)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Import %s = %v, want an error with %q", tt.lines, err, tt.want)
		}
	}
}

// Every prefix of the schema is either in a dump or derived from what is.
func TestKindsAreAll(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "store.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	known := derived()
	for _, k := range Kinds() {
		known = append(known, k.prefix)
	}
	found := 0
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(v.Names[0].Name, "prefix") {
			return true
		}
		found++
		prefix, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil || !slices.Contains(known, prefix) {
			t.Errorf("%s (%q) is neither exported nor derived: give it a line in Kinds or derived", v.Names[0].Name, prefix)
		}
		return true
	})
	if found < 10 {
		t.Errorf("%d prefixes found in store.go, want all", found)
	}
}

func TestBackupRestore(t *testing.T) {
	from, to := open2(t), open2(t)
	records := map[string]string{"w/demo": `{"source":"x"}`, "x/ts\x00": "kept too", "d/docs/one": "\x00\x00\x00\x00\x00\x00\x00\x07{}"}
	fill(t, from, records)
	var b bytes.Buffer
	if err := from.Backup(&b); err != nil {
		t.Fatal(err)
	}
	if err := to.Restore(&b); err != nil {
		t.Fatal(err)
	}
	if got := all(t, to); fmt.Sprint(got) != fmt.Sprint(records) {
		t.Errorf("restored %q, want %q", got, records)
	}
}
