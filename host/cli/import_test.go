package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImport imports a file of each format in small requests into a running
// program and wants every document there.
func TestImport(t *testing.T) {
	t.Parallel()
	k := &killed{t: t, dir: t.TempDir()}
	c := k.start()
	defer c.kill()
	dir := t.TempDir()
	var array, lines, table strings.Builder
	table.WriteString("id:number;title\n")
	for i := range 300 {
		fmt.Fprintf(&array, "%c\n{\"id\":%d,\n\"title\":\"note %d\"}", "[,"[min(i, 1)], i, i)
		fmt.Fprintf(&lines, "{\"id\":%d,\"title\":\"note %d\"}\n", i, i)
		fmt.Fprintf(&table, "%d;note %d\n", i, i)
	}
	array.WriteString("]")
	for name, body := range map[string]string{"a.json": array.String(), "b.jsonl": lines.String(), "c.csv": table.String(), "d": lines.String()} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		index := name[:1]
		args := []string{"documents", "import", file, "--index", index, "--url", c.url + "/", "--request-size", "4KiB", "--csv-delimiter", ";"}
		if name == "d" {
			args = append(args, "--format", "ndjson", "--primary-key", "id", "--update")
		}
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, &out, &errs); code != 0 {
			t.Fatalf("import %s: exit status %d: %s", name, code, errs.String())
		}
		if !strings.HasPrefix(out.String(), "imported 300 documents in ") || strings.Contains(out.String(), " in 1 task ") || !strings.HasSuffix(out.String(), "into index "+index+"\n") {
			t.Errorf("import %s said %q", name, out.String())
		}
		if !strings.Contains(errs.String(), "sending 100%\n") || !strings.Contains(errs.String(), "indexing 100%\n") {
			t.Errorf("import %s showed %q", name, errs.String())
		}
		status, answer := c.call("GET", "/indexes/"+index+"/documents?limit=1&ids=299", "")
		if status != http.StatusOK || !strings.Contains(answer, `{"id":299,"title":"note 299"}`) {
			t.Errorf("document of %s: %d %s", name, status, answer)
		}
		if _, answer := c.call("GET", "/indexes/"+index+"/stats", ""); !strings.Contains(answer, `"numberOfDocuments":300,`) {
			t.Errorf("stats of %s: %s", name, answer)
		}
	}
	for name, body := range map[string]string{"films.json": `{"total":2,"movies":[{"id":298,"t":1},{"id":299,"t":2}]}`, "semi.csv": "id;title\n298;a, b\n299;c\n", "tabs.csv": "id\ttitle\n298\tx\n299\ty, z\n"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		index := strings.ReplaceAll(name, ".", "-")
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{"documents", "import", file, "--index", index, "--url", c.url}, &out, &errs); code != 0 || !strings.HasPrefix(out.String(), "imported 2 documents in ") {
			t.Errorf("import %s: exit status %d: %s%s", name, code, out.String(), errs.String())
		}
		if _, answer := c.call("GET", "/indexes/"+index+"/documents?ids=299", ""); !strings.Contains(answer, `"id":`) || !strings.Contains(answer, `299`) || strings.Contains(answer, "id;") {
			t.Errorf("document of %s: %s", name, answer)
		}
	}
	folder := t.TempDir()
	for step, text := range []string{"# Tea\n\nSteep it.\n", "# Tea\n\nSteep it.\n", ""} { // new, unchanged, emptied
		if err := os.WriteFile(filepath.Join(folder, "tea.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{"documents", "import", folder, "--index", "folder", "--url", c.url}, &out, &errs); code != 0 {
			t.Errorf("step %d of a folder: exit status %d: %s%s", step, code, out.String(), errs.String())
		}
	}
	bad := filepath.Join(dir, "bad.ndjson")
	if err := os.WriteFile(bad, []byte("{\"id\":1}\n{\"id\":\"a b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nothing := filepath.Join(dir, "nothing")
	if err := os.Mkdir(nothing, 0o700); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty.ndjson")
	for file, body := range map[string]string{filepath.Join(nothing, "a.xyz"): "x", filepath.Join(dir, "no.json"): "", empty: "\n \n", filepath.Join(dir, "none.json"): "[]", filepath.Join(dir, "head.csv"): "id,title\n"} {
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keyless, ambiguous := filepath.Join(dir, "keyless.json"), filepath.Join(dir, "ambiguous.json")
	for file, body := range map[string]string{keyless: `[{"title":"x"}]`, ambiguous: `[{"bookId":1,"authorId":2}]`} {
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no document":  {[]string{empty, "--index", "x"}, "it holds no document of the format ndjson"},
		"no byte":      {[]string{filepath.Join(dir, "no.json"), "--index", "x"}, "it holds no document of the format json"},
		"no file here": {[]string{nothing, "--index", "y"}, "no file was read"},
		"none listed":  {[]string{filepath.Join(dir, "none.json"), "--index", "x"}, "it holds no document of the format json"},
		"a head alone": {[]string{filepath.Join(dir, "head.csv"), "--index", "x", "--dry-run"}, "it holds no document of the format csv"},
		"no index":     {[]string{bad}, "--index"},
		"no file":      {[]string{filepath.Join(dir, "nope.json"), "--index", "x"}, "nope.json"},
		"no format":    {[]string{filepath.Join(dir, "d"), "--index", "x"}, "--format"},
		"bad format":   {[]string{bad, "--index", "x", "--format", "xml"}, "csv"},
		"not JSON":     {[]string{bad, "--index", "x", "--format", "json"}, "line 2"},
		"bad id":       {[]string{bad, "--index", "x"}, "Document 2, at line 2 of the payload: its id `a b` is not valid"},
		"nothing sent": {[]string{bad, "--index", "x"}, "(nothing was sent)"},
		"no such key":  {[]string{bad, "--index", "x", "--primary-key", "isbn"}, "it has no primary key `isbn`: name the field that holds the id with --primary-key, or have ids made with --generate-ids (nothing was sent)"},
		"another key":  {[]string{bad, "--index", "a", "--primary-key", "isbn"}, `index a has the primary key "id", and --primary-key is "isbn"`},
		"no key":       {[]string{keyless, "--index", "x"}, "no field of the first document has a name that ends in `id`; name the one that holds the id with --primary-key, or have ids made with --generate-ids (nothing was sent)"},
		"two keys":     {[]string{ambiguous, "--index", "x"}, "several fields that could be it (bookId, authorId)"},
		"of files":     {[]string{bad, "--index", "x", "--watch"}, "--watch is for files, and"},
		"of documents": {[]string{dir, "--index", "x", "--generate-ids"}, "--generate-ids is for documents, and"},
		"bad index":    {[]string{bad, "--index", "x y"}, "status 400"},
		"nobody":       {[]string{bad, "--index", "x", "--url", "http://127.0.0.1:1"}, "look at the index"},
		"bad size":     {[]string{bad, "--index", "x", "--request-size", "1"}, "--request-size"},
		"two commas":   {[]string{bad, "--index", "x", "--csv-delimiter", ";;"}, "--csv-delimiter"},
		"other route":  {[]string{bad, "--index", "x", "--url", c.url + "/nope"}, "status 404"},
	} {
		args := append([]string{"documents", "import"}, tt.args...)
		if !strings.Contains(strings.Join(args, " "), "--url") {
			args = append(args, "--url", c.url)
		}
		var out, errs bytes.Buffer
		if code := run(context.Background(), args, &out, &errs); code == 0 || !strings.Contains(errs.String(), tt.says) {
			t.Errorf("%s: exit status %d, said %s%s; want %q", name, code, out.String(), errs.String(), tt.says)
		}
	}
}

// TestImportWithoutIDs imports rows without ids twice, in other words the second time, and wants each
// there once; and nothing from a dry run.
func TestImportWithoutIDs(t *testing.T) {
	k := &killed{t: t, dir: t.TempDir()}
	c := k.start()
	defer c.kill()
	table, lines := filepath.Join(t.TempDir(), "a.csv"), filepath.Join(t.TempDir(), "a.ndjson")
	for file, body := range map[string]string{
		table: "title,id\nTea,\nCoffee,\nTea,\nMilk,7\n",
		lines: "{\"title\":\"Tea\"}\n{ \"id\": null, \"title\": \"Coffee\" }\n{\"title\":\"Cocoa\"}\n",
	} {
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		args, says string
		stored     int
	}{
		{table + " --dry-run", "4 documents would be sent to index rows\n", 0},
		{table, "imported 4 documents in 1 task into index rows\n", 3},
		{lines, "imported 3 documents in 1 task into index rows\n", 4},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"documents", "import", "--index", "rows", "--url", c.url, "--generate-ids"}, strings.Fields(step.args)...)
		if code := run(context.Background(), args, &out, &errs); code != 0 || out.String() != step.says {
			t.Errorf("%s: exit status %d, said %s%s; want %q", step.args, code, out.String(), errs.String(), step.says)
		}
		status, answer := c.call("GET", "/indexes/rows/stats", "")
		if want := fmt.Sprintf(`"numberOfDocuments":%d,`, step.stored); step.stored > 0 && !strings.Contains(answer, want) || step.stored == 0 && status != http.StatusNotFound {
			t.Errorf("%s: stats %s, want %s", step.args, answer, want)
		}
	}
	if status, answer := c.call("GET", "/indexes/rows/documents/7", ""); status != http.StatusOK || !strings.Contains(answer, "Milk") {
		t.Errorf("the row that brings an id: %d %s", status, answer)
	}
}

// TestImportMissing wants a path that is not there to be told as such, and not for its name.
func TestImportMissing(t *testing.T) {
	for _, args := range []string{"gone", "gone --source notes", "gone.json", "gone.md here", "gone.zip --dry-run"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"documents", "import", "--index", "x"}, strings.Fields(args)...), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), "look at what is to be imported: stat gone") {
			t.Errorf("%s: exit status %d, %s", args, code, errs.String())
		}
	}
}
