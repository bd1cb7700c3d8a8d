package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Files can be seen: which ones an index has, and the text of each as it was read, for programs and browsers.
func TestFileViews(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	long := strings.Repeat("The kettle is filled with cold water. ", 30)
	r.task(r.sendFiles("notes/files?baseUrl=https://docs.example.org",
		"tea/green & white.md", "# Tea <b>\n\n## Water\n\n"+long+"\n\n## Time\n\nSteep for <i>three</i> minutes.\n\n"+long,
		"coffee.html", "<html><body><main><h1>Coffee</h1><p>Grind it &lt;script&gt; fresh.</p></main></body></html>"))
	r.task(r.sendFiles("notes/files?source=other", "coffee.html", "<p>Of another source."))

	a := r.do("GET", "/indexes/notes/files", "")
	var list struct {
		Results []struct {
			Source, Path, Title, Kind, ReadAt string
			Passages                          int
		}
		Total int
	}
	check(t, json.Unmarshal([]byte(a.body), &list))
	if list.Total != 3 || len(list.Results) != 3 {
		t.Fatalf("list %s, want three files", a.body)
	}
	if f := list.Results[0]; f.Source != "files" || f.Path != "tea/green & white.md" || f.Title != "Tea <b>" || f.Kind != "md" || f.Passages < 2 || f.ReadAt == "" {
		t.Errorf("first file %+v", f)
	}
	if a := r.do("GET", "/indexes/notes/files?offset=1&limit=1", ""); !strings.Contains(a.body, `"path":"coffee.html"`) || strings.Contains(a.body, "tea/") {
		t.Errorf("second file: %s", a.body)
	}
	mixed := r.task(r.sendFiles("notes/files?source=mixed", "good.md", "# Good", "bad.pdf", "no PDF"))
	if d := string(mixed.Details); !strings.Contains(d, `"skippedFiles":[{"path":"bad.pdf","error":"`) || !strings.Contains(d, `"indexedDocuments":1`) {
		t.Errorf("the task of a file that was read and one that was not has the details %s", d)
	}
	skipped := func() string {
		a := r.do("GET", "/indexes/notes/files?limit=0", "")
		_, list, _ := strings.Cut(a.body, `"skipped":`)
		return list
	}
	if list := skipped(); !strings.HasPrefix(list, `[{"path":"bad.pdf","error":"`) || !strings.Contains(list, `"sentAt":"20`) || strings.Count(list, "path") != 1 {
		t.Errorf("files that could not be read: %s", list)
	}
	r.task(r.sendFiles("notes/files?source=mixed", "fine.md", "# Fine", "bad.pdf", "still no PDF", "worse.docx", "nothing"))
	if list := skipped(); strings.Count(list, "bad.pdf") != 1 || !strings.Contains(list, "worse.docx") {
		t.Errorf("files that could not be read twice: %s", list)
	}
	r.task(r.sendFiles("notes/files?source=mixed", "worse.docx", "<html><body><p>Better.</p></body></html>"))
	if list := skipped(); !strings.Contains(list, "bad.pdf") || strings.Contains(list, "worse.docx") {
		t.Errorf("files that could not be read, one of which was read since: %s", list)
	}
	for q, want := range map[string]int{"COFFEE": 2, "tea/gr": 1, "Tea%20%3C": 1, "milk": 0} {
		if a := r.do("GET", "/indexes/notes/files?limit=1&q="+q, ""); !strings.Contains(a.body, fmt.Sprintf(`"total":%d`, want)) || strings.Count(a.body, `"passages"`) != min(want, 1) {
			t.Errorf("files with %s: %s", q, a.body)
		}
	}

	const tea = "/indexes/notes/files/tea/green%20%26%20white.md"
	a = r.do("GET", tea, "")
	var view struct {
		Title, URL string
		Passages   []struct {
			ID, Anchor, Text string
			Headings         []string
			Line             int
		}
	}
	check(t, json.Unmarshal([]byte(a.body), &view))
	if n := len(view.Passages); n != list.Results[0].Passages || view.URL != "https://docs.example.org/tea/green%20&%20white" {
		t.Fatalf("file %s", a.body)
	}
	last := view.Passages[len(view.Passages)-1]
	if view.Passages[0].Anchor != "p0" || last.Headings[0] != "Time" || last.Line == 0 || last.ID == "" {
		t.Errorf("passages %+v", view.Passages)
	}

	a = r.do("GET", tea, "", "Accept", "text/html,application/xhtml+xml")
	if !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("headers of the page: %v", a.header)
	}
	for _, want := range []string{`<section id="p0">`, `<section id="` + last.Anchor + `">`, "<title>Tea &lt;b&gt;</title>", "three minutes"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q in the page %s", want, a.body)
		}
	}
	if a := r.do("GET", "/indexes/notes/files/coffee.html", "", "Accept", "text/html"); strings.Contains(a.body, "<script") || !strings.Contains(a.body, "&lt;script&gt;") {
		t.Errorf("markup of a file comes through: %s", a.body)
	}
	if a := r.do("GET", "/indexes/notes/files/coffee.html?source=other", ""); !strings.Contains(a.body, "Of another source.") || strings.Contains(a.body, "Grind") {
		t.Errorf("of the other source: %s", a.body)
	}

	r.task(r.do("POST", "/indexes/plain/documents", `[{"id":1,"title":"x"}]`))
	for name, tt := range map[string]struct {
		a      answer
		status int
		code   string
	}{
		"no such file":  {r.do("GET", "/indexes/notes/files/milk.md", ""), 404, "document_not_found"},
		"no such index": {r.do("GET", "/indexes/none/files/milk.md", ""), 404, "index_not_found"},
		"not for files": {r.do("GET", "/indexes/plain/files", ""), 400, "invalid_document_filter"},
		"another key":   {r.do("GET", "/indexes/notes/files", "", "Authorization", "Bearer "+r.key([]string{"search"}, []string{"*"})), 403, "invalid_api_key"},
		"of an index":   {r.do("GET", tea, "", "Authorization", "Bearer "+r.key([]string{"documents.get"}, []string{"other"})), 404, "index_not_found"},
	} {
		if tt.a.status != tt.status || !strings.Contains(tt.a.body, tt.code) {
			t.Errorf("%s: %d %s, want %d %s", name, tt.a.status, tt.a.body, tt.status, tt.code)
		}
	}
}
