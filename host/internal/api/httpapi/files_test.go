package httpapi_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/task"
)

// sendFiles posts a form of files, given as names and contents, to an index.
func (r *rig) sendFiles(target string, files ...string) answer {
	r.tb.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	check(r.tb, form.WriteField("note", "a field is passed over"))
	for i := 0; i+1 < len(files); i += 2 {
		part, err := form.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, files[i])}})
		check(r.tb, err)
		_, err = part.Write([]byte(files[i+1]))
		check(r.tb, err)
	}
	check(r.tb, form.Close())
	return r.do("POST", "/indexes/"+target, b.String(), "Content-Type", form.FormDataContentType())
}

// TestSlowUploads: uploads that do not come to their end keep nobody's from being read, and may
// come to it later.
func TestSlowUploads(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Read: 30 * time.Second}})
	// More than the connection holds: once it is written, the host is reading.
	head := "--b\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n" + strings.Repeat("x", 8<<20) +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slow.md\"\r\n\r\n# Slow\n\nIt comes"
	const tail = " late.\r\n--b--\r\n"
	var slow []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		check(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /indexes/slow/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", master, len(head)+len(tail), head)
		check(t, err)
		slow = append(slow, conn)
	}
	if _, list := outcomes(t, r.sendFiles("quick/files", "a.md", "# Quick\n\nIt is there.")); len(list) != 1 || !strings.HasPrefix(list[0], "a.md 1") {
		t.Errorf("a file sent at once became %q, want one document", list)
	}
	for _, conn := range slow {
		_, err := io.WriteString(conn, tail)
		check(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		check(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			t.Errorf("a slow upload = %d, want it accepted once it is whole", res.StatusCode)
		}
	}
}

type sentFiles struct {
	DeletionTaskUID *uint32
	Files           []struct {
		Path, Error string
		Documents   int
	}
}

// outcomes are what an answer says of each file: its path with the number of documents, or why there are none.
func outcomes(tb testing.TB, a answer) (s sentFiles, list []string) {
	tb.Helper()
	if err := json.Unmarshal([]byte(a.body), &s); err != nil || a.status != http.StatusAccepted {
		tb.Fatalf("answer = %d %s, want an accepted task", a.status, a.body)
	}
	for _, f := range s.Files {
		list = append(list, fmt.Sprintf("%s %d %s", f.Path, f.Documents, f.Error))
	}
	return s, list
}

// texts returns the paths and texts of an index's documents.
func (r *rig) texts(uid string) string {
	r.tb.Helper()
	a := r.do("GET", "/indexes/"+uid+"/documents?limit=1000&fields=path,text,url,headings", "")
	if a.status != http.StatusOK {
		r.tb.Fatalf("documents: %d %s", a.status, a.body)
	}
	return a.body
}

func archive(tb testing.TB, files ...string) string {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		w, err := z.Create(files[i])
		check(tb, err)
		_, err = w.Write([]byte(files[i+1]))
		check(tb, err)
	}
	check(tb, z.Close())
	return b.String()
}

func TestAddFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	first := strings.Repeat("The kettle is filled with cold water. ", 30)
	a := r.sendFiles("notes/files?baseUrl=https://docs.example.org",
		"tea/brewing.md", "# Brewing\n\n## Water\n\n"+first+"\n\n## Time\n\nSteep for three minutes.\n",
		"coffee.html", "<html><body><main><h1>Coffee</h1><p>Grind it fresh.</p></main></body></html>",
		"more.zip", archive(t, "milk/first.txt", "Milk goes in last.", "bomb.docx", "no zip", ".hidden.md", "hidden"),
		"broken.pdf", "%PDF-1.4 garbage", "broken.zip", "PK\x03\x04 garbage", "../../evil.md", "# Evil", "tool.exe", "MZ", "empty.md", " \n",
		"tea/brewing.md", "# Twice")
	_, got := outcomes(t, a)
	want := []string{
		"tea/brewing.md 2 ", "coffee.html 1 ", "milk/first.txt 1 ", "bomb.docx 0 ", "broken.pdf 0 ", "broken.zip 0 ", "../../evil.md 0 ", "tool.exe 0 ", "empty.md 0 ",
		"tea/brewing.md 0 another file has the same path",
	}
	if len(got) != len(want) {
		t.Fatalf("files: %q, want %d", got, len(want))
	}
	for i, w := range want {
		if failed := strings.Contains(w, " 0 "); !strings.HasPrefix(got[i], w) || failed == strings.HasSuffix(got[i], " ") {
			t.Errorf("file %d: %q, want %q", i, got[i], w)
		}
	}
	if done := r.task(a); done.Status != task.Succeeded {
		t.Fatalf("task: %+v", done)
	}
	if s := r.texts("notes"); strings.Contains(s, "Evil") || strings.Contains(s, "hidden") || !strings.Contains(s, "Grind it fresh.") ||
		!strings.Contains(s, `"url":"https://docs.example.org/tea/brewing"`) || !strings.Contains(s, "Milk goes in last.") {
		t.Errorf("documents: %s", s)
	}
	if s := r.do("GET", "/indexes/notes/settings", "").body; !strings.Contains(s, `"filterableAttributes":["group","kind","lang","n","path"]`) {
		t.Errorf("settings of the index that was made: %s", s)
	}

	// The same path of another source is another file.
	r.task(r.sendFiles("notes/files?source=other", "tea/brewing.md", "# Brewing\n\n## Cups\n\nWarm them first."))
	// A file again: what it no longer has goes, and of other files nothing.
	again := r.sendFiles("notes/files?baseUrl=https://docs.example.org", "tea/brewing.md", "# Brewing\n\n## Time\n\nSteep for five minutes.\n")
	said, _ := outcomes(t, again)
	if said.DeletionTaskUID == nil {
		t.Fatalf("answer %s, want a task that deletes", again.body)
	}
	r.task(again)
	_, err := r.queue.Wait(t.Context(), *said.DeletionTaskUID)
	check(t, err)
	s := r.texts("notes")
	for _, gone := range []string{"kettle", "three minutes"} {
		if strings.Contains(s, gone) {
			t.Errorf("%q is there still: %s", gone, s)
		}
	}
	for _, kept := range []string{"five minutes", "Grind it fresh.", "Milk goes in last.", "Warm them first."} {
		if !strings.Contains(s, kept) {
			t.Errorf("%q is gone: %s", kept, s)
		}
	}
	if same := r.sendFiles("notes/files?baseUrl=https://docs.example.org", "coffee.html", "<html><body><main><h1>Coffee</h1><p>Grind it fresh.</p></main></body></html>"); strings.Contains(same.body, "deletionTaskUid") {
		t.Errorf("a file that is the same deletes something: %s", same.body)
	}

	whole := r.sendFiles("whole/files?split=whole", "tea.md", "# Tea\n\n## Water\n\n"+first+"\n\n## Time\n\n"+first)
	if _, got := outcomes(t, whole); got[0] != "tea.md 1 " {
		t.Errorf("split=whole: %q, want one document", got)
	}
}

func TestAddFilesRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Body: 64 << 10}})
	r.task(r.do("POST", "/indexes", `{"uid":"keyed","primaryKey":"isbn"}`))
	r.task(r.do("POST", "/indexes", `{"uid":"plain","primaryKey":"id"}`))
	const note = "# A\n\ntext"
	boundary := []string{"Content-Type", "multipart/form-data; boundary=x"}
	for name, tt := range map[string]struct {
		answer answer
		status int
		code   string
		says   string
	}{
		"no file":         {r.sendFiles("notes/files"), 400, "missing_payload", "filename"},
		"none readable":   {r.sendFiles("notes/files", "a.exe", "MZ", "b.pdf", "x"), 400, "malformed_payload", "None of the 2 files"},
		"JSON":            {r.do("POST", "/indexes/notes/files", `[]`), 415, "invalid_content_type", mimeForm},
		"no type":         {r.do("POST", "/indexes/notes/files", note, "Content-Type", ""), 415, "missing_content_type", mimeForm},
		"no boundary":     {r.do("POST", "/indexes/notes/files", note, "Content-Type", mimeForm), 415, "invalid_content_type", "boundary"},
		"not a form":      {r.do("POST", "/indexes/notes/files", note, boundary...), 400, "missing_payload", "filename"},
		"half a form":     {r.do("POST", "/indexes/notes/files", "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.md\"\r\n\r\n# A", boundary...), 400, "malformed_payload", "not a form"},
		"too large":       {r.sendFiles("notes/files", "a.md", strings.Repeat("words ", 20<<10)), 413, "payload_too_large", "http-payload-size-limit"},
		"bad split":       {r.sendFiles("notes/files?split=lines", "a.md", note), 400, "bad_request", "whole"},
		"bad base URL":    {r.sendFiles("notes/files?baseUrl=javascript:x", "a.md", note), 400, "bad_request", "baseUrl"},
		"bad source":      {r.sendFiles("notes/files?source="+strings.Repeat("x", 201), "a.md", note), 400, "bad_request", "source"},
		"bad index":       {r.sendFiles("a%20b/files", "a.md", note), 400, "invalid_index_uid", ""},
		"other key":       {r.sendFiles("keyed/files", "a.md", note), 400, "bad_request", "isbn"},
		"not for files":   {r.sendFiles("plain/files", "a.md", note), 400, "bad_request", "filterableAttributes"},
		"key of a search": {r.do("POST", "/indexes/notes/files", "", append(boundary, "Authorization", "Bearer "+r.key([]string{"search"}, []string{"*"}))...), 403, "invalid_api_key", ""},
		"key of another index": {
			r.do("POST", "/indexes/notes/files", "", append(boundary, "Authorization", "Bearer "+r.key([]string{"documents.add"}, []string{"other"}))...), 404, "index_not_found", "",
		},
	} {
		if tt.answer.status != tt.status || !strings.Contains(tt.answer.body, `"`+tt.code+`"`) || !strings.Contains(tt.answer.body, tt.says) {
			t.Errorf("%s: %d %s, want %d %s with %q", name, tt.answer.status, tt.answer.body, tt.status, tt.code, tt.says)
		}
	}
	if a := r.do("GET", "/indexes/notes", ""); a.status != http.StatusNotFound {
		t.Errorf("what was refused made the index: %d %s", a.status, a.body)
	}
}

const mimeForm = "multipart/form-data"
