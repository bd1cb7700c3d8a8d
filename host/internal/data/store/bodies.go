package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/search/write"
)

var _ write.Bodies = (*Store)(nil)

// CreateBody implements [write.Bodies].
func (s *Store) CreateBody() (write.BodyWriter, error) {
	if err := s.room(newReserve); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.bodies, uuid.NewString()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create body: %w", err)
	}
	w := &bodyWriter{store: s, f: f}
	w.Writer = bufio.NewWriterSize(guarded{w}, 256<<10)
	return w, nil
}

type bodyWriter struct {
	*bufio.Writer
	store *Store
	f     *os.File
}

// A guarded body asks for room before each large write.
type guarded struct{ w *bodyWriter }

func (g guarded) Write(p []byte) (int, error) {
	if err := g.w.store.room(newReserve + uint64(len(p))); err != nil {
		return 0, err
	}
	return g.w.f.Write(p)
}

// Open implements [write.BodyWriter].
func (w *bodyWriter) Open() (io.ReadCloser, error) {
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return os.Open(w.f.Name())
}

// Keep implements [write.BodyWriter].
func (w *bodyWriter) Keep() (string, error) {
	err := w.Flush()
	if err == nil {
		err = w.f.Sync()
	}
	if err = errors.Join(err, w.f.Close()); err != nil {
		return "", err
	}
	name := filepath.Base(w.f.Name())
	if err := syncDir(filepath.Dir(w.f.Name())); err != nil {
		return "", err
	}
	return name, w.store.shelve(name)
}

// Discard implements [write.BodyWriter].
func (w *bodyWriter) Discard() error {
	_ = w.f.Close() // Keep may have done so
	return os.Remove(w.f.Name())
}

// syncDir makes what was made in a directory survive a crash.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// OpenBody implements [task.Log].
func (s *Store) OpenBody(name string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(s.bodies, filepath.Base(name)))
	if errors.Is(err, fs.ErrNotExist) && s.shelf != nil {
		if err := s.fetchBody(filepath.Base(name)); err != nil {
			return nil, err
		}
		f, err = os.Open(filepath.Join(s.bodies, filepath.Base(name)))
	}
	if err != nil {
		return nil, fmt.Errorf("open body: %w", err)
	}
	return f, nil
}

// DropBody implements [task.Log].
func (s *Store) DropBody(name string) error {
	err := os.Remove(filepath.Join(s.bodies, filepath.Base(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove body: %w", err)
	}
	if shelf := s.shelf; shelf != nil {
		return shelf.DropBody(filepath.Base(name))
	}
	return nil
}

// sweepBodies removes the bodies that no task has: what a crash left.
func (s *Store) sweepBodies() error {
	if err := os.MkdirAll(s.bodies, 0o700); err != nil {
		return fmt.Errorf("make directory of bodies: %w", err)
	}
	known, err := s.wantedBodies()
	if err != nil {
		return err
	}
	files, err := os.ReadDir(s.bodies)
	if err != nil {
		return fmt.Errorf("list bodies: %w", err)
	}
	for _, f := range files {
		if !known[f.Name()] && !f.IsDir() {
			if err := s.DropBody(f.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// wantedBodies are those that tasks wait with.
func (s *Store) wantedBodies() (map[string]bool, error) {
	pending, err := s.Unfinished(context.Background())
	if err != nil {
		return nil, fmt.Errorf("read unfinished tasks: %w", err)
	}
	known := map[string]bool{}
	for i := range pending {
		known[pending[i].Task.Body] = true
	}
	return known, nil
}

// Bodies calls f for each body that a task waits with.
func (s *Store) Bodies(f func(name string, open func() (io.ReadCloser, error)) error) error {
	entries, err := os.ReadDir(s.bodies)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list bodies: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if err := f(e.Name(), func() (io.ReadCloser, error) { return os.Open(filepath.Join(s.bodies, e.Name())) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// ImportBody writes a body that [Store.Bodies] gave.
func (s *Store) ImportBody(name string, r io.Reader) error {
	if name != filepath.Base(name) || name == "." || name == ".." {
		return fmt.Errorf("import body %q: a body's name is not a path", name)
	}
	f, err := os.OpenFile(filepath.Join(s.bodies, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("import body: %w", err)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("import body %s: %w", name, err)
	}
	return nil
}
