package documents

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

	"github.com/parley-search/parley/host/internal/search/reader"
)

// A Synchronizer makes an index hold the passages of files: what changed is sent, and what is gone is
// deleted.
type Synchronizer struct {
	Importer
	Source      reader.Source
	selection   reader.Selection
	stripPrefix string
	Prune       bool // delete what is there of files that are gone
	Force       bool // also where that is over half of them
	Reader      *reader.Reader

	explain bool // print the passages of each file, and do nothing
	report  bool // print what was read of each file

	stored map[string]*storedPage // by path
	lost   map[string]bool        // paths that are stored and have no file, of which some may have moved
	closed []string               // folders that cannot be listed
	Report SyncReport
	asked  string   // a question that the files answer
	headed bool     // asked is of a heading that was read
	gone   []string // ids to delete once all is sent
}

// A SyncReport says what came of it, counted in files but for Passages and Bytes.
type SyncReport struct {
	Files    int       `json:"files"`
	Changed  int       `json:"changed"`
	New      int       `json:"new"`
	Gone     int       `json:"gone"`
	Moved    int       `json:"moved"` // of those that are gone and new: their text is the same
	Kept     int       `json:"kept"`  // of those that are gone: deleted with --force
	Same     int       `json:"same"`
	Passages int       `json:"passages"` // of all files
	Sent     int       `json:"sent"`     // passages
	Deleted  int       `json:"deleted"`  // passages
	Bytes    int64     `json:"bytes"`
	Skipped  []skipped `json:"skipped"`
	// Read is what was read of each file, where it was asked for.
	Read []readFile `json:"read,omitempty"`
}

// A readFile says what was read of a file.
type readFile struct {
	Path     string           `json:"path"`
	Passages int              `json:"passages"`
	Kind     string           `json:"kind"`
	Encoding string           `json:"encoding,omitempty"`
	Lang     string           `json:"lang,omitempty"`
	LeftOut  []reader.LeftOut `json:"leftOut,omitempty"`
}

