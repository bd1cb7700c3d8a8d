package index

import (
	"context"
	"fmt"
	"path/filepath"
)

// CopyFolders copies the bleve folder of each index below dir, each under its
// own name: with the database of the same moment, an index that is opened there
// answers at once. While no task is applied, that is. An index that has no
// folder to copy just now is left out; it is built anew then.
func (c *Catalog) CopyFolders(ctx context.Context, dir string) error {
	for _, ix := range c.All() {
		st := ix.state.Load()
		if err := ctx.Err(); err != nil {
			return err
		}
		if st.Folder == nil || st.Folder.Name() != st.Meta.Folder {
			continue
		}
		release, ok := st.Folder.Acquire()
		if !ok {
			continue
		}
		err := st.Folder.Copy(filepath.Join(dir, st.Folder.Name()))
		release()
		if err != nil {
			return fmt.Errorf("copy folder of index %s: %w", st.Meta.UID, err)
		}
	}
	return nil
}
