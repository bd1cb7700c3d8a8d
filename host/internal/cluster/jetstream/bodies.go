package jetstream

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/parley-search/parley/host/internal/cluster"
)

// Bodies keeps what is too large for the log, by name. Safe for concurrent use.
type Bodies struct{ log *Log }

// Bodies returns the bodies of the log's cluster.
func (l *Log) Bodies() *Bodies { return &Bodies{l} }

func (l *Log) bucket() string { return "PARLEY_" + l.o.Name + "_BODIES" }

// How long an object may go without a byte: one that is read, and one that is put, of which
// the last bytes are on their way while none is asked for. What takes long is no fault, what
// ends without a word is: chunks that are lost, or an answer.
const (
	readStall = 30 * time.Second
	putStall  = 2 * time.Minute
)

var errStalled = errors.New("NATS gave or took nothing of the object for too long")

// A moving context has a deadline that is always as far away. The client takes each read's
// from it, and gives up no other way while it waits for a chunk.
type moving struct {
	context.Context
	stall time.Duration
}

func (m moving) Deadline() (time.Time, bool) { return time.Now().Add(m.stall), true }

// An object is one that is read. Its reader fails where it stalls.
type object struct {
	jetstream.ObjectResult
	cancel context.CancelCauseFunc
}

func (o object) Close() error {
	defer o.cancel(nil)
	return o.ObjectResult.Close()
}

func (o object) Read(p []byte) (int, error) {
	n, err := o.ObjectResult.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errStalled
	}
	return n, err
}

// A watched reader has a timer begin anew with each read.
type watched struct {
	r     io.Reader
	timer *time.Timer
}

func (w watched) Read(p []byte) (int, error) {
	w.timer.Reset(putStall)
	n, err := w.r.Read(p)
	w.timer.Reset(putStall)
	return n, err
}

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
	ctx := context.Background()
	s, err := b.open(ctx)
	if err == nil {
		err = b.log.put(ctx, s, b.log.bucket(), name, r)
	}
	return err
}

// put keeps what r has under a name, with a code of name and digest: the servers verify the
// digest of what they give back, and the client too.
func (l *Log) put(ctx context.Context, s jetstream.ObjectStore, bucket, name string, r io.Reader) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(putStall, func() { cancel(errStalled) })
	defer timer.Stop()
	// Without a deadline the client waits for each chunk's answer by a bound of its own.
	info, err := s.Put(moving{ctx, putStall}, jetstream.ObjectMeta{Name: name}, watched{r, timer})
	if err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	code := l.o.Key.MAC(macObject, []byte(bucket+"/"+name+"\x00"+info.Digest))
	meta := jetstream.ObjectMeta{Name: name, Headers: nats.Header{headerCode: {hex.EncodeToString(code)}}}
	// The client asks for what it has just put, of a replica that may not have it yet: as of
	// one that was deleted.
	for until := time.Now().Add(findWait); ; time.Sleep(findEvery) {
		err = s.UpdateMeta(ctx, name, meta)
		if !errors.Is(err, jetstream.ErrUpdateMetaDeleted) || time.Now().After(until) {
			return err
		}
	}
}

// wrote reports whether a node of this cluster put an object.
func (l *Log) wrote(bucket string, o *jetstream.ObjectInfo) bool {
	return l.verifies(o.Headers.Get(headerCode), macObject, []byte(bucket+"/"+o.Name+"\x00"+o.Digest))
}

// GetBody writes what is kept under a name to w.
func (b *Bodies) GetBody(name string, w io.Writer) error {
	ctx := context.Background()
	s, err := b.open(ctx)
	if err != nil {
		return err
	}
	// One that was just put may not be on the replica that is asked, or not with its code.
	var o jetstream.ObjectResult
	for until := time.Now().Add(findWait); ; time.Sleep(findEvery) {
		if o, err = b.log.get(ctx, s, b.log.bucket(), name); err == nil || !errors.Is(err, jetstream.ErrObjectNotFound) && !errors.Is(err, cluster.ErrUnverified) || time.Now().After(until) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("get body %s: %w", name, err)
	}
	_, err = io.Copy(w, o)
	return errors.Join(err, o.Error(), o.Close())
}

// get opens an object. The error is [cluster.ErrUnverified] where no node put it.
func (l *Log) get(ctx context.Context, s jetstream.ObjectStore, bucket, name string) (jetstream.ObjectResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(l.readStall, func() { cancel(errStalled) })
	o, err := s.Get(moving{ctx, l.readStall}, name)
	timer.Stop()
	if err != nil {
		err = errors.Join(err, context.Cause(ctx))
		cancel(nil)
		return nil, err
	}
	info, err := o.Info()
	if err == nil && !l.wrote(bucket, info) {
		err = cluster.ErrUnverified
	}
	if err != nil {
		cancel(nil)
		return nil, errors.Join(err, o.Close())
	}
	return object{o, cancel}, nil
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

// PutBefore lists the names that were put before a time, by the clock of the servers.
func (b *Bodies) PutBefore(ctx context.Context, at time.Time) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*b.log.o.Timeout)
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
		if o.ModTime.Before(at) {
			names = append(names, o.Name)
		}
	}
	return names, nil
}
