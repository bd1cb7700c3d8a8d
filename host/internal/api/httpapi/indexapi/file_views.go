package indexapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// listedFile is what GET /indexes/:uid/files says of a file.
type listedFile struct {
	Source   string `json:"source"`
	Path     string `json:"path"`
	Title    string `json:"title"`
	Kind     string `json:"kind"`
	Passages int    `json:"passages"`
	ReadAt   string `json:"readAt,omitempty"` // when its newest passage was read
}

// fileList is the answer of GET /indexes/:uid/files.
type fileList struct {
	request.List[listedFile]
	Skipped []skippedFile `json:"skipped"`
}

// skippedFile is a file that was sent and could not be read.
type skippedFile struct {
	write.SkippedFile
	SentAt time.Time `json:"sentAt"`
}

// fileView is the answer of GET /indexes/:uid/files/*: a file's text as it was read.
type fileView struct {
	listedFile
	URL   string         `json:"url,omitempty"`
	Lang  string         `json:"lang,omitempty"`
	Meta  map[string]any `json:"meta,omitempty"`
	Parts []any          `json:"passages"` // in place of their number
}

// filePassage is a passage of a file, in its place.
type filePassage struct {
	ID       string   `json:"id"` // of its document
	Anchor   string   `json:"anchor"`
	Headings []string `json:"headings"`
	Page     int      `json:"page,omitempty"`
	PageEnd  int      `json:"pageEnd,omitempty"` // the last one, if it is another
	Line     int      `json:"line,omitempty"`
	Text     string   `json:"text"`
}

// ListFiles answers GET /indexes/:uid/files: the files that the caller may see passages of.
func (s *Server) ListFiles(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	offset, limit, err := r.Query.Page(indexerr.InvalidDocumentOffset, indexerr.InvalidDocumentLimit)
	if err != nil {
		return err
	}
	var page fileDocuments
	if q := strings.ToLower(r.Query["q"]); q != "" {
		page, err = s.filesNamed(r, uid, q, offset, limit)
	} else {
		page, err = s.fileDocuments(r, uid, search.DocumentsQuery{Filter: request.Encode("n = 0"), Offset: offset, Limit: &limit})
	}
	if err != nil {
		return err
	}
	files := make([]listedFile, len(page.docs))
	at := map[[2]string]int{}
	for i := range page.docs {
		files[i] = listedFileOf(&page.docs[i])
		at[[2]string{files[i].Source, files[i].Path}] = i
	}
	for some := range slices.Chunk(files, 100) {
		paths := make([]string, len(some))
		for i := range some {
			paths[i] = some[i].Path
		}
		err := s.eachFileDocument(r, uid, reader.FilterOfPaths(paths), []string{"group", "path", "readAt"}, func(d *reader.Document) {
			if i, ok := at[[2]string{d.Group, d.Path}]; ok {
				files[i].add(d)
			}
		})
		if err != nil {
			return err
		}
	}
	skipped, err := s.skippedFiles(r, uid)
	if err != nil {
		return err
	}
	return r.OK(fileList{request.NewList(files, offset, limit, page.total), skipped})
}

// skippedFiles returns the files that the newest additions to an index could not read, the last one first, but for those that
// were read since.
func (s *Server) skippedFiles(r *request.Call, uid string) ([]skippedFile, error) {
	page, err := s.Tasks.Tasks.Tasks(r.Base, task.Filter{IndexUIDs: []string{uid}, Types: []task.Type{task.DocumentAddition}, Visible: r.Visible})
	if err != nil {
		return nil, err
	}
	files, paths := []skippedFile{}, []string{}
	for i := range page.Results {
		t := &page.Results[i]
		for _, f := range write.SkippedOf(t.Details) {
			if !slices.Contains(paths, f.Path) {
				files, paths = append(files, skippedFile{f, t.EnqueuedAt}), append(paths, f.Path)
			}
		}
	}
	if len(paths) == 0 {
		return files, nil
	}
	err = s.eachFileDocument(r, uid, reader.FilterOfPaths(paths), []string{"path", "readAt"}, func(d *reader.Document) {
		read, err := time.Parse(time.RFC3339, d.ReadAt)
		files = slices.DeleteFunc(files, func(f skippedFile) bool {
			return err == nil && f.Path == d.Path && !read.Before(f.SentAt.Truncate(time.Second)) // it has seconds
		})
	})
	return files, err
}

// filesNamed returns the first documents of files whose path or title has q, which is in lower case.
func (s *Server) filesNamed(r *request.Call, uid, q string, offset, limit int) (f fileDocuments, err error) {
	err = s.eachFileDocument(r, uid, "n = 0", []string{"group", "path", "title", "kind"}, func(d *reader.Document) {
		if !strings.Contains(strings.ToLower(d.Path), q) && !strings.Contains(strings.ToLower(d.Title), q) {
			return
		}
		if f.total >= offset && len(f.docs) < limit {
			f.docs = append(f.docs, *d)
		}
		f.total++
	})
	return f, err
}

func listedFileOf(d *reader.Document) listedFile {
	return listedFile{Source: d.Group, Path: d.Path, Title: d.Title, Kind: d.Kind}
}

// add counts a passage.
func (f *listedFile) add(d *reader.Document) {
	f.Passages++
	f.ReadAt = max(f.ReadAt, d.ReadAt)
}

