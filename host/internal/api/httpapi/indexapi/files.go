package indexapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// Bounds of one request of files.
const (
	maxFiles     = 10_000    // those of archives included
	maxFilesText = 256 << 20 // bytes of the documents that they become
	// maxFilesDocuments bounds these documents: a request holds a slot while they are made.
	maxFilesDocuments = 100_000
)

// uploads bound the requests that are read at a time, each of which holds a file and its text in memory:
// of one key, fewer than all.
func uploads() *request.Slots {
	return request.NewSlots(request.SlotBounds{Running: 3, RunningOfKey: 2, Joined: 64, JoinedOfKey: 16, Patience: 2 * time.Minute})
}

// filesBody is the answer of POST /indexes/:uid/files.
type filesBody struct {
	taskapi.Summary
	// DeletionTaskUID is of the task that deletes what the files no longer have.
	DeletionTaskUID *uint32    `json:"deletionTaskUid,omitempty"`
	Files           []fileBody `json:"files"`
}

// fileBody says what became of a file.
type fileBody struct {
	Path      string `json:"path"`
	Documents int    `json:"documents"`
	Error     string `json:"error,omitempty"` // why nothing of it is in the index
}

// AddFiles answers POST /indexes/:uid/files: each file of the form becomes passages under their headings,
// in place of those that the index has of the file.
func (s *Server) AddFiles(r *request.Call) error {
	uid, err := s.index(r)
	if err != nil {
		return err
	}
	in := fileIntake{server: s, call: r, files: []fileBody{}, taken: map[string]bool{}, ids: map[string]bool{}}
	if in.source, err = readFileSource(r); err != nil {
		return err
	}
	if _, err := r.FormBoundary(); err != nil {
		return err
	}
	if err := s.checkMadeForFiles(r, uid, &in.source); err != nil {
		return err
	}
	slot, err := s.uploads.Join(r.Caller.Key())
	if err != nil {
		return err
	}
	defer slot.Leave()
	return r.SpoolForm(slot, func(form *multipart.Reader) error {
		ctx, done := context.WithTimeoutCause(r.Base, s.FilesTime, apierr.Newf(apierr.PayloadTooLarge, "The files of this request took more than %v to read: send fewer at a time.", s.FilesTime))
		defer done()
		n, err := in.run(ctx, uid, form)
		if err != nil {
			return err
		}
		return s.replacePages(r, uid, &in, n)
	})
}

// readFileSource is what the query says of the files.
func readFileSource(r *request.Call) (reader.Source, error) {
	source := reader.Source{Name: cmp.Or(r.Query["source"], "files"), BaseURL: r.Query["baseUrl"], Now: time.Now().UTC()}
	if len(source.Name) > 200 {
		return source, apierr.Newf(apierr.BadRequest, "The query parameter `source` has %d bytes; at most 200 are taken.", len(source.Name))
	}
	if source.BaseURL != "" {
		if _, err := outbound.ParseURL(source.BaseURL, outbound.URLRules{Query: true}); err != nil {
			return source, apierr.Newf(apierr.BadRequest, "The query parameter `baseUrl` %v: it must be an address such as https://docs.example.org.", err)
		}
	}
	switch split := r.Query["split"]; split {
	case "", "passages":
	case "whole":
		source.Whole = true
	default:
		return source, apierr.Newf(apierr.BadRequest, "The query parameter `split` is %.20q; it must be passages or whole.", split)
	}
	return source, nil
}

// checkMadeForFiles refuses an index whose documents have other ids, or that cannot say what it has of a
// file. One that is not there will be made.
func (s *Server) checkMadeForFiles(r *request.Call, uid string, source *reader.Source) error {
	info, err := s.Search.Index(r.Caller, uid)
	if r.Creates = apierr.Is(err, indexerr.IndexNotFound); r.Creates {
		return nil
	}
	if err != nil {
		return err
	}
	if info.PrimaryKey != "" && info.PrimaryKey != "id" {
		return apierr.Newf(apierr.BadRequest, "Index `%s` has the primary key `%s`, and files become documents with an `id`: send them to another index.", uid, info.PrimaryKey)
	}
	if _, err := s.storedPassages(r, uid, source, []string{""}); apierr.Is(err, indexerr.InvalidDocumentFilter) {
		return apierr.Newf(apierr.BadRequest, "Index `%s` was not made for files: add `group` and `path` to its setting `filterableAttributes`, or send them to another index.", uid)
	} else if err != nil {
		return err
	}
	return nil
}

