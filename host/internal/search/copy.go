package search

import (
	"context"
	"fmt"
	"path/filepath"
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
		if st.folder == nil || st.folder.Name() != st.meta.Folder {
			continue
		}
		release, ok := st.folder.Acquire()
		if !ok {
			continue
		}
		err := st.folder.Copy(filepath.Join(dir, st.folder.Name()))
		release()
		if err != nil {
			return fmt.Errorf("copy folder of index %s: %w", st.meta.UID, err)
		}
	}
	return nil
}
