package main

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
		if !strings.HasPrefix(out.String(), "300 documents in ") || strings.Contains(out.String(), " in 1 tasks") || !strings.HasSuffix(out.String(), "are in index "+index+"\n") {
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
	bad := filepath.Join(dir, "bad.ndjson")
	if err := os.WriteFile(bad, []byte("{\"id\":1}\n{\"id\":\"a b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"no index":    {[]string{bad}, "--index"},
		"no file":     {[]string{filepath.Join(dir, "nope.json"), "--index", "x"}, "nope.json"},
		"no format":   {[]string{filepath.Join(dir, "d"), "--index", "x"}, "--format"},
		"bad format":  {[]string{bad, "--index", "x", "--format", "xml"}, "csv"},
		"no JSON":     {[]string{bad, "--index", "x", "--format", "json"}, "line 2"},
		"task fails":  {[]string{bad, "--index", "x"}, "Document 2, at line 2"},
		"bad index":   {[]string{bad, "--index", "x y"}, "status 400"},
		"nobody":      {[]string{bad, "--index", "x", "--url", "http://127.0.0.1:1"}, "send documents"},
		"bad size":    {[]string{bad, "--index", "x", "--request-size", "1"}, "--request-size"},
		"two commas":  {[]string{bad, "--index", "x", "--csv-delimiter", ";;"}, "--csv-delimiter"},
		"other route": {[]string{bad, "--index", "x", "--url", c.url + "/nope"}, "status 404"},
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
