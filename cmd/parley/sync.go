package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host"
)

// A synchronizer makes an index hold the passages of files: what changed is sent, and what is gone is
// deleted.
type synchronizer struct {
	importer
	source      host.FileSource
	selection   host.FileSelection
	stripPrefix string
	prune       bool // delete what is there of files that are gone
	force       bool // also where that is over half of them
	dryRun      bool
	reader      *host.FileReader

	stored map[string]storedPage // by path
	report syncReport
	topic  string   // a heading that was read, and its page
	gone   []string // ids to delete once all is sent
}

// A storedPage is what the index has of one file: the hash of each document by its id.
type storedPage map[string]string

// A syncReport says what came of it, counted in files but for Passages and Bytes.
type syncReport struct {
	Files    int       `json:"files"`
	Changed  int       `json:"changed"`
	New      int       `json:"new"`
	Gone     int       `json:"gone"`
	Same     int       `json:"same"`
	Passages int       `json:"passages"` // of all files
	Sent     int       `json:"sent"`     // passages
	Deleted  int       `json:"deleted"`  // passages
	Bytes    int64     `json:"bytes"`
	Skipped  []skipped `json:"skipped"`
}

// A skipped file is one that could not be read.
type skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// run synchronizes the index with the files of names.
func (s *synchronizer) run(ctx context.Context, names []string, out io.Writer) error {
	defer s.client.CloseIdleConnections()
	s.report, s.gone, s.tasks = syncReport{Skipped: []skipped{}}, nil, nil
	if err := s.readStored(ctx); err != nil {
		return err
	}
	total := int64(0)
	for _, name := range names {
		if err := host.EachFile(ctx, name, &s.selection, func(f host.File) error {
			total += f.Size
			return nil
		}); err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		err := host.EachFile(ctx, name, &s.selection, func(f host.File) error {
			defer s.bar.show("reading", s.report.Bytes, total)
			s.report.Bytes += f.Size
			path := s.pathOf(name, f, len(names))
			if seen[path] {
				s.skip(path, "another file has the same path")
				return nil
			}
			seen[path] = true
			return s.file(ctx, path, f)
		})
		if err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
	}
	s.bar.end()
	if err := s.findGone(seen); err != nil {
		return err
	}
	if s.dryRun {
		return s.tell(out)
	}
	if err := s.finish(ctx); err != nil {
		return err
	}
	return s.tell(out)
}

// finish sends what is left, waits, and deletes only then: whoever asks meanwhile finds the new passages
// or the old ones.
func (s *synchronizer) finish(ctx context.Context) error {
	if s.body.Len() > 0 {
		if err := s.send(ctx); err != nil {
			return err
		}
	}
	if err := s.wait(ctx); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	s.tasks = nil
	for ids := range slices.Chunk(s.gone, 1000) {
		body, err := json.Marshal(ids)
		if err != nil {
			return err
		}
		var accepted struct{ TaskUID uint32 }
		if err := s.call(ctx, http.MethodPost, "/indexes/"+url.PathEscape(s.index)+"/documents/delete-batch", "application/json", body, &accepted); err != nil {
			return fmt.Errorf("delete what is gone: %w", err)
		}
		s.tasks = append(s.tasks, accepted.TaskUID)
	}
	return s.wait(ctx)
}

// pathOf is the path that a file's documents have.
func (s *synchronizer) pathOf(name string, f host.File, roots int) string {
	path := f.Path
	if roots > 1 {
		if base := filepath.Base(filepath.Clean(name)); base != path {
			path = base + "/" + path
		}
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, s.stripPrefix), "/")
}

func (s *synchronizer) skip(path, reason string) {
	s.report.Skipped = append(s.report.Skipped, skipped{path, reason})
}

// file sends what changed of one file.
func (s *synchronizer) file(ctx context.Context, path string, f host.File) error {
	if !host.CanReadFile(f.Path) {
		s.skip(path, "no format that can be read")
		return nil
	}
	data, err := f.Read()
	if err != nil {
		s.skip(path, err.Error())
		return nil
	}
	docs, err := s.source.Read(ctx, s.reader, path, f.Path, data)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.skip(path, err.Error())
		return nil
	}
	s.report.Files++
	s.noteTopic(docs)
	s.report.Passages += len(docs)
	there := s.stored[path]
	changed := false
	for i := range docs {
		d := &docs[i]
		hash, ok := there[d.ID]
		delete(there, d.ID)
		if ok && hash == d.ContentHash {
			continue
		}
		changed = true
		s.report.Sent++
		if s.dryRun {
			continue
		}
		if err := s.add(ctx, d); err != nil {
			return err
		}
	}
	for id := range there {
		s.gone = append(s.gone, id)
		changed = true
	}
	switch {
	case there == nil:
		s.report.New++
	case changed:
		s.report.Changed++
	default:
		s.report.Same++
	}
	return nil
}

// noteTopic keeps the first heading that says something.
func (s *synchronizer) noteTopic(docs []host.FileDocument) {
	for i := range docs {
		if h := docs[i].Headings; s.topic == "" && len(h) > 0 && len(strings.Fields(h[len(h)-1])) > 1 {
			s.topic = h[len(h)-1] + ", in " + docs[i].Title
		}
	}
	if s.topic == "" && s.report.Files == 1 && len(docs) > 0 {
		s.topic = docs[0].Title
	}
}

// question is one that the files answer.
func (s *synchronizer) question() string { return "What is said about " + s.topic + "?" }

