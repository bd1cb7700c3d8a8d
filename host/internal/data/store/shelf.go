package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// shelve keeps a body where another node finds it that comes to lead.
func (s *Store) shelve(name string) error {
	shelf := s.shelf
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
	err = s.shelf.GetBody(name, f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(s.bodies, name))
	}
	if err != nil {
		return fmt.Errorf("fetch body: %w", err)
	}
	return nil
}

// sweepAge is the least age of a body that is forgotten because no task waits with it: the task
// of a younger one may be on its way. A request that came in the term before may be accepted in
// this one, where both are this node's.
const sweepAge = time.Hour

// SweepShelf forgets the bodies of the cluster that no task waits with: what a
// leader left that ended. It ends with ctx.
func (s *Store) SweepShelf(ctx context.Context) error {
	shelf := s.shelf
	if shelf == nil {
		return nil
	}
	known, err := s.wantedBodies()
	if err != nil {
		return err
	}
	names, err := shelf.PutBefore(ctx, time.Now().Add(-sweepAge))
	if err != nil {
		return fmt.Errorf("list the cluster's bodies: %w", err)
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !known[name] {
			if err := shelf.DropBody(name); err != nil {
				return fmt.Errorf("forget a body of the cluster: %w", err)
			}
		}
	}
	return nil
}

// A BodyShelf keeps the bodies of tasks where every node finds them.
type BodyShelf interface {
	// PutBody keeps what r has under a name, for good once it returns nil.
	PutBody(name string, r io.Reader) error
	// GetBody writes what is kept under a name to w.
	GetBody(name string, w io.Writer) error
	// DropBody forgets a name. One that is not there is no mistake.
	DropBody(name string) error
	// PutBefore lists the names that were put before a time.
	PutBefore(context.Context, time.Time) ([]string, error)
}
