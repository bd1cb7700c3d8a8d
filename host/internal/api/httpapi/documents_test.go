package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/task"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	const path = "/indexes/movies/documents"
	csv := []string{"Content-Type", "text/csv"}
	r.play(t, []scenario{
		{name: "list", method: "GET", path: path + "?limit=2&fields=title", status: 200, contains: []string{`{"results":[{"title":"Alien"},{"title":"Arrival"}],"offset":0,"limit":2,"total":3}`}},
		{name: "list, filter", method: "GET", path: path + "?filter=genre%20%3D%20drama", status: 200, contains: []string{"Arrival", `"total":1`}, excludes: []string{"Heat"}},
		{name: "list, bad filter", method: "GET", path: path + "?filter=genre", status: 400, code: "invalid_document_filter"},
		{name: "list, bad limit", method: "GET", path: path + "?limit=x", status: 400, code: "invalid_document_limit"},
		{name: "list, bad offset", method: "GET", path: path + "?offset=-1", status: 400, code: "invalid_document_offset"},
		{name: "fetch", method: "POST", path: path + "/fetch", body: `{"limit":1,"offset":1,"fields":["title"],"filter":["year > 1990"]}`, status: 200, contains: []string{`"results":[{"title":"Heat"}],"offset":1,"limit":1,"total":2`}},
		{name: "fetch, wrong type", method: "POST", path: path + "/fetch", body: `{"limit":"1"}`, status: 400, code: "invalid_document_limit"},
		{name: "fetch, negative", method: "POST", path: path + "/fetch", body: `{"offset":-1}`, status: 400, code: "invalid_document_offset"},
		{name: "list, ids", method: "GET", path: path + "?ids=3,1&fields=id", status: 200, contains: []string{`{"results":[{"id":1},{"id":3}],"offset":0,"limit":20,"total":2}`}},
		{name: "list, ids of nothing", method: "GET", path: path + "?ids=*", status: 400, code: "invalid_document_ids"},
		{name: "list, bad sort", method: "GET", path: path + "?sort=year:asc", status: 400, code: "invalid_document_sort", contains: []string{"sortableAttributes"}},
		{name: "fetch, ids", method: "POST", path: path + "/fetch", body: `{"ids":[3,"1"],"fields":["id"]}`, status: 200, contains: []string{`[{"id":1},{"id":3}]`}},
		{name: "fetch, bad ids", method: "POST", path: path + "/fetch", body: `{"ids":[{}]}`, status: 400, code: "invalid_document_ids", contains: []string{"position 0"}},
		{name: "fetch, ids of another type", method: "POST", path: path + "/fetch", body: `{"ids":"1"}`, status: 400, code: "invalid_document_ids"},
		{name: "fetch, bad sort", method: "POST", path: path + "/fetch", body: `{"sort":["year"]}`, status: 400, code: "invalid_document_sort"},
		{name: "fetch, sort of another type", method: "POST", path: path + "/fetch", body: `{"sort":"year:asc"}`, status: 400, code: "invalid_document_sort"},
		{name: "fetch, bad fields", method: "POST", path: path + "/fetch", body: `{"fields":"a"}`, status: 400, code: "invalid_document_fields"},
		{name: "get", method: "GET", path: path + "/2", status: 200, contains: []string{`{"id":2,"title":"Arrival","genre":"drama","year":2016}`}},
		{name: "get, fields", method: "GET", path: path + "/2?fields=title,id", status: 200, contains: []string{`"title":"Arrival"`}, excludes: []string{"genre"}},
		{name: "get, absent", method: "GET", path: path + "/9", status: 404, code: "document_not_found"},
		{name: "get, absent index", method: "GET", path: "/indexes/nope/documents/9", status: 404, code: "index_not_found"},
		{name: "add, not JSON", method: "POST", path: path, body: "{\n]", status: 400, code: "malformed_payload", contains: []string{"line 2"}},
		{name: "add, empty", method: "POST", path: path, status: 400, code: "missing_payload"},
		{name: "add, other type", method: "POST", path: path, body: "id,a", header: []string{"Content-Type", "text/plain"}, status: 415, code: "invalid_content_type", contains: []string{"text/csv", "application/x-ndjson"}},
		{name: "add, no type", method: "POST", path: path, body: "id,a", header: []string{"Content-Type", ""}, status: 415, code: "missing_content_type"},
		{name: "add, empty lines", method: "POST", path: path, body: "\n", header: []string{"Content-Type", "application/x-ndjson"}, status: 400, code: "missing_payload"},
		{name: "add, delimiter for JSON", method: "POST", path: path + "?csvDelimiter=;", body: "[]", status: 400, code: "invalid_document_csv_delimiter", contains: []string{"text/csv"}},
		{name: "add, long delimiter", method: "POST", path: path + "?csvDelimiter=ab", body: "a\n", header: csv, status: 400, code: "invalid_document_csv_delimiter"},
		{name: "add, wide delimiter", method: "PUT", path: path + "?csvDelimiter=%E9", body: "a\n", header: csv, status: 400, code: "invalid_document_csv_delimiter"},
		{name: "add, not gzip", method: "POST", path: path, body: "[]", header: []string{"Content-Encoding", "gzip"}, status: 400, code: "bad_request", contains: []string{"gzip"}},
		{name: "add, bad key", method: "POST", path: path + "?primaryKey=" + strings.Repeat("k", 501), body: "[]", status: 400, code: "invalid_index_primary_key"},
		{name: "add, bad index", method: "POST", path: "/indexes/a%20b/documents", body: "[]", status: 400, code: "invalid_index_uid"},
		{name: "delete by filter, none", method: "POST", path: path + "/delete", body: `{}`, status: 400, code: "missing_document_filter"},
		{name: "delete by filter, bad", method: "POST", path: path + "/delete", body: `{"filter":"x ="}`, status: 400, code: "invalid_document_filter"},
		{name: "delete by filter, other field", method: "POST", path: path + "/delete", body: `{"filters":"x = 1"}`, status: 400, code: "bad_request", contains: []string{"did you mean `filter`?"}},
		{name: "add, bad parameter", method: "POST", path: path + "?primarykey=id", body: "[]", status: 400, code: "bad_request", contains: []string{"did you mean `primaryKey`?"}},
		{name: "delete batch, wrong type", method: "POST", path: path + "/delete-batch", body: `[1,{}]`, status: 400, code: "invalid_document_id", contains: []string{"position 1"}},
		{name: "delete batch, null", method: "POST", path: path + "/delete-batch", body: `[null]`, status: 400, code: "invalid_document_id"},
		{name: "delete batch, no array", method: "POST", path: path + "/delete-batch", body: `{}`, status: 400, code: "bad_request"},
	})
	for _, step := range []struct{ method, path, body, left string }{
		{"PUT", path, `{"id":2,"year":2017}`, `{"id":2,"title":"Arrival","genre":"drama","year":2017}`},
		{"POST", path + "?primaryKey=id", `{"id":2,"year":2018}`, `{"id":2,"year":2018}`},
		{"POST", path + "/delete-batch", `["1",3]`, `"total":1`},
		{"DELETE", path + "/2", "", `"total":0`},
		{"POST", path, movies, `"total":3`},
		{"POST", path + "/delete", `{"filter":["year > 1990"]}`, `"total":1`},
		{"DELETE", path, "", `"total":0`},
	} {
		if got := r.task(r.do(step.method, step.path, step.body)); got.Status != task.Succeeded {
			t.Errorf("%s %s: task %+v", step.method, step.path, got)
		}
		r.play(t, []scenario{{name: "after " + step.method, method: "GET", path: path, status: 200, contains: []string{step.left}}})
	}
}

