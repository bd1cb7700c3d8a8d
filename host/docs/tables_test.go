package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTables checks every table of every text: it has a line below its header, and
// as many cells in each row as in the header. GitHub shows others as plain text, or
// without the cells that are too many.
func TestTables(t *testing.T) {
	root := filepath.Join("..", "..")
	tables := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"node_modules", "dist", "testdata"}, d.Name()) || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, errs := checkTables(string(b))
		tables += found
		for _, e := range errs {
			t.Errorf("%s: %s", path, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tables < 100 {
		t.Errorf("found %d tables, want those of all texts", tables)
	}
}

var belowHead = regexp.MustCompile(`^\|( *:?-+:? *\|)+$`)

// checkTables returns how many tables a page has, and what is wrong with them.
func checkTables(page string) (tables int, errs []string) {
	code, n, row, cells := false, 0, 0, 0
	for line := range strings.Lines(page) {
		n++
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if code || !strings.HasPrefix(line, "|") {
			if row == 1 {
				errs = append(errs, fmt.Sprintf("line %d: a row without a table", n-1))
			}
			row = 0
			continue
		}
		row++
		// A bar divides cells in code, too, unless a backslash is before it.
		got := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1
		switch row {
		case 1:
			tables++
			cells = got
		case 2:
			if !belowHead.MatchString(line) {
				errs = append(errs, fmt.Sprintf("line %d: want |---| below the header of a table", n))
			}
			fallthrough
		default:
			if got != cells || !strings.HasSuffix(line, "|") {
				errs = append(errs, fmt.Sprintf("line %d: a row of %d cells below a header of %d: %.60s", n, got, cells, line))
			}
		}
	}
	return tables, errs
}

// TestCheckTables gives the check a table of each kind.
func TestCheckTables(t *testing.T) {
	for _, tt := range []struct {
		name, page string
		tables     int
		errs       int
	}{
		{"right", "|a|b|\n|---|:-:|\n|1|2 \\| 3|\n\ntext\n\n|c|\n|-|\n", 2, 0},
		{"a cell too many", "|a|b|\n|---|---|\n|1|2|3|\n", 1, 1},
		{"a row that is wrapped", "|a|b|\n|---|---|\n|1|two\nlines|\n", 1, 1},
		{"a row after a gap", "|a|b|\n|---|---|\n\n|1|2|\n\n", 2, 1},
		{"no line below the header", "|a|b|\n|1|2|\n", 1, 1},
		{"code", "```\n|a|b|c\n|d\n```\n", 0, 0},
	} {
		if tables, errs := checkTables(tt.page); tables != tt.tables || len(errs) != tt.errs {
			t.Errorf("%s: %d tables, errors %q; want %d and %d errors", tt.name, tables, errs, tt.tables, tt.errs)
		}
	}
}
