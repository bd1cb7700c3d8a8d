package sysinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile makes the file at path hold b, for its owner alone. A reader, after a
// crash too, finds b or what was there before, never a part: b is on the disk before it
// gets its name.
func ReplaceFile(path string, b []byte) (err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.Base(path)
	part := name + ".part"
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(part, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(part))
	}
	return SyncDir(root)
}

// Glob returns the paths in dir whose names match pattern, whatever characters dir has
// itself; none where it is not there or cannot be read.
func Glob(dir, pattern string) ([]string, error) {
	paths, err := fs.Glob(os.DirFS(dir), pattern)
	for i := range paths {
		paths[i] = filepath.Join(dir, filepath.FromSlash(paths[i]))
	}
	return paths, err
}