// GetFile answers GET /indexes/:uid/files/*: the text of a file as JSON, or for a browser as a page.
func (s *Server) GetFile(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	path := r.Param("*")
	condition := reader.FilterOfPaths([]string{path})
	if name := r.Query["source"]; name != "" {
		source := reader.Source{Name: name}
		condition = source.FilterOfPages([]string{path})
	}
	var docs []reader.Document
	err = s.eachFileDocument(r, uid, condition, nil, func(d *reader.Document) { docs = append(docs, *d) })
	if err != nil {
		return err
	}
	if len(docs) == 0 {
		return apierr.Newf(indexerr.DocumentNotFound, "Index `%s` has no passage of a file `%.511s`.", uid, path)
	}
	slices.SortFunc(docs, func(a, b reader.Document) int { return cmp.Or(strings.Compare(a.Group, b.Group), a.N-b.N) })
	first := &docs[0]
	v := fileView{listedFile: listedFileOf(first), URL: first.URL, Lang: first.Lang, Meta: first.Meta, Parts: []any{}}
	page := strings.Contains(r.Get("Accept"), "text/html")
	for i := range docs {
		d := &docs[i]
		if d.Group != first.Group {
			break // of another source
		}
		v.add(d)
		part := filePassage{d.ID, anchorOf(d.N), append([]string{}, d.Headings...), d.Page, d.PageEnd, d.Line, d.Text}
		if page {
			v.Parts = append(v.Parts, part)
			continue
		}
		b := request.Encode(part) // in which a character may take six
		if err := r.Loan.Take(int64(len(b))); err != nil {
			return err
		}
		v.Parts = append(v.Parts, json.RawMessage(b))
	}
	if !page {
		return r.OK(v)
	}
	b := lentBuffer{take: r.Loan.Take}
	if err := filePage.Execute(&b, v); err != nil {
		return fmt.Errorf("render a file: %w", err)
	}
	r.Set("Content-Type", "text/html; charset=utf-8")
	r.Set("Content-Security-Policy", filePolicy)
	return r.Status(http.StatusOK).Send(b.Bytes())
}

// A lentBuffer takes what it holds from a loan.
type lentBuffer struct {
	bytes.Buffer
	take func(n int64) error
}

func (b *lentBuffer) Write(p []byte) (int, error) {
	if err := b.take(int64(len(p))); err != nil {
		return 0, err
	}
	return b.Buffer.Write(p)
}

// anchorOf leads to a passage in the view of its file.
func anchorOf(n int) string { return "p" + strconv.Itoa(n) }

// filePolicy is the Content-Security-Policy of the view of a file, which is a stranger's: text and style.
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// filePage shows a file. What it says is text, never markup.
var filePage = template.Must(template.New("file").Parse(`<!doctype html>
<html{{with .Lang}} lang="{{.}}"{{end}}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 }
section { padding: .5rem 1rem; border-left: .2rem solid transparent }
section:target { border-color: #06c; background: #06c1 }
h2 { font-size: 1rem; margin: 0 } p { margin: 0; opacity: .7 }
</style>
<h1>{{.Title}}</h1>
<p>{{.Path}} · {{.Source}}{{with .ReadAt}} · read {{.}}{{end}}</p>
{{range .Parts}}<section id="{{.Anchor}}">
{{with .Headings}}<h2>{{range $i, $h := .}}{{if $i}} › {{end}}{{$h}}{{end}}</h2>
{{end}}<p><a href="#{{.Anchor}}">{{if .Page}}page {{.Page}}{{with .PageEnd}}–{{.}}{{end}}{{else if .Line}}line {{.Line}}{{else}}¶{{end}}</a></p>
<pre>{{.Text}}</pre>
</section>
{{end}}</html>
`))

// fileDocuments are documents of files, and how many there are.
type fileDocuments struct {
	docs  []reader.Document
	total int
	read  int // documents that were there, those of no file included
}

// fileDocuments returns the documents of files that q asks for.
func (s *Server) fileDocuments(r *request.Call, uid string, q search.DocumentsQuery) (f fileDocuments, err error) {
	q.Show = func(body []byte) error {
		var d reader.Document
		if f.read++; json.Unmarshal(body, &d) == nil && d.Path != "" { // else somebody else's
			f.docs = append(f.docs, d)
		}
		return nil
	}
	page, err := s.Search.Documents(r.Base, r.Caller, uid, q)
	if apierr.Is(err, indexerr.InvalidDocumentFilter) {
		return f, apierr.Newf(indexerr.InvalidDocumentFilter, "Index `%s` was not made for files: add `group`, `path` and `n` to its setting `filterableAttributes` to see those that it has.", uid)
	}
	if err != nil {
		return f, err
	}
	f.total = page.Total
	return f, nil
}

// eachFileDocument calls f for each document of files that fits a filter, with these fields; nil: all.
func (s *Server) eachFileDocument(r *request.Call, uid, condition string, fields []string, f func(*reader.Document)) error {
	for offset := 0; ; {
		page, err := s.fileDocuments(r, uid, search.DocumentsQuery{Filter: request.Encode(condition), Fields: fields, Offset: offset, Limit: new(1000)})
		if err != nil {
			return err
		}
		for i := range page.docs {
			f(&page.docs[i])
		}
		if offset += page.read; page.read == 0 || offset >= page.total {
			return nil
		}
	}
}
