package task

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/base/contain"
)

// A Poster sends one message of a [Webhook]. See package upstream.
type Poster interface {
	// Post sends body, which is NDJSON packed by gzip. ErrRefused says that it
	// is of no use to send it again.
	Post(ctx context.Context, body []byte) error
}

// ErrRefused is returned by a [Poster] whose other side will not take a message.
var ErrRefused = errors.New("refused for good")

// WebhookOptions are what a [Webhook] needs. To and Render are required.
type WebhookOptions struct {
	To     Poster
	Render func(t *Task) ([]byte, error) // as one line of JSON
	// Failed is told of messages that did not arrive; default: nobody.
	Failed  func(err error)
	Tries   int           // of one message; default 5
	Pause   time.Duration // after the first try, doubled after each; default 1 s
	Waiting int           // finished tasks that may wait, past which new ones are left out; default 10,000
}

const (
	perMessage   = 1000     // tasks of one message
	waitingBytes = 64 << 20 // of the details of tasks that wait, as Waiting bounds their number
)

// A Webhook sends tasks that have ended to one address, in their order. It
// never keeps the queue waiting: where the other side is slow or away, messages
// are left out, which Failed is told of. Safe for concurrent use.
type Webhook struct {
	opts   WebhookOptions
	stop   context.CancelFunc
	done   chan struct{}
	filled chan struct{} // has a token where tasks wait

	mu      sync.Mutex
	waiting []Task
	size    int // bytes of details of waiting
	left    int // out, since the last message
}

// NewWebhook starts a webhook. Call Close.
func NewWebhook(o WebhookOptions) *Webhook {
	o.Tries = cmp.Or(o.Tries, 5)
	o.Pause = cmp.Or(o.Pause, time.Second)
	o.Waiting = cmp.Or(o.Waiting, 10_000)
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &Webhook{opts: o, stop: stop, done: make(chan struct{}), filled: make(chan struct{}, 1)}
	go w.run(ctx)
	return w
}

// Finished notes tasks that came to their end; see [Options].
func (w *Webhook) Finished(ts []Task) {
	w.mu.Lock()
	for i := range ts {
		if len(w.waiting) == w.opts.Waiting || w.size > waitingBytes {
			w.left += len(ts) - i
			break
		}
		w.waiting = append(w.waiting, ts[i])
		w.size += len(ts[i].Details)
	}
	w.mu.Unlock()
	select {
	case w.filled <- struct{}{}:
	default:
	}
}

// Close sends nothing more and waits until the message under way is given up.
func (w *Webhook) Close() error {
	w.stop()
	<-w.done
	return nil
}

func (w *Webhook) run(ctx context.Context) {
	defer close(w.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.filled:
		}
		for ctx.Err() == nil {
			part, left := w.take()
			if left > 0 {
				w.opts.Failed(fmt.Errorf("leave %d finished tasks out: too many wait", left))
			}
			if len(part) == 0 {
				break
			}
			if err := contain.Call(func() error { return w.send(ctx, part) }); err != nil && ctx.Err() == nil {
				w.opts.Failed(fmt.Errorf("tell of %d finished tasks from %d on: %w", len(part), part[0].UID, err))
			}
		}
	}
}

// take returns the tasks of the next message.
func (w *Webhook) take() (part []Task, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), perMessage)
	part, w.waiting = w.waiting[:n:n], w.waiting[n:]
	for i := range part {
		w.size -= len(part[i].Details)
	}
	left, w.left = w.left, 0
	return part, left
}

// send tries until the message is taken, refused, or was tried often enough.
func (w *Webhook) send(ctx context.Context, ts []Task) error {
	body, err := w.message(ts)
	if err != nil {
		return err
	}
	pause := w.opts.Pause
	for try := 1; ; try++ {
		err := w.opts.To.Post(ctx, body)
		if err == nil || errors.Is(err, ErrRefused) || try == w.opts.Tries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// message writes tasks as NDJSON, packed.
func (w *Webhook) message(ts []Task) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range ts {
		line, err := w.opts.Render(&ts[i])
		if err != nil {
			return nil, fmt.Errorf("render task %d: %w", ts[i].UID, err)
		}
		if _, err := z.Write(append(line, '\n')); err != nil {
			return nil, fmt.Errorf("pack task %d: %w", ts[i].UID, err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("pack message: %w", err)
	}
	return b.Bytes(), nil
}