// A skipped file is one that could not be read.
type skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Run synchronizes the index with the files of names.
func (s *Synchronizer) Run(ctx context.Context, names []string, out io.Writer) error {
	s.Report, s.gone, s.tasks, s.Source.Now = SyncReport{Skipped: []skipped{}}, nil, nil, time.Now().UTC()
	s.body.Reset() // what a run before that failed has left
	if err := s.readStored(ctx); err != nil {
		return err
	}
	total, err := s.look(ctx, names)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range names {
		err := reader.EachFile(ctx, name, &s.selection, func(f reader.File) error {
			s.Report.Bytes += f.Size
			defer s.Bar.Show("reading", s.Report.Bytes, total)
			path := s.pathOf(name, f, len(names))
			if seen[path] {
				s.skip(path, "another file has the same path")
				return nil
			}
			seen[path] = true
			return s.file(ctx, path, f, out)
		})
		if err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
	}
	s.Bar.End()
	if err := s.noteGone(); err != nil {
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

// finish sends what is left, waits, and deletes only then: a search meanwhile finds the new passages
// or the old ones.
func (s *Synchronizer) finish(ctx context.Context) error {
	if s.body.Len() > 0 {
		if err := s.send(ctx); err != nil {
			return err
		}
	}
	if err := s.wait(ctx, "indexing"); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	s.tasks = nil
	for ids := range slices.Chunk(s.gone, 1000) {
		uid, err := s.Client.Begin(ctx, http.MethodPost, "/indexes/"+url.PathEscape(s.Index)+"/documents/delete-batch", ids)
		if err != nil {
			return fmt.Errorf("delete what is gone: %w", err)
		}
		s.tasks = append(s.tasks, uid)
	}
	return s.wait(ctx, "deleting")
}

// pathOf is the path that a file's documents have.
func (s *Synchronizer) pathOf(name string, f reader.File, roots int) string {
	path := f.Path
	if roots > 1 {
		if base := filepath.Base(filepath.Clean(name)); base != path {
			path = base + "/" + path
		}
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, s.stripPrefix), "/")
}

func (s *Synchronizer) skip(path, reason string) {
	s.Report.Skipped = append(s.Report.Skipped, skipped{path, reason})
}

// file sends what changed of one file.
func (s *Synchronizer) file(ctx context.Context, path string, f reader.File, out io.Writer) error {
	if f.PassedOver != "" {
		s.skip(path, f.PassedOver)
		return nil
	}
	if !f.Folder && !reader.CanRead(f.Path) {
		s.skip(path, "no format that can be read")
		return nil
	}
	data, err := f.Read()
	if err != nil {
		s.skip(path, err.Error())
		return nil
	}
	page, docs, err := s.Source.Read(ctx, s.Reader, path, f.Path, data)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	there := s.stored[path]
	hashes := there.hashes()
	if err != nil {
		s.skip(path, err.Error())
		if errors.Is(err, reader.ErrEmpty) && there != nil { // it was emptied
			s.Report.Changed++
			for id := range hashes {
				s.gone = append(s.gone, id)
			}
		}
		return nil
	}
	s.Report.Files++
	s.noteQuestion(docs)
	s.Report.Passages += len(docs)
	if s.report {
		s.Report.Read = append(s.Report.Read, readFile{path, len(docs), page.Kind, page.Encoding, page.Lang, page.LeftOut})
	}
	if s.explain {
		return explain(out, page, docs)
	}
	if there == nil {
		s.noteMoved(docs)
	}
	changed := false
	for i := range docs {
		d := &docs[i]
		hash, ok := hashes[d.ID]
		delete(hashes, d.ID)
		if ok && hash == d.ContentHash {
			continue
		}
		changed = true
		s.Report.Sent++
		if s.dryRun {
			continue
		}
		if err := s.add(ctx, d); err != nil {
			return err
		}
	}
	for id := range hashes {
		s.gone = append(s.gone, id)
		changed = true
	}
	switch {
	case there == nil:
		s.Report.New++
	case changed:
		s.Report.Changed++
	default:
		s.Report.Same++
	}
	return nil
}

// noteQuestion keeps a question made of the first heading of several words, or of the
// first page's title until there is one.
func (s *Synchronizer) noteQuestion(docs []reader.Document) {
	for i := range docs {
		h := docs[i].Headings
		if s.headed || len(h) == 0 || len(strings.Fields(h[len(h)-1])) < 2 {
			continue
		}
		s.headed = true
		if s.asked = h[len(h)-1]; !strings.HasSuffix(s.asked, "?") {
			s.asked = "What does " + docs[i].Title + " say about " + s.asked + "?"
		}
	}
	if s.asked == "" && len(docs) > 0 {
		s.asked = "What is said about " + docs[0].Title + "?"
	}
}

// Question is one that the files answer; empty if there are none.
func (s *Synchronizer) Question() string { return s.asked }

// add puts a passage into the next request.
func (s *Synchronizer) add(ctx context.Context, d *reader.Document) error {
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return s.Importer.add(ctx, b)
}

// tell prints the report.
func (s *Synchronizer) tell(out io.Writer) error {
	s.Report.Deleted = len(s.gone)
	if s.json {
		return json.NewEncoder(out).Encode(s.Report)
	}
	for _, f := range s.Report.Read {
		if _, err := fmt.Fprintln(out, f.line()); err != nil {
			return err
		}
	}
	for _, x := range s.Report.Skipped {
		if _, err := fmt.Fprintf(out, "skipped %s: %s\n", x.Path, x.Reason); err != nil {
			return err
		}
	}
	r := &s.Report
	would := ""
	if s.dryRun {
		would = "would be: "
	}
	if r.Kept > 0 {
		if _, err := fmt.Fprintf(out, "%d of the %d files that the index has of source %q are gone: their passages are kept; pass --force to delete them\n", r.Kept, len(s.stored), s.Source.Name); err != nil {
			return err
		}
	}
	moved := ""
	if r.Moved > 0 {
		moved = fmt.Sprintf(" (%d moved)", r.Moved)
	}
	_, err := fmt.Fprintf(out, "%s%d changed, %d new, %d gone%s, %d the same (files); %d passages, %s, %d sent, %d deleted; index %s\n",
		would, r.Changed, r.New, r.Gone, moved, r.Same, r.Passages, humanize.IBytes(uint64(r.Bytes)), r.Sent, r.Deleted, s.Index)
	return err
}

// watchInterval is how often --watch looks at the files.
const watchInterval = 2 * time.Second

// watch synchronizes whenever the files change, until ctx ends.
func (s *Synchronizer) watch(ctx context.Context, names []string, out, errs io.Writer) error {
	last, told := "", ""
	for {
		state, err := s.state(ctx, names)
		if err == nil && state != last {
			if err = s.Run(ctx, names, out); err == nil {
				last = state
			}
		}
		said := ""
		if err != nil && ctx.Err() == nil {
			if said = err.Error(); said != told {
				fmt.Fprintf(errs, "parley: %v; trying again\n", err)
			}
		}
		told = said
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchInterval):
		}
	}
}

// state is a text that changes whenever a file does, or who may read it.
func (s *Synchronizer) state(ctx context.Context, names []string) (string, error) {
	var b strings.Builder
	for _, name := range names {
		err := reader.EachFile(ctx, name, &s.selection, func(f reader.File) error {
			fmt.Fprintf(&b, "%s\x00%d\x00%d\x00%o\n", f.Path, f.Size, f.Changed.UnixNano(), f.Mode)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return cmp.Or(b.String(), "none"), nil
}

// line says in a line what was read of a file.
func (f *readFile) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "read %s: %d passages, %s", f.Path, f.Passages, f.Kind)
	for _, x := range []string{f.Encoding, f.Lang} {
		if x != "" {
			b.WriteString(", " + x)
		}
	}
	for i, l := range f.LeftOut {
		if i == 0 {
			b.WriteString("; left out: ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%d words)", l.Rule, l.Words)
	}
	return b.String()
}

// explain prints the passages of a file as a model sees them.
func explain(out io.Writer, page *reader.Page, docs []reader.Document) error {
	for i := range docs {
		d := &docs[i]
		place := d.Path
		switch {
		case d.Page > 0:
			place += fmt.Sprintf(", page %d", d.Page)
		case d.Line > 0:
			place += fmt.Sprintf(", line %d", d.Line)
		}
		if _, err := fmt.Fprintf(out, "--- %d of %d: %s (%s)\n%s\n\n", i+1, len(docs), strings.Join(append([]string{d.Title}, d.Headings...), " > "), place, d.Text); err != nil {
			return err
		}
	}
	f := readFile{docs[0].Path, len(docs), page.Kind, page.Encoding, page.Lang, page.LeftOut}
	_, err := fmt.Fprintln(out, f.line())
	return err
}
