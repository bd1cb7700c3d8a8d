// Package archive is the form of dumps and snapshots: one compressed file that
// says what it is, holds named streams one after the other, and ends with a sum
// over all of it. A file that was cut, altered or not finished is told from a
// whole one before anything of it is used.
package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
)

// The kinds of archives.
const (
	Dump     = "dump"
	Snapshot = "snapshot"
)

// Form is the number of the form that this build writes and reads.
const Form = 1

// A Head says what an archive is.
type Head struct {
	Kind      string    `json:"kind"`
	Form      int       `json:"form"`
	Version   string    `json:"version"` // of the host that made it
	Data      string    `json:"data"`    // number of the data format within
	CreatedAt time.Time `json:"createdAt"`
}

// The entries that are not streams.
const (
	headEntry = "archive.json"
	endEntry  = "end.json"
)

// maxPiece bounds an entry: a stream of unknown length is written in pieces.
const maxPiece = 1 << 20

// An end is the last entry.
type end struct {
	SHA256 string `json:"sha256"` // over the name and the bytes of each entry before it
}

// A Writer writes an archive. Not safe for concurrent use.
type Writer struct {
	tar  *tar.Writer
	sum  hash.Hash
	when time.Time
	buf  bytes.Buffer
	n    int // of the piece, within its stream
}

// Create makes the archive at path: fill writes its streams. It is not there
// before it is whole, written down, and read again to its end; a file that
// stood in its place is replaced then.
func Create(path string, h Head, fill func(*Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make folder of archive: %w", err)
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("make archive: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	h.Form = Form
	if err := errors.Join(write(f, h, fill), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write archive: %w", err)
	}
	if _, err := Check(part); err != nil {
		return fmt.Errorf("check archive that was just written: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("put archive in its place: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func write(f io.Writer, h Head, fill func(*Writer) error) error {
	z, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	w := &Writer{tar: tar.NewWriter(z), sum: sha256.New(), when: h.CreatedAt}
	if err := w.json(headEntry, h); err != nil {
		return errors.Join(err, z.Close())
	}
	if err := fill(w); err != nil {
		return errors.Join(err, z.Close())
	}
	err = w.json(endEntry, end{hex.EncodeToString(w.sum.Sum(nil))})
	return errors.Join(err, w.tar.Close(), z.Close())
}

func (w *Writer) json(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.entry(name, b)
}

// entry writes one entry and takes it into the sum.
func (w *Writer) entry(name string, b []byte) error {
	add(w.sum, name, b)
	if err := w.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(b)), ModTime: w.when}); err != nil {
		return err
	}
	_, err := w.tar.Write(b)
	return err
}

// add takes an entry into a sum, so that no other split of the same bytes into
// names and bodies has the same one.
func add(sum hash.Hash, name string, b []byte) {
	fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(b))
	sum.Write(b)
}

// Stream writes the stream called name: what from writes.
func (w *Writer) Stream(name string, from func(io.Writer) error) error {
	w.buf.Reset()
	w.n = 0
	s := &streamWriter{w, name}
	if err := from(s); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return s.flush()
}

type streamWriter struct {
	*Writer
	name string
}

func (s *streamWriter) Write(p []byte) (n int, err error) {
	n = len(p)
	for len(p) > 0 {
		take := min(len(p), maxPiece-s.buf.Len())
		s.buf.Write(p[:take])
		p = p[take:]
		if s.buf.Len() == maxPiece {
			if err := s.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// flush writes what is waiting, or an empty piece where there is none yet.
func (s *streamWriter) flush() error {
	if s.buf.Len() == 0 && s.n > 0 {
		return nil
	}
	err := s.entry(fmt.Sprintf("%s.%06d", s.name, s.n), s.buf.Bytes())
	s.n++
	s.buf.Reset()
	return err
}