// replacePages enqueues the task n, which adds the documents of in, and behind it the deletion of what the
// index has of the same files and they no longer have. Whoever asks meanwhile finds the old or the new.
func (s *Server) replacePages(r *request.Call, uid string, in *fileIntake, n task.New) error {
	var gone []string
	if r.Creates {
		settings, err := s.Search.UpdateSettings(uid, []byte(reader.IndexSettings))
		if err != nil {
			return err
		}
		if _, err := s.Tasks.Accept(r, settings); err != nil {
			return err
		}
	} else {
		for paths := range slices.Chunk(in.paths, 100) {
			ids, err := s.storedPassages(r, uid, &in.source, paths)
			if err != nil {
				return err
			}
			gone = append(gone, slices.DeleteFunc(ids, func(id string) bool { return in.ids[id] })...)
		}
	}
	if skipped := in.skipped(); len(skipped) > 0 {
		n.Details = write.SkippedDetails(n.Details, skipped)
	}
	added, err := s.Tasks.Accept(r, n)
	if err != nil {
		return err
	}
	answer := filesBody{Summary: taskapi.NewSummary(&added), Files: in.files}
	if len(gone) > 0 {
		n, err := write.DeleteDocuments(uid, gone)
		if err != nil {
			return err
		}
		deleted, err := s.Tasks.Accept(r, n)
		if err != nil {
			return err
		}
		answer.DeletionTaskUID = &deleted.TaskUID
	}
	return r.Answer(http.StatusAccepted, answer)
}

// maxSkipped bounds the files that the details of a task name.
const maxSkipped = 20

// skipped are the first files that became nothing, for the details of the task.
func (in *fileIntake) skipped() (list []write.SkippedFile) {
	for _, f := range in.files {
		if f.Error != "" && len(list) < maxSkipped {
			list = append(list, write.SkippedFile{Path: f.Path, Error: f.Error})
		}
	}
	return list
}

// storedPassages returns the ids of what the index has of the files at paths.
func (s *Server) storedPassages(r *request.Call, uid string, source *reader.Source, paths []string) (ids []string, err error) {
	err = s.eachFileDocument(r, uid, source.FilterOfPages(paths), []string{"id", "path"}, func(d *reader.Document) { ids = append(ids, d.ID) })
	return ids, err
}

// A fileIntake reads the files of one request into documents.
type fileIntake struct {
	server *Server
	call   *request.Call
	source reader.Source
	files  []fileBody
	paths  []string        // of the files that became documents
	taken  map[string]bool // these paths
	ids    map[string]bool // of all documents
	text   int             // bytes of them
}

// run reads form and returns the task that adds its documents. The documents go where those of any body
// go, as they are made.
func (in *fileIntake) run(ctx context.Context, uid string, form *multipart.Reader) (task.New, error) {
	lines, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := contain.Call(func() error { return in.readForm(ctx, form, w) })
		w.CloseWithError(err)
		done <- err
	}()
	n, err := in.server.Search.ReadDocuments(uid, write.Incoming{Format: ingest.NDJSON, PrimaryKey: "id"}, lines)
	lines.CloseWithError(errRefused) // ends what still writes
	if failed := <-done; failed != nil && !errors.Is(failed, errRefused) {
		return n, failed
	}
	if len(in.paths) == 0 {
		return n, in.nothing()
	}
	return n, err
}

// errRefused ends the reading of a form whose documents were refused.
var errRefused = errors.New("the documents are not taken")

// nothing says why no file became documents.
func (in *fileIntake) nothing() error {
	if len(in.files) == 0 {
		return apierr.Newf(apierr.MissingPayload, "The form has no file: send each as a part with a `filename`.")
	}
	f := in.files[0]
	return apierr.Newf(apierr.MalformedPayload, "None of the %d files could be read; %.200s: %.300s.", len(in.files), f.Path, f.Error)
}

