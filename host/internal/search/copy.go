package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/blevesearch/bleve/v2"
)

// CopyFolders copies the bleve folder of each index below dir, each under its
// own name: with the database of the same moment, an index that is opened there
// answers at once. While no task is applied, that is. An index that has no
// folder to copy just now is left out; it is built anew then.
func (s *Service) CopyFolders(ctx context.Context, dir string) error {
	s.mu.RLock()
	var states []*state
	for _, ix := range s.indexes {
		states = append(states, ix.state.Load())
	}
	s.mu.RUnlock()
	for _, st := range states {
		if err := ctx.Err(); err != nil {
			return err
		}
		if st.folder == nil || st.folder.name() != st.meta.Folder {
			continue
		}
		release, ok := st.folder.acquire()
		if !ok {
			continue
		}
		err := copyFolder(st.folder, filepath.Join(dir, st.folder.name()))
		release()
		if err != nil {
			return fmt.Errorf("copy folder of index %s: %w", st.meta.UID, err)
		}
	}
	return nil
}

func copyFolder(f *folder, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	copyable, ok := f.idx.(bleve.IndexCopyable)
	if !ok {
		return fmt.Errorf("%T cannot be copied", f.idx)
	}
	return copyable.CopyTo(bleve.FileSystemDirectory(to))
}
