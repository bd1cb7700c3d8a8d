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
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/secret"
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

// A Listed is a hook with its uuid.
type Listed struct {
	UID string
	Hook
}

// Editable reports whether clients may change it.
func (l *Listed) Editable() bool { return l.UID != OperatorUID }

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

func parseUID(s string) (string, error) {
	u, err := uuid.Parse(s)
	if err != nil || len(s) != len(OperatorUID) {
		return "", apierr.Newf(apierr.InvalidWebhookUUID, "`%.100s` is no uuid of a webhook: GET /webhooks lists them.", s)
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

// ShownURL is the address as clients see it. Of the operator's, which may hold
// a token that nobody sent here, the host alone.
func (l *Listed) ShownURL() string {
	if l.Editable() {
		return l.URL
	}
	scheme, rest, _ := strings.Cut(l.URL, "://")
	host, path, _ := strings.Cut(rest, "/")
	host, query, _ := strings.Cut(host, "?")
	if path == "" && query == "" {
		return l.URL
	}
	return scheme + "://" + host + "/" + secret.ShortestShown
}

// ShownHeaders are the headers as clients see them: enough to know them again.
func (h *Hook) ShownHeaders() map[string]string {
	shown := make(map[string]string, len(h.Headers))
	for name, value := range h.Headers {
		shown[name] = secret.Obfuscate(value)
	}
	return shown
}
