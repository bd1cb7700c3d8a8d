package host

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// A Seed is a workspace over one index, as quickstart makes it.
type Seed struct {
	Workspace     string
	Settings      []byte // what PATCH /chats/{uid}/settings takes
	Index         string
	IndexSettings []byte // what PATCH /indexes/{uid}/settings takes
	Documents     []byte // a JSON array of objects
}

// Seed makes what s says where it is not there yet, and returns how many
// documents the index holds then. The workspace's settings are patched in any
// case.
func (h *Host) Seed(ctx context.Context, s Seed) (documents int, err error) {
	if _, _, err := h.chat.Patch(ctx, s.Workspace, s.Settings); err != nil {
		return 0, fmt.Errorf("make workspace %q: %w", s.Workspace, err)
	}
	caller := auth.Everyone()
	if _, err := h.search.Index(caller, s.Index); err != nil {
		if err := h.seedIndex(ctx, s); err != nil {
			return 0, err
		}
	}
	stats, err := h.search.Stats(caller, s.Index)
	if err != nil {
		return 0, fmt.Errorf("read index %q: %w", s.Index, err)
	}
	return stats.NumberOfDocuments, nil
}

func (h *Host) seedIndex(ctx context.Context, s Seed) error {
	settings, err := h.search.UpdateSettings(s.Index, s.IndexSettings)
	if err != nil {
		return fmt.Errorf("set up index %q: %w", s.Index, err)
	}
	documents, err := write.AddDocuments(s.Index, "", false, s.Documents)
	if err != nil {
		return fmt.Errorf("read documents of index %q: %w", s.Index, err)
	}
	for _, n := range []task.New{settings, documents} {
		summary, err := h.tasks.Enqueue(ctx, n)
		if err != nil {
			return fmt.Errorf("enqueue task: %w", err)
		}
		done, err := h.tasks.Wait(ctx, summary.TaskUID)
		if err != nil {
			return fmt.Errorf("wait for task %d: %w", summary.TaskUID, err)
		}
		if done.Error != nil {
			b, _ := json.Marshal(done.Error)
			return fmt.Errorf("task %d of type %s: %s", done.UID, done.Type, b)
		}
	}
	return nil
}

//go:embed *.md docs/*.md docs/*/*.md
var documentation embed.FS

// Documentation returns the pages about this service, which the program carries, as an array of
// documents: passages, as an import of files makes them. base is the address below which the pages are
// published.
func Documentation(ctx context.Context, base string) ([]byte, error) {
	var docs []reader.Document
	r := reader.Reader{}
	source := reader.Source{Name: "parley", BaseURL: base, FileURLs: true}
	err := fs.WalkDir(documentation, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !reader.CanRead(name) {
			return err
		}
		data, err := documentation.ReadFile(name)
		if err != nil {
			return err
		}
		page, err := r.Read(ctx, name, data)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		list, err := source.Documents(name, page)
		docs = append(docs, list...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(docs)
}
