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
	if errors.Is(err, fs.ErrNotExist) && s.shelf() != nil {
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
	if shelf := s.shelf(); shelf != nil {
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
		if !known[f.Name()] {
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

// shelf is where the nodes of a cluster keep bodies; nil: there is none.
func (s *Store) shelf() BodyShelf {
	if s.shared == nil {
		return nil
	}
	return s.shared.shelf
}

// shelve keeps a body where another node finds it that comes to lead.
func (s *Store) shelve(name string) error {
	shelf := s.shelf()
	if shelf == nil {
		return nil
	}
	f, err := os.Open(filepath.Join(s.bodies, name))
	if err != nil {
		return fmt.Errorf("open body: %w", err)
	}
	defer f.Close()
	if err := shelf.PutBody(name, f); err != nil {
		return fmt.Errorf("keep body for the cluster: %w", err)
	}
	return nil
}

// fetchBody gets a body that another node took.
func (s *Store) fetchBody(name string) error {
	f, err := os.CreateTemp(s.bodies, "fetch-")
	if err != nil {
		return fmt.Errorf("fetch body: %w", err)
	}
	defer os.Remove(f.Name())
	err = s.shelf().GetBody(name, f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.bodies, name))
	}
	if err != nil {
		return fmt.Errorf("fetch body: %w", err)
	}
	return nil
}

// SweepShelf forgets the bodies of the cluster that no task waits with: what a
// leader left that ended. Call it before this node's term is admitted.
func (s *Store) SweepShelf() error {
	shelf := s.shelf()
	if shelf == nil {
		return nil
	}
	known, err := s.wantedBodies()
	if err != nil {
		return err
	}
	names, err := shelf.Bodies()
	if err != nil {
		return fmt.Errorf("list the cluster's bodies: %w", err)
	}
	for _, name := range names {
		if !known[name] {
			if err := shelf.DropBody(name); err != nil {
				return fmt.Errorf("forget a body of the cluster: %w", err)
			}
		}
	}
	return nil
}
