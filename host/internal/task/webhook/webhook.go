// Package webhook keeps the addresses that are told of finished tasks: the one
// that the operator named at launch, and those that clients added. How one is
// told is [task.Webhook]'s.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/task"
)

// A Hook is an address that is told of finished tasks. Never changed once it
// was given out.
type Hook struct {
	URL     string
	Headers map[string]secret.Text // sent with each message
	// Unreadable says that the hook is sealed under a master key that this
	// process does not have: it has no URL, and nobody is told. Storing the
	// others keeps it as it is.
	Unreadable bool
}

// A Store keeps hooks by their uuids, sealed: URLs and headers may hold secrets.
// Safe for concurrent use. See package store.
type Store interface {
	Webhooks(ctx context.Context) (map[string]Hook, error)
	// UpdateWebhooks calls f with the hooks and stores what f returns, in one
	// transaction: f may be called again. f does not change old. An error of f
	// is returned as it is, and nothing is stored.
	UpdateWebhooks(ctx context.Context, f func(old map[string]Hook) (map[string]Hook, error)) error
}

// A Poster sends messages to one address; see package upstream.
type Poster interface {
	task.Poster
	Close() error
}

// Options are what a [Service] needs; Store, Post and Render are required.
type Options struct {
	Store Store
	// Operator is the hook that was named at launch, and no client changes; nil:
	// none was.
	Operator *Hook
	Post     func(Hook) (Poster, error)
	Render   func(*task.Task) ([]byte, error) // as one line of JSON
	// Failed is told of what did not arrive at the hook of a uuid.
	Failed func(uid string, err error)
}

// OperatorUID is the uuid of the operator's hook.
var OperatorUID = uuid.Nil.String()

// Most is how many webhooks clients may add.
const Most = 20

// A Service keeps hooks and tells them of tasks. Safe for concurrent use.
type Service struct {
	opts     Options
	changing sync.Mutex // held while stored and told are made to agree

	mu   sync.Mutex
	told map[string]*teller
}

// Open starts telling all hooks there are. Call Close.
func Open(ctx context.Context, o Options) (*Service, error) {
	s := &Service{opts: o, told: map[string]*teller{}}
	if err := s.ReadHooks(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// ReadHooks makes those that are told the ones that are stored: somebody else has
// changed some.
func (s *Service) ReadHooks(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	hooks, err := s.opts.Store.Webhooks(ctx)
	if err != nil {
		return fmt.Errorf("open webhooks: %w", err)
	}
	if s.opts.Operator != nil {
		hooks = maps.Clone(hooks)
		hooks[OperatorUID] = *s.opts.Operator
	}
	s.mu.Lock()
	told := slices.Collect(maps.Keys(s.told))
	s.mu.Unlock()
	var failed error
	for _, uid := range told {
		if _, ok := hooks[uid]; !ok {
			failed = errors.Join(failed, s.untell(uid))
		}
	}
	for uid, h := range hooks {
		if err := s.tell(uid, h); err != nil {
			return fmt.Errorf("open webhook %s: %w", uid, err)
		}
	}
	return failed
}

// Finished tells all hooks of tasks that came to their end; see [task.Options].
func (s *Service) Finished(ts []task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.told {
		t.queue.Finished(ts)
	}
}

// Close ends all telling.
func (s *Service) Close() error {
	s.mu.Lock()
	told := s.told
	s.told = nil
	s.mu.Unlock()
	var errs []error
	for _, t := range told {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}

// List returns all hooks, by uuid: the operator's first.
func (s *Service) List(ctx context.Context) ([]Listed, error) {
	hooks, err := s.opts.Store.Webhooks(ctx)
	if err != nil {
		return nil, err
	}
	list := []Listed{}
	if s.opts.Operator != nil {
		list = append(list, Listed{OperatorUID, *s.opts.Operator})
	}
	for _, uid := range slices.Sorted(maps.Keys(hooks)) {
		list = append(list, Listed{uid, hooks[uid]})
	}
	return list, nil
}

// Get returns one hook.
func (s *Service) Get(ctx context.Context, uid string) (Listed, error) {
	uid, err := parseUID(uid)
	if err != nil {
		return Listed{}, err
	}
	all, err := s.List(ctx)
	if err != nil {
		return Listed{}, err
	}
	for _, l := range all {
		if l.UID == uid {
			return l, nil
		}
	}
	return Listed{}, notFound(uid)
}

// Create adds the hook that a body describes.
func (s *Service) Create(ctx context.Context, body []byte) (Listed, error) {
	c, err := readChange(body)
	if err != nil {
		return Listed{}, err
	}
	uid := uuid.NewString()
	return s.change(ctx, uid, func(hooks map[string]Hook) error {
		if len(hooks) >= Most {
			return apierr.Newf(apierr.InvalidWebhooks, "There are %d webhooks already, and more are not taken: delete one, or have one address pass on what it is told.", Most)
		}
		h, err := c.apply(Hook{})
		hooks[uid] = h
		return err
	})
}

// Update changes a hook as a body says.
func (s *Service) Update(ctx context.Context, uid string, body []byte) (Listed, error) {
	c, err := readChange(body)
	if err != nil {
		return Listed{}, err
	}
	if uid, err = editableUID(uid); err != nil {
		return Listed{}, err
	}
	return s.change(ctx, uid, func(hooks map[string]Hook) error {
		old, ok := hooks[uid]
		if !ok {
			return notFound(uid)
		}
		h, err := c.apply(old)
		hooks[uid] = h
		return err
	})
}

// Delete takes a hook away. What was not told yet is not told any more.
func (s *Service) Delete(ctx context.Context, uid string) error {
	uid, err := editableUID(uid)
	if err != nil {
		return err
	}
	_, err = s.change(ctx, uid, func(hooks map[string]Hook) error {
		if _, ok := hooks[uid]; !ok {
			return notFound(uid)
		}
		delete(hooks, uid)
		return nil
	})
	return err
}

// change stores what f makes of the hooks, and tells the one of uid as it is
// then.
func (s *Service) change(ctx context.Context, uid string, f func(map[string]Hook) error) (Listed, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	var hooks map[string]Hook
	err := s.opts.Store.UpdateWebhooks(ctx, func(old map[string]Hook) (map[string]Hook, error) {
		hooks = maps.Clone(old)
		return hooks, f(hooks)
	})
	if err != nil {
		return Listed{}, err
	}
	h, ok := hooks[uid]
	if !ok {
		return Listed{}, s.untell(uid)
	}
	return Listed{uid, h}, s.tell(uid, h)
}

func parseUID(s string) (string, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != len(OperatorUID) {
		return "", apierr.Newf(apierr.InvalidWebhookUUID, "`%.100s` is not a uuid of a webhook: GET /webhooks lists them.", s)
	}
	return u.String(), nil
}

// editableUID is parseUID for a hook that a client wants to change.
func editableUID(s string) (string, error) {
	uid, err := parseUID(s)
	if err == nil && uid == OperatorUID {
		err = apierr.Newf(apierr.ImmutableWebhook, "The webhook `%s` was named at launch, by --task-webhook-url: it is changed and removed there.", uid)
	}
	return uid, err
}

func notFound(uid string) *apierr.Error {
	return apierr.Newf(apierr.WebhookNotFound, "There is no webhook `%s`: GET /webhooks lists those there are.", uid)
}
