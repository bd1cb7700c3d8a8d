package reader

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of an archive.
const (
	maxArchiveFiles = 100_000
	maxArchiveBytes = 4 << 30 // unpacked, in all
)

// A Selection says which files of a folder or archive are taken.
type Selection struct {
	// Include and Exclude are patterns such as "docs/*.md" and "**/draft/**"; a file is taken that fits one
	// of Include, or any where it is empty, and none of Exclude. A pattern without a slash is held against
	// each part of the path.
	Include, Exclude []string
}

// takes reports whether a file is taken by its path, with slashes.
func (s *Selection) takes(name string) bool {
	fits := func(pattern string) bool { return matchPath(pattern, name) }
	return (len(s.Include) == 0 || slices.ContainsFunc(s.Include, fits)) && !slices.ContainsFunc(s.Exclude, fits)
}

// Check says what is wrong with the patterns.
func (s *Selection) Check() error {
	for _, p := range slices.Concat(s.Include, s.Exclude) {
		for part := range strings.SplitSeq(p, "/") {
			if _, err := path.Match(part, ""); err != nil {
				return fmt.Errorf("the pattern %q: %w", p, err)
			}
		}
	}
	return nil
}

// matchPath reports whether a path fits a pattern, of which ** is any number of parts.
func matchPath(pattern, name string) bool {
	parts := strings.Split(name, "/")
	if !strings.Contains(pattern, "/") {
		return slices.ContainsFunc(parts, func(part string) bool {
			ok, _ := path.Match(pattern, part)
			return ok
		})
	}
	return matchParts(strings.Split(strings.Trim(pattern, "/"), "/"), parts)
}

func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(parts) + 1 {
				if matchParts(pattern[1:], parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, _ := path.Match(pattern[0], parts[0]); !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}

// A File is one that was found.
type File struct {
	Path string // below the folder or archive, with slashes; for a file given by itself, its name
	Size int64
	// Changed is when it was; of a file in an archive, as that says.
	Changed time.Time
	Mode    fs.FileMode // of a file in a folder: who may read it, among others
	// Read returns the contents, at most MaxFile bytes; more is an error.
	Read func() ([]byte, error)
	// Folder reports that it is a folder whose files cannot be listed: Read says why.
	Folder bool
	// PassedOver says why it is not read, as if it were not there; empty: it is.
	PassedOver string
}

// EachFile calls f for each file of name, which is a file, a folder, or an archive (.zip, .tar.gz, .tgz),
// in the order of their paths but for those of an archive. Hidden files are none of them. An error of f ends it.
func EachFile(ctx context.Context, name string, s *Selection, f func(File) error) error {
	st, err := os.Stat(name)
	switch {
	case err != nil:
		return fmt.Errorf("open: %w", err)
	case st.IsDir():
		return eachOfFolder(ctx, name, s, f)
	case !IsArchive(name):
		return f(fileAt(name, filepath.Base(name), st))
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	defer file.Close()
	return EachOfArchive(ctx, name, file, st.Size(), s, f)
}

// IsArchive reports whether the name of a file says an archive whose files can be read.
func IsArchive(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// EachOfArchive is [EachFile] for an archive of size bytes that is read from r; its name says its format.
func EachOfArchive(ctx context.Context, name string, r io.ReaderAt, size int64, s *Selection, f func(File) error) error {
	if strings.HasSuffix(strings.ToLower(name), ".zip") {
		return eachOfZip(ctx, r, size, s, f)
	}
	return eachOfTar(ctx, io.NewSectionReader(r, 0, size), s, f)
}

func fileAt(name, shown string, st fs.FileInfo) File {
	return File{Path: shown, Size: st.Size(), Changed: st.ModTime(), Mode: st.Mode(), Read: func() ([]byte, error) {
		r, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return readBounded(r)
	}}
}

func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("the file has more than %d bytes: that is too large", MaxFile)
	}
	return data, err
}

func isDotFile(name string) bool { return strings.HasPrefix(path.Base(name), ".") }

func eachOfFolder(ctx context.Context, root string, s *Selection, f func(File) error) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		switch {
		case relErr != nil:
			return relErr
		case err != nil && rel == ".":
			return err
		case err != nil && !isDotFile(rel):
			return f(File{Path: rel, Folder: true, Read: func() ([]byte, error) { return nil, err }})
		case err != nil || rel == ".":
			return nil
		}
		if isDotFile(rel) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() || !s.takes(rel) {
			return nil
		}
		st, err := os.Stat(name) // of what a link leads to
		gone, link := errors.Is(err, fs.ErrNotExist), d.Type()&fs.ModeSymlink != 0
		switch {
		case gone && !link:
			return nil
		case gone:
			err = errors.New("a link to what is not there")
			fallthrough
		case err != nil: // it is there, but for its disk or its rights
			return f(File{Path: rel, Read: func() ([]byte, error) { return nil, err }})
		case st.IsDir():
			return f(File{Path: rel, PassedOver: "a link to a folder: import that folder, too"})
		case !st.Mode().IsRegular():
			return f(File{Path: rel, PassedOver: "no file with contents, but a device, a pipe or a socket"})
		}
		return f(fileAt(name, rel, st))
	})
}

func eachOfZip(ctx context.Context, r io.ReaderAt, size int64, s *Selection, f func(File) error) error {
	z, err := openZip(r, size, maxArchiveFiles)
	if err != nil {
		return err
	}
	left := int64(maxArchiveBytes)
	for _, e := range z.File {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel := CleanPath(e.Name)
		if e.FileInfo().IsDir() || rel == "" || !s.takes(rel) {
			continue
		}
		err := f(File{Path: rel, Size: int64(e.UncompressedSize64), Changed: e.Modified, Read: func() ([]byte, error) {
			r, err := e.Open()
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return takeOf(&left, r)
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

func eachOfTar(ctx context.Context, r io.Reader, s *Selection, f func(File) error) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("open archive: %w", err)
	}
	left := int64(maxArchiveBytes)
	t := tar.NewReader(io.LimitReader(z, 2*maxArchiveBytes))
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read archive: %w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		case n == maxArchiveFiles:
			return fmt.Errorf("the archive has more than %d files", maxArchiveFiles)
		}
		rel := CleanPath(h.Name)
		if h.Typeflag != tar.TypeReg || rel == "" || !s.takes(rel) {
			continue
		}
		if err := f(File{Path: rel, Size: h.Size, Changed: h.ModTime, Read: func() ([]byte, error) { return takeOf(&left, t) }}); err != nil {
			return err
		}
	}
}

// takeOf reads a file of an archive and counts its bytes down.
func takeOf(left *int64, r io.Reader) ([]byte, error) {
	data, err := readBounded(io.LimitReader(r, *left+1))
	if *left -= int64(len(data)); *left < 0 {
		return nil, fmt.Errorf("the archive unpacks to more than %d bytes", int64(maxArchiveBytes))
	}
	return data, err
}

// CleanPath returns the path that an archive or a client gives a file, with slashes; empty for one that is
// hidden or leads out of its folder.
func CleanPath(name string) string {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !fs.ValidPath(name) || name == "." {
		return ""
	}
	for part := range strings.SplitSeq(name, "/") {
		if isDotFile(part) || part == "__MACOSX" {
			return ""
		}
	}
	return name
}
