package webhook

import (
	"context"
	"errors"
	"sync"

	"github.com/parley-search/parley/host/internal/task"
)

// untell ends telling a hook.
func (s *Service) untell(uid string) error {
	s.mu.Lock()
	t := s.told[uid]
	delete(s.told, uid)
	s.mu.Unlock()
	if t == nil {
		return nil
	}
	return t.close()
}

// tell begins to tell a hook, or goes on telling it at its new address: what
// waits to be told goes there, too.
func (s *Service) tell(uid string, h Hook) error {
	if h.Unreadable {
		return nil
	}
	to, err := s.opts.Post(h)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.told[uid]; t != nil {
		return t.redirect(to)
	}
	if s.told == nil {
		return to.Close() // closed meanwhile
	}
	t := &teller{to: to}
	t.queue = task.NewWebhook(task.WebhookOptions{
		To: t, Render: s.opts.Render, Failed: func(err error) { s.opts.Failed(uid, err) },
	})
	s.told[uid] = t
	return nil
}

// A teller tells one hook, whose address may change.
type teller struct {
	queue *task.Webhook

	mu sync.RWMutex
	to Poster
}

// Post implements [task.Poster].
func (t *teller) Post(ctx context.Context, body []byte) error {
	t.mu.RLock()
	to := t.to
	t.mu.RUnlock()
	return to.Post(ctx, body)
}

func (t *teller) redirect(to Poster) error {
	t.mu.Lock()
	old := t.to
	t.to = to
	t.mu.Unlock()
	return old.Close() // a message under way comes to its end
}

func (t *teller) close() error {
	err := t.queue.Close()
	return errors.Join(err, t.to.Close())
}