// add puts a document into the next request.
func (s *synchronizer) add(ctx context.Context, d *host.FileDocument) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if s.body.Len() > 0 && s.body.Len()+len(b)+1 > s.size {
		if err := s.send(ctx); err != nil {
			return err
		}
	}
	s.body.Write(b)
	s.body.WriteByte('\n')
	return nil
}

// findGone notes the documents of files that are gone.
func (s *synchronizer) findGone(seen map[string]bool) error {
	var gone []string
	for path := range s.stored {
		if !seen[path] && !s.skippedPath(path) {
			gone = append(gone, path)
		}
	}
	if len(gone) == 0 || !s.prune {
		return nil
	}
	switch {
	case s.report.Files == 0:
		return fmt.Errorf("no file was read, and the index has %d files of source %q: nothing is deleted; pass --prune=false to say that none is to be", len(s.stored), s.source.Name)
	case 2*len(gone) > len(s.stored) && !s.force:
		return fmt.Errorf("%d of the %d files that the index has of source %q are gone: pass --force to delete their passages, or --prune=false to keep them", len(gone), len(s.stored), s.source.Name)
	}
	slices.Sort(gone)
	for _, path := range gone {
		s.report.Gone++
		for id := range s.stored[path] {
			s.gone = append(s.gone, id)
		}
	}
	return nil
}

// skippedPath reports whether a file is there that could not be read: what the index has of it stays.
func (s *synchronizer) skippedPath(path string) bool {
	return slices.ContainsFunc(s.report.Skipped, func(x skipped) bool { return x.Path == path })
}

// readStored asks the index for what it has of the source, and makes it where there is none.
func (s *synchronizer) readStored(ctx context.Context) error {
	s.stored = map[string]storedPage{}
	route := "/indexes/" + url.PathEscape(s.index)
	var info struct{ PrimaryKey string }
	err := s.call(ctx, http.MethodGet, route, "", nil, &info)
	if failed, ok := errors.AsType[*statusError](err); ok && failed.status == http.StatusNotFound {
		if s.dryRun {
			return nil
		}
		var accepted struct{ TaskUID uint32 }
		if err := s.call(ctx, http.MethodPatch, route+"/settings", "application/json", []byte(host.FileIndexSettings), &accepted); err != nil {
			return fmt.Errorf("make the index: %w", err)
		}
		s.tasks = append(s.tasks, accepted.TaskUID)
		err := s.wait(ctx)
		s.tasks = nil
		return err
	}
	if err != nil {
		return fmt.Errorf("look at the index: %w", err)
	}
	if info.PrimaryKey != "" && info.PrimaryKey != "id" {
		return fmt.Errorf("index %s has the primary key %q, and files become documents with an %q: import into another index", s.index, info.PrimaryKey, "id")
	}
	for offset := 0; ; {
		body, err := json.Marshal(map[string]any{
			"filter": s.source.FilterOf(), "fields": []string{"id", "path", "contentHash"}, "limit": 1000, "offset": offset,
		})
		if err != nil {
			return err
		}
		var page struct {
			Results []struct{ ID, Path, ContentHash string }
			Total   int
		}
		err = s.call(ctx, http.MethodPost, route+"/documents/fetch", "application/json", body, &page)
		if failed, ok := errors.AsType[*statusError](err); ok && failed.code == "invalid_document_filter" {
			return fmt.Errorf("index %s was not made for files: add \"group\" to its setting filterableAttributes, or import into another index (%w)", s.index, err)
		}
		if err != nil {
			return fmt.Errorf("look at what is in the index: %w", err)
		}
		for _, d := range page.Results {
			if s.stored[d.Path] == nil {
				s.stored[d.Path] = storedPage{}
			}
			s.stored[d.Path][d.ID] = d.ContentHash
		}
		if offset += len(page.Results); len(page.Results) == 0 || offset >= page.Total {
			return nil
		}
	}
}

// tell prints the report.
func (s *synchronizer) tell(out io.Writer) error {
	s.report.Deleted = len(s.gone)
	if s.json {
		return json.NewEncoder(out).Encode(s.report)
	}
	for _, x := range s.report.Skipped {
		if _, err := fmt.Fprintf(out, "skipped %s: %s\n", x.Path, x.Reason); err != nil {
			return err
		}
	}
	r := &s.report
	would := ""
	if s.dryRun {
		would = "would be: "
	}
	_, err := fmt.Fprintf(out, "%s%d changed, %d new, %d gone, %d the same (files); %d passages, %s, %d sent, %d deleted; index %s\n",
		would, r.Changed, r.New, r.Gone, r.Same, r.Passages, humanize.IBytes(uint64(r.Bytes)), r.Sent, r.Deleted, s.index)
	return err
}

// watchInterval is how often --watch looks at the files.
const watchInterval = 2 * time.Second

// watch synchronizes whenever the files change, until ctx ends.
func (s *synchronizer) watch(ctx context.Context, names []string, out, errs io.Writer) error {
	last := ""
	for {
		state, err := s.state(ctx, names)
		if err == nil && state != last {
			if err = s.run(ctx, names, out); err == nil {
				last = state
			}
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(errs, "parley: %v; trying again\n", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}

// state is a text that changes whenever a file does.
func (s *synchronizer) state(ctx context.Context, names []string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		err := host.EachFile(ctx, name, &s.selection, func(f host.File) error {
			fmt.Fprintf(&b, "%s\x00%d\x00%d\n", f.Path, f.Size, f.Changed.UnixNano())
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return cmp.Or(b.String(), "none"), nil
}
