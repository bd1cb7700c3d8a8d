package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bodies keeps what is too large for the log, by name. Safe for concurrent use.
type Bodies struct{ log *Log }

// Bodies returns the bodies of the log's cluster.
func (l *Log) Bodies() *Bodies { return &Bodies{l} }

func (l *Log) bucket() string { return "PARLEY_" + l.o.Name + "_BODIES" }

// bodyWait bounds what is done with one body. The client's own bound is 5 s.
const bodyWait = 5 * time.Minute

// findWait is how long a body that was put is looked for on a replica that may not
// have it yet, and how often.
const (
	findWait  = 10 * time.Second
	findEvery = 100 * time.Millisecond
)

// open returns the object store, within ctx.
func (b *Bodies) open(ctx context.Context) (jetstream.ObjectStore, error) {
	s, err := b.log.js.ObjectStore(ctx, b.log.bucket())
	if err != nil {
		return nil, fmt.Errorf("open object store %s: %w", b.log.bucket(), err)
	}
	return s, nil
}

// PutBody keeps what r has under a name.
func (b *Bodies) PutBody(name string, r io.Reader) error {
	ctx, cancel := context.WithTimeout(context.Background(), bodyWait)
	defer cancel()
	s, err := b.open(ctx)
	if err == nil {
		_, err = s.Put(ctx, jetstream.ObjectMeta{Name: name}, r)
	}
	return err
}

// GetBody writes what is kept under a name to w.
func (b *Bodies) GetBody(name string, w io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), bodyWait)
	defer cancel()
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	var o jetstream.ObjectResult
	for until := time.Now().Add(findWait); ; time.Sleep(findEvery) {
		o, err = s.Get(ctx, name)
		if !errors.Is(err, jetstream.ErrObjectNotFound) || time.Now().After(until) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("get body %s: %w", name, err)
	}
	_, err = io.Copy(w, o)
	return errors.Join(err, o.Error(), o.Close())
}

// DropBody forgets a name. One that is not there is no mistake.
func (b *Bodies) DropBody(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.log.o.Timeout)
	defer cancel()
	s, err := b.open(ctx)
	if err == nil {
		err = s.Delete(ctx, name)
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return err
}

// Bodies lists the names.
func (b *Bodies) Bodies() (names []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*b.log.o.Timeout)
	defer cancel()
	s, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list bodies: %w", err)
	}
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names, nil
}
