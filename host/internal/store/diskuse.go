package store

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// DiskUse is what the files below dir take of the disk, in bytes. One that goes
// away meanwhile counts for nothing.
func DiskUse(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += diskUse(info)
		}
		return nil
	})
	return bytes
}

// Stale is how many bytes of the database's tables are of records that were
// overwritten or deleted since: the next compaction drops them.
func (s *Store) Stale() (bytes int64) {
	for _, t := range s.db.Tables() {
		bytes += int64(t.StaleDataSize)
	}
	return bytes
}

// diskUse is what a file takes: Badger's logs are larger than what is in them.
func diskUse(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
