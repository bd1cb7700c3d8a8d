package documents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/cmd/parley/internal/cli"
	"github.com/parley-search/parley/host"
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
	if err := s.settle(ctx); err != nil {
		return err
	}
	s.stored = map[string]*storedPage{}
	route := "/indexes/" + url.PathEscape(s.Index)
	var info struct{ PrimaryKey string }
	err := s.call(ctx, http.MethodGet, route, "", nil, &info)
	if failed, ok := errors.AsType[*cli.StatusError](err); ok && failed.Status == http.StatusNotFound {
		if s.dryRun {
			return nil
		}
		var accepted struct{ TaskUID uint32 }
		if err := s.call(ctx, http.MethodPatch, route+"/settings", "application/json", []byte(host.FileIndexSettings), &accepted); err != nil {
			return fmt.Errorf("make the index: %w", err)
		}
		failed, err := s.await(ctx, accepted.TaskUID)
		return cmp.Or(err, failed)
	}
	if err != nil {
		return fmt.Errorf("look at the index: %w", err)
	}
	if info.PrimaryKey != "" && info.PrimaryKey != "id" {
		return fmt.Errorf("index %s has the primary key %q, and files become documents with an %q: import into another index", s.Index, info.PrimaryKey, "id")
	}
	for offset := 0; ; {
		body, err := json.Marshal(map[string]any{
			"filter": s.Source.FilterOf(), "fields": []string{"id", "path", "contentHash"}, "limit": storedPageSize, "offset": offset,
		})
		if err != nil {
			return err
		}
		var page struct {
			Results []struct{ ID, Path, ContentHash string }
			Total   int
		}
		err = s.call(ctx, http.MethodPost, route+"/documents/fetch", "application/json", body, &page)
		if failed, ok := errors.AsType[*cli.StatusError](err); ok && failed.Code == "invalid_document_filter" {
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

// settle waits until the tasks of the index that were accepted so far are done: those of an import that
// was interrupted may be among them, and what they bring or delete is not to be counted as it was before.
func (s *Synchronizer) settle(ctx context.Context) error {
	newest := uint32(0)
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		route := "/tasks?limit=1&statuses=enqueued,processing&indexUids=" + url.QueryEscape(s.Index)
		if newest > 0 {
			route += fmt.Sprintf("&from=%d", newest)
		}
		var list struct{ Results []struct{ UID uint32 } }
		if err := s.call(ctx, http.MethodGet, route, "", nil, &list); err != nil {
			return fmt.Errorf("look for tasks of the index: %w", err)
		}
		if len(list.Results) == 0 {
			return nil
		}
		if newest == 0 {
			newest = list.Results[0].UID
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// listGone looks at which files there are, before any is read: it returns the paths that the index has of
// the source and that are gone and to be pruned, and how many bytes the files have.
func (s *Synchronizer) listGone(ctx context.Context, names []string) (gone []string, total int64, err error) {
	there := map[string]bool{}
	readable := 0
	for _, name := range names {
		err := host.EachFile(ctx, name, &s.selection, func(f host.File) error {
			total += f.Size
			there[s.pathOf(name, f, len(names))] = true
			if host.CanReadFile(f.Path) {
				readable++
			}
			return nil
		})
		if err != nil {
			return nil, 0, fmt.Errorf("import %s: %w", name, err)
		}
	}
	if !s.Prune {
		return nil, total, nil
	}
	for path := range s.stored {
		if !there[path] {
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	switch {
	case len(gone) == 0:
	case readable == 0:
		return nil, 0, s.nothingRead()
	case 2*len(gone) > len(s.stored) && !s.Force:
		return nil, 0, fmt.Errorf("%d of the %d files that the index has of source %q are gone: pass --force to delete their passages, or --prune=false to keep them; nothing was changed", len(gone), len(s.stored), s.Source.Name)
	}
	return gone, total, nil
}

// nothingRead is the error where there is no file to be read, and there are some in the index.
func (s *Synchronizer) nothingRead() error {
	return fmt.Errorf("no file was read, and the index has %d files of source %q: nothing is deleted; pass --prune=false to say that none is to be", len(s.stored), s.Source.Name)
}

// noteGone notes the documents of files that are gone, to be deleted.
func (s *Synchronizer) noteGone(gone []string) {
	for _, path := range gone {
		s.Report.Gone++
		for id := range s.stored[path].hashes() {
			s.gone = append(s.gone, id)
		}
	}
}
