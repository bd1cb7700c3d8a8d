package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/search/reader"
)

// A storedPage is what the index has of one file. A folder of a gigabyte has more than a million
// documents, so that they are kept small.
type storedPage struct {
	prefix    string // that the ids begin with
	documents []storedDocument
	others    map[string]string // hashes of documents that have ids of another form
}

// A storedDocument is the rest of an id, and the hash.
type storedDocument struct {
	id   [8]byte
	hash [16]byte
}

func (p *storedPage) add(id, hash string) {
	var d storedDocument
	rest, ok := strings.CutPrefix(id, p.prefix)
	if !ok || len(rest) != len(d.id) || len(hash) != len(d.hash) {
		if p.others == nil {
			p.others = map[string]string{}
		}
		p.others[id] = hash
		return
	}
	copy(d.id[:], rest)
	copy(d.hash[:], hash)
	p.documents = append(p.documents, d)
}

// hashes returns the hash of each document by its id; of no page, none.
func (p *storedPage) hashes() map[string]string {
	if p == nil {
		return nil
	}
	m := make(map[string]string, len(p.documents)+len(p.others))
	maps.Copy(m, p.others)
	for i := range p.documents {
		d := &p.documents[i]
		m[p.prefix+string(d.id[:])] = string(d.hash[:])
	}
	return m
}

// storedPageSize is how many documents are asked for at a time. The service looks through all of them for
// each answer.
const storedPageSize = 20_000

// readStored asks the index for what it has of the source, and makes it where there is none.
func (s *Synchronizer) readStored(ctx context.Context) error {
	// Tasks of an import that was interrupted may be among them: what they bring or delete is not to be
	// counted as it was before.
	if err := s.Client.AwaitIndex(ctx, s.Index); err != nil {
		return err
	}
	s.stored = map[string]*storedPage{}
	route := "/indexes/" + url.PathEscape(s.Index)
	var info struct{ PrimaryKey string }
	err := s.Client.Call(ctx, http.MethodGet, route, nil, &info)
	if failed, ok := errors.AsType[*cmdutil.StatusError](err); ok && failed.Status == http.StatusNotFound {
		if s.dryRun {
			return nil
		}
		if _, err := s.Client.Finish(ctx, http.MethodPatch, route+"/settings", json.RawMessage(reader.IndexSettings)); err != nil {
			return fmt.Errorf("make the index: %w", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the index: %w", err)
	}
	if info.PrimaryKey != "" && info.PrimaryKey != "id" {
		return fmt.Errorf("index %s has the primary key %q, and files become documents with an %q: import into another index", s.Index, info.PrimaryKey, "id")
	}
	for offset := 0; ; {
		body := map[string]any{
			"filter": s.Source.FilterOf(), "fields": []string{"id", "path", "contentHash"}, "limit": storedPageSize, "offset": offset,
		}
		var page struct {
			Results []struct{ ID, Path, ContentHash string }
			Total   int
		}
		err = s.Client.Call(ctx, http.MethodPost, route+"/documents/fetch", body, &page)
		if failed, ok := errors.AsType[*cmdutil.StatusError](err); ok && failed.Code == "invalid_document_filter" {
			return fmt.Errorf("index %s was not made for files: add \"group\" to its setting filterableAttributes, or import into another index (%w)", s.Index, err)
		}
		if err != nil {
			return fmt.Errorf("look at what is in the index: %w", err)
		}
		for _, d := range page.Results {
			if s.stored[d.Path] == nil {
				s.stored[d.Path] = &storedPage{prefix: s.Source.PagePrefix(d.Path)}
			}
			s.stored[d.Path].add(d.ID, d.ContentHash)
		}
		if offset += len(page.Results); len(page.Results) == 0 || offset >= page.Total {
			return nil
		}
	}
}

// look looks at which files there are, before any is read: it notes which ones the index has and are not there,
// and what is the same on pages of a site, and returns how many bytes the files have.
func (s *Synchronizer) look(ctx context.Context, names []string) (total int64, err error) {
	there, site := map[string]bool{}, &reader.Site{}
	s.lost, s.closed = map[string]bool{}, nil
	for _, name := range names {
		err := reader.EachFile(ctx, name, &s.selection, func(f reader.File) error {
			if f.PassedOver != "" {
				return nil
			}
			total += f.Size
			path := s.pathOf(name, f, len(names))
			there[path] = true
			if f.Folder {
				s.closed = append(s.closed, path+"/")
			}
			if site != nil && reader.IsPage(f.Path) {
				if data, err := f.Read(); err == nil && !site.Learn(data) {
					s.Reader, site = &reader.Reader{PDF: s.Reader.PDF, Site: site}, nil
				}
			}
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("import %s: %w", name, err)
		}
	}
	if site != nil {
		s.Reader = &reader.Reader{PDF: s.Reader.PDF, Site: site}
	}
	for path := range s.stored {
		if !there[path] && !slices.ContainsFunc(s.closed, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
			s.lost[path] = true
		}
	}
	return total, nil
}

// noteMoved notes that a new file is one that is gone from elsewhere, with the same text.
func (s *Synchronizer) noteMoved(docs []reader.Document) {
	if !s.Prune {
		return
	}
	for path := range s.lost {
		page := s.stored[path]
		if len(page.documents) != len(docs) || len(page.others) > 0 {
			continue
		}
		hashes := page.hashes()
		if s.Source.AreMoved(docs, path, func(end string) string { return hashes[page.prefix+end] }) {
			delete(s.lost, path)
			s.Report.Moved++
			s.Report.Gone++
			for id := range hashes {
				s.gone = append(s.gone, id)
			}
			return
		}
	}
}

// noteGone notes the documents of files that are gone, to be deleted. Where those are over half of all, or
// nothing was read, it takes --force: a folder may not be mounted.
func (s *Synchronizer) noteGone() error {
	if !s.Prune || len(s.lost) == 0 {
		return nil
	}
	if s.Report.Files == 0 {
		return fmt.Errorf("no file was read, and the index has %d files of source %q: nothing is deleted; pass --prune=false to say that none is to be", len(s.stored), s.Source.Name)
	}
	if 2*len(s.lost) > len(s.stored) && !s.Force {
		s.Report.Kept = len(s.lost)
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(s.lost)) {
		s.Report.Gone++
		for id := range s.stored[path].hashes() {
			s.gone = append(s.gone, id)
		}
	}
	return nil
}

// explainAll prints the passages of the files of names. It asks no service.
func (s *Synchronizer) explainAll(ctx context.Context, names []string, out io.Writer) error {
	s.Report = SyncReport{Skipped: []skipped{}}
	if _, err := s.look(ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := reader.EachFile(ctx, name, &s.selection, func(f reader.File) error {
			return s.file(ctx, s.pathOf(name, f, len(names)), f, out)
		}); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	for _, x := range s.Report.Skipped {
		if _, err := fmt.Fprintf(out, "skipped %s: %s\n", x.Path, x.Reason); err != nil {
			return err
		}
	}
	return nil
}
