package badgerdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// sweepEmpty removes the logs in dir, a folder of Badger's, that hold nothing.
// Badger makes a log and then gives it its size, and empties one before it
// removes it: a kill in between leaves an empty file, and Badger opens no folder
// with such a one.
func sweepEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".mem" && ext != ".vlog" || !e.Type().IsRegular() {
			continue
		}
		info, infoErr := e.Info()
		if infoErr == nil && info.Size() == 0 {
			infoErr = os.Remove(filepath.Join(dir, e.Name()))
		}
		err = errors.Join(err, infoErr)
	}
	if err != nil {
		return fmt.Errorf("remove empty logs: %w", err)
	}
	return nil
}
