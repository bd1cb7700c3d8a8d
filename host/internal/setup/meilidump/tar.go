package meilidump

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/parley-search/parley/host/internal/base/lines"
)

// eachLine calls f with each line of r that is not empty; f does not keep it.
func eachLine(r io.Reader, f func(line []byte) error) error {
	in := lines.NewReader(r, maxLine)
	for n := 1; ; n++ {
		line, err := in.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := f(line); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
}

// walk calls each for every file of the dump, in its order.
func walk(ctx context.Context, file string, each func(name string, size int64, r io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return errNotWhole(err)
	}
	most := maxUnpacked + maxRatio*info.Size()
	bounded := &boundedReader{ctx: ctx, from: z, left: most}
	archive := tar.NewReader(bounded)
	for n := 0; ; n++ {
		h, err := archive.Next()
		if err == io.EOF {
			_, err = io.Copy(io.Discard, bounded) // to the end, where the sum is
			return errNotWhole(err)
		}
		if err != nil {
			return errNotWhole(err)
		}
		name := path.Clean(h.Name)
		switch {
		case n >= maxEntries:
			return fmt.Errorf("it has more than %d files", maxEntries)
		case !filepath.IsLocal(name):
			return fmt.Errorf("it has a file %.100q, which lies outside of it", h.Name)
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("it has an entry %.100q that is neither a file nor a folder", h.Name)
		}
		// A file with holes is longer than what is packed of it.
		if h.Size > most {
			return errBomb
		}
		most -= h.Size
		if err := each(name, h.Size, archive); err != nil {
			return errNotWhole(err)
		}
	}
}

// errNotWhole says so where err is of a file that was cut or altered.
func errNotWhole(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, tar.ErrHeader) {
		return fmt.Errorf("it is not whole, or no dump: %w", err)
	}
	return err
}

var errBomb = fmt.Errorf("unpacked it has more than %d times its own size: it is not a dump, but made to fill a disk", maxRatio)

// A boundedReader reads so many bytes at most.
type boundedReader struct {
	ctx  context.Context
	from io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errBomb
	}
	return n, err
}
