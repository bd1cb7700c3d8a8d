package auth

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// Value returns the key itself: what a client sends. It is empty on a host
// without a master key.
func (s *Service) Value(k *Key) string {
	if !s.Protected() {
		return ""
	}
	return derive(s.master, k.UID)
}

// SeesValue reports whether c may be shown the value of k: only who may make such a
// key, for a value is as good as all that its key may do.
func SeesValue(c *Caller, k *Key) bool { return c.Allows(KeysCreate) && c.covers(k) == nil }

// Keys returns keys offset to offset+limit, ordered by uid, and how many there
// are in all.
func (s *Service) Keys(offset, limit int) (page []Key, total int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]Key, 0, len(s.byUID))
	for _, e := range s.byUID {
		all = append(all, e.key)
	}
	slices.SortFunc(all, func(a, b Key) int { return strings.Compare(a.UID, b.UID) })
	from := min(offset, len(all))
	return all[from : from+min(limit, len(all)-from)], len(all)
}

// Key returns the key with this uid or this value, or
// [apierr.APIKeyNotFound].
func (s *Service) Key(uidOrValue string) (Key, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e := s.byUID[strings.ToLower(uidOrValue)]
	if e == nil {
		e = s.byKey[sha256.Sum256([]byte(uidOrValue))]
	}
	if e == nil {
		return Key{}, NotFound()
	}
	return e.key, nil
}

// NotFound is the [apierr.APIKeyNotFound] of any key. It does not repeat what
// was looked for, which may have been a key.
func NotFound() *apierr.Error {
	return apierr.Newf(apierr.APIKeyNotFound, "No API key has this uid or value: GET /keys lists all.")
}

// Create makes the key that d describes, for by. The errors are those of the fields,
// [apierr.APIKeyAlreadyExists], and [apierr.InvalidAPIKey] where the key may do more
// than by may.
func (s *Service) Create(ctx context.Context, by *Caller, d Draft) (Key, error) {
	k, err := d.key(s.time())
	if err == nil {
		err = by.covers(&k)
	}
	if err != nil {
		return Key{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(k.Size()); err != nil {
		return Key{}, err
	}
	if err := s.store.CreateKey(ctx, k); err != nil {
		return Key{}, err
	}
	s.put(k)
	return k, nil
}

// checkRoom refuses more bytes than all keys may take. mu is held.
func (s *Service) checkRoom(more int) error {
	all := more
	for _, e := range s.byUID {
		all += e.key.Size()
	}
	if all > maxKeys {
		return apierr.Newf(apierr.BadRequest, "With it the keys would take %d bytes of memory: they may take %d. Delete those that nobody uses, or give people tenant tokens of one key.", all, maxKeys)
	}
	return nil
}

// A Change says what to change of a key: all else is for ever.
type Change struct {
	Name, Description apierr.Optional[string] // null clears
	Limits            json.RawMessage         // merged into those there are; nil: no change
}

// texts gives k the name and the description of c.
func (c *Change) texts(k *Key) {
	if c.Name.Set {
		k.Name = c.Name.Value
	}
	if c.Description.Set {
		k.Description = c.Description.Value
	}
}

// Update changes the key with this uid or value, for by. The errors are
// [apierr.APIKeyNotFound], [apierr.InvalidAPIKeyLimits], and [apierr.InvalidAPIKey]
// where limits change of a key that may do more than by may.
func (s *Service) Update(ctx context.Context, by *Caller, uidOrValue string, c Change) (Key, error) {
	k, err := s.Key(uidOrValue)
	if err == nil && c.Limits != nil {
		err = by.covers(&k)
	}
	if err == nil {
		err = checkTexts(c.Name.Value, c.Description.Value)
	}
	if err != nil {
		return Key{}, err
	}
	now := s.time()
	s.mu.Lock()
	defer s.mu.Unlock()
	limits := k.Limits
	if e := s.byUID[k.UID]; e != nil { // another Update may have come in between
		k, limits = e.key, e.key.Limits
	}
	after := k
	c.texts(&after)
	if more := after.Size() - k.Size(); more > 0 {
		if err := s.checkRoom(more); err != nil {
			return Key{}, err
		}
	}
	if c.Limits != nil {
		if limits, err = limit.MergeKey(limits, c.Limits); err != nil {
			return Key{}, err
		}
	}
	k, err = s.store.UpdateKey(ctx, k.UID, func(k *Key) {
		c.texts(k)
		k.Limits = limits
		k.UpdatedAt = now
	})
	if err != nil {
		return Key{}, err
	}
	s.put(k)
	return k, nil
}

// Delete forgets the key with this uid or value, and with it every tenant
// token that it signed; or returns [apierr.APIKeyNotFound].
func (s *Service) Delete(ctx context.Context, uidOrValue string) error {
	k, err := s.Key(uidOrValue)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.store.DeleteKey(ctx, k.UID); err != nil {
		return err
	}
	delete(s.byUID, k.UID)
	delete(s.byKey, sha256.Sum256([]byte(s.Value(&k))))
	return nil
}