// readForm writes the documents of each file of form to w, a line each.
func (in *fileIntake) readForm(ctx context.Context, form *multipart.Reader, w io.Writer) error {
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return request.FormError(err)
		}
		// FileName leaves only the last part of a path, and browsers send paths of folders.
		_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || disposition["filename"] == "" {
			continue // a field
		}
		data, err := io.ReadAll(in.call.Lent(io.LimitReader(part, reader.MaxFile+1)))
		if err != nil {
			return request.FormError(err)
		}
		if err := in.readPart(ctx, disposition["filename"], data, w); err != nil {
			return err
		}
		in.call.Loan.GiveBody(len(data))
	}
}

// readPart reads a file or the files of an archive. An error ends the request; what is wrong with a file is
// noted with it.
func (in *fileIntake) readPart(ctx context.Context, name string, data []byte, w io.Writer) error {
	path := reader.CleanPath(name)
	switch {
	case len(in.files) == maxFiles:
		return apierr.Newf(apierr.PayloadTooLarge, "The form has more than %d files: send fewer at a time.", maxFiles)
	case path == "":
		in.skip(name, "the name is hidden, or leads out of its folder")
		return nil
	case len(data) > reader.MaxFile:
		in.skip(path, fmt.Sprintf("the file has more than %d bytes: that is too large", reader.MaxFile))
		return nil
	case !reader.IsArchive(path):
		return in.readFile(ctx, path, data, w)
	}
	read := false
	err := reader.EachOfArchive(ctx, path, bytes.NewReader(data), int64(len(data)), &reader.Selection{}, func(f reader.File) error {
		read = true
		if len(in.files) == maxFiles {
			return apierr.Newf(apierr.PayloadTooLarge, "The archive %.100s and the files before it have more than %d files: send fewer at a time.", path, maxFiles)
		}
		data, err := f.Read()
		if err != nil {
			in.skip(f.Path, err.Error())
			return nil
		}
		return in.readFile(ctx, f.Path, data, w)
	})
	switch _, refused := errors.AsType[*apierr.Error](err); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case refused, errors.Is(err, errRefused):
		return err
	case err != nil:
		in.skip(path, err.Error())
	case !read:
		in.skip(path, "there is no file in it")
	}
	return nil
}

// readFile writes the documents of a file to w.
func (in *fileIntake) readFile(ctx context.Context, path string, data []byte, w io.Writer) error {
	if in.taken[path] {
		in.skip(path, "another file has the same path")
		return nil
	}
	// A file becomes about as much text, and an archive's is not of the form.
	if err := in.call.Loan.TakeBody(len(data)); err != nil {
		return err
	}
	defer in.call.Loan.GiveBody(len(data))
	_, docs, err := in.source.Read(ctx, in.server.Files, path, path, data)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var lines bytes.Buffer
	for i := range docs {
		if err == nil {
			err = json.NewEncoder(&lines).Encode(&docs[i])
		}
	}
	if err == nil && in.text+lines.Len() > maxFilesText {
		err = fmt.Errorf("the text of this request has more than %d bytes with it: send it in another", maxFilesText)
	}
	if err == nil && len(in.ids)+len(docs) > maxFilesDocuments {
		err = fmt.Errorf("the files of this request become more than %d documents with it: send it in another", maxFilesDocuments)
	}
	if err != nil {
		in.skip(path, err.Error())
		return nil
	}
	in.text += lines.Len()
	in.paths, in.taken[path] = append(in.paths, path), true
	in.files = append(in.files, fileBody{Path: path, Documents: len(docs)})
	for i := range docs {
		in.ids[docs[i].ID] = true
	}
	_, err = lines.WriteTo(w)
	return err
}

// maxName bounds what the answer says of a name and of what is wrong.
const maxName = 500

func (in *fileIntake) skip(path, reason string) {
	in.files = append(in.files, fileBody{Path: path[:min(len(path), maxName)], Error: reason[:min(len(reason), maxName)]})
}