// TestDocumentsPacked sends what documents can come in.
func TestDocumentsPacked(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Body: 1 << 20}})
	const doc = `[{"id":1,"x":"one"}]`
	pack := func(w func(io.Writer) io.WriteCloser, body string) string {
		var b bytes.Buffer
		z := w(&b)
		_, err := io.WriteString(z, body)
		check(t, errors.Join(err, z.Close()))
		return b.String()
	}
	packers := map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	}
	for i, tt := range []struct {
		contentType, encoding, path, body string
	}{
		{"application/json", "gzip", "", pack(packers["gzip"], doc)},
		{"application/json", "deflate", "", pack(packers["deflate"], doc)},
		{"application/json; charset=utf-8", "br", "", pack(packers["br"], doc)},
		{"application/json", "identity", "", doc},
		{"application/x-ndjson", "", "", `{"id":1,"x":"one"}`},
		{"text/csv", "", "?csvDelimiter=%7C&primaryKey=id", "id:number|x\n1|one"},
	} {
		path := fmt.Sprintf("/indexes/i%d/documents", i)
		header := []string{"Content-Type", tt.contentType, "Content-Encoding", tt.encoding}
		got := r.task(r.do("POST", path+tt.path, tt.body, header...))
		if got.Status != task.Succeeded {
			t.Errorf("%s %s: task %+v", tt.contentType, tt.encoding, got.Error)
		}
		r.play(t, []scenario{{name: tt.contentType + " " + tt.encoding, method: "GET", path: path, status: 200, contains: []string{`[{"id":1,"x":"one"}]`}}})
	}
	for name, packer := range packers {
		header := []string{"Content-Encoding", name}
		whole := pack(packer, doc)
		r.play(t, []scenario{
			{name: name + " bomb", method: "POST", path: "/indexes/b/documents", body: pack(packer, "["+strings.Repeat(" ", 2<<20)+"]"), header: header, status: 413, code: "payload_too_large", contains: []string{"1048576", "--http-payload-size-limit"}},
			{name: name + " cut off", method: "POST", path: "/indexes/b/documents", body: whole[:len(whole)-4], header: header, status: 400, code: "bad_request", contains: []string{"cut off"}},
			{name: name + " with a tail", method: "POST", path: "/indexes/b/documents", body: whole + "[]", header: header, status: 400, code: "bad_request"},
		})
	}
	r.play(t, []scenario{
		{name: "too large", method: "POST", path: "/indexes/b/documents", body: strings.Repeat(" ", 2<<20), status: 413, code: "payload_too_large"},
		{name: "nothing is left", method: "GET", path: "/indexes/b", status: 404, code: "index_not_found"},
	})
}

// TestUploadInChunks sends a body of no known length, larger than a payload.
func TestUploadInChunks(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{limits: httpapi.Limits{Body: 4 << 20}})
	send := func(n int) answer {
		t.Helper()
		pr, pw := io.Pipe()
		go func() {
			for i := range n {
				fmt.Fprintf(pw, "{\"id\":%d,\"x\":%q}\n", i, strings.Repeat("x", 1000))
			}
			pw.Close()
		}()
		req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+"/indexes/a/documents", pr)
		check(t, err)
		req.Header.Set("Authorization", "Bearer "+master)
		req.Header.Set("Content-Type", "application/x-ndjson")
		res, err := r.client.Do(req)
		pr.Close() // what was not taken
		check(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		check(t, err)
		return answer{res.StatusCode, res.Header, string(b)}
	}
	if got := r.task(send(1000)); !strings.Contains(string(got.Details), `{"indexedDocuments":1000,"receivedDocuments":1000}`) {
		t.Errorf("task of an upload in chunks: %s, %+v", got.Details, got.Error)
	}
	if a := send(8000); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("an upload over the limit = %d %s, want 413", a.status, a.body)
	}
}
