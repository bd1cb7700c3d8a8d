package task_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/task"
)

// A mailbox is a poster that answers as it is told, then takes everything.
type mailbox struct {
	mu      sync.Mutex
	answers []error
	tries   int
	got     []string      // one a message
	hold    chan struct{} // nil: none; else each message waits for it
}

func (m *mailbox) Post(ctx context.Context, body []byte) error {
	if m.hold != nil {
		select {
		case <-m.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	if len(m.answers) > 0 {
		err := m.answers[0]
		m.answers = m.answers[1:]
		if err != nil {
			return err
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return err
	}
	b, err := io.ReadAll(z)
	m.got = append(m.got, string(b))
	return err
}

func (m *mailbox) lines() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.got, "")
}

// a line is how these tests render a task.
func line(t *task.Task) ([]byte, error) { return fmt.Appendf(nil, "%d %s", t.UID, t.Status), nil }

// until waits for a condition.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	waittest.For(t, what, f)
}

func TestWebhook(t *testing.T) {
	m := &mailbox{answers: []error{errors.New("away"), errors.New("away")}}
	w := task.NewWebhook(task.WebhookOptions{To: m, Render: line, Pause: time.Microsecond})
	defer w.Close()
	q := open(t, openStore(t), &recorder{}, task.Options{Finished: w.Finished})
	for i := range 3 {
		enqueue(t, q, task.IndexCreation, fmt.Sprint(i), "")
	}
	sum, err := q.Cancel(t.Context(), task.Filter{UIDs: []uint32{1}}, "", task.Replica{})
	if err != nil {
		t.Fatal(err)
	}
	defer run(q)()
	wait(t, q, sum.TaskUID)
	wait(t, q, 2)
	until(t, "all four tasks are told of", func() bool { return strings.Count(m.lines(), "\n") == 4 })
	if got, want := m.lines(), "1 canceled\n3 succeeded\n0 succeeded\n2 succeeded\n"; got != want {
		t.Errorf("told of %q, want %q", got, want)
	}
}

func TestWebhookGivesUp(t *testing.T) {
	away := errors.New("away")
	for name, tt := range map[string]struct {
		answers []error
		tries   int
	}{
		"away":    {[]error{away, away, away}, 3},
		"refused": {[]error{fmt.Errorf("status 401: %w", task.ErrRefused)}, 1},
	} {
		m := &mailbox{answers: tt.answers}
		failed := make(chan error, 9)
		w := task.NewWebhook(task.WebhookOptions{To: m, Render: line, Tries: 3, Pause: time.Microsecond, Failed: func(err error) { failed <- err }})
		w.Finished([]task.Task{{UID: 7}})
		if err := <-failed; !strings.Contains(err.Error(), "1 finished tasks from 7 on") {
			t.Errorf("%s: failed with %v", name, err)
		}
		w.Finished([]task.Task{{UID: 8, Status: task.Failed}})
		until(t, "the next task is told of", func() bool { return m.lines() == "8 failed\n" })
		if err := w.Close(); err != nil || m.tries != tt.tries+1 {
			t.Errorf("%s: %d tries, want %d; close: %v", name, m.tries-1, tt.tries, err)
		}
	}
}

// TestWebhookNeverWaits: who tells it goes on at once, whatever the other side
// does, and what is too much is left out and said so.
func TestWebhookNeverWaits(t *testing.T) {
	m := &mailbox{hold: make(chan struct{})}
	failed := make(chan error, 9)
	w := task.NewWebhook(task.WebhookOptions{To: m, Render: line, Waiting: 3, Failed: func(err error) { failed <- err }})
	for i := range uint32(10) {
		w.Finished([]task.Task{{UID: i}})
	}
	close(m.hold)
	if err := <-failed; !strings.Contains(err.Error(), "too many wait") {
		t.Errorf("failed with %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	m = &mailbox{hold: make(chan struct{})}
	w = task.NewWebhook(task.WebhookOptions{To: m, Render: line, Failed: func(err error) { failed <- err }})
	details := make([]byte, 10<<20)
	for i := range uint32(20) { // far fewer than 10,000, of 200 MB
		w.Finished([]task.Task{{UID: i, Details: details}})
	}
	close(m.hold)
	if err := <-failed; !strings.Contains(err.Error(), "too many wait") {
		t.Errorf("failed with %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	stuck := &mailbox{hold: make(chan struct{})}
	w = task.NewWebhook(task.WebhookOptions{To: stuck, Render: line})
	w.Finished([]task.Task{{UID: 1}})
	if err := w.Close(); err != nil { // does not wait for the other side
		t.Error(err)
	}
}
