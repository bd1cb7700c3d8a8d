// Package auth says who calls and what it may do: the master key, API keys and
// tenant tokens.
package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// MinMasterKey is how many bytes a master key has at least in production.
const MinMasterKey = 16

// A Service knows all keys. Safe for concurrent use. No error of it, and
// nothing it logs, holds a key.
//
// It keeps in memory what it derived from its [Keys], of which it is the only
// writer, but on a node of a cluster, see [Service.ReadKeys]: a request costs one
// SHA-256 and a look-up. Looking up by hash also keeps the time it takes from telling anything of a key.
type Service struct {
	store  Keys
	master string
	hash   [sha256.Size]byte // of master
	root   *Caller
	now    func() time.Time

	mu    sync.RWMutex
	byUID map[string]*entry
	byKey map[[sha256.Size]byte]*entry // by the hash of the key
}

// An entry is a key and what was derived from it.
type entry struct {
	key    Key
	value  string
	caller *Caller
}

// Options of [New]. The zero value of a field means its default.
type Options struct {
	// MasterKey is the operator's; without one every route is open, and keys
	// exist but have no value.
	MasterKey string
	// Now tells the time; default [time.Now].
	Now func() time.Time
}

// New returns a service that knows no key yet: see [Service.ReadKeys].
func New(store Keys, o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{
		store:  store,
		master: o.MasterKey,
		hash:   sha256.Sum256([]byte(o.MasterKey)),
		root:   Everyone(),
		now:    o.Now,
		byUID:  make(map[string]*entry),
		byKey:  make(map[[sha256.Size]byte]*entry),
	}
}

// Open reads all keys, and at the first start of the data makes the default
// ones.
func Open(ctx context.Context, store Keys, o Options) (*Service, error) {
	s := New(store, o)
	if err := s.SeedKeys(ctx); err != nil {
		return nil, err
	}
	return s, s.ReadKeys(ctx)
}

// SeedKeys makes the default keys at the first start of the data.
func (s *Service) SeedKeys(ctx context.Context) error {
	if err := s.store.SeedKeys(ctx, defaults(s.time())); err != nil {
		return fmt.Errorf("make default keys: %w", err)
	}
	return nil
}

// ReadKeys reads all keys again, after another node has written some.
func (s *Service) ReadKeys(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.store.Keys(ctx)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	clear(s.byUID)
	clear(s.byKey)
	for _, k := range keys {
		s.put(k)
	}
	return nil
}

// Protected reports whether there is a master key. Without one the /keys routes
// answer [apierr.MissingMasterKey].
func (s *Service) Protected() bool { return s.master != "" }

// time is the present, as precise as the API shows it.
func (s *Service) time() time.Time { return s.now().UTC().Truncate(time.Millisecond) }

// put takes k in, in place of the key of the same uid. s.mu is held, or s is
// not shared yet.
func (s *Service) put(k Key) {
	e := &entry{key: k, caller: &Caller{actions: k.actions(), indexes: k.Indexes, spaces: k.spaces(), id: "key " + k.UID, payer: limit.Party{Subject: limit.Key(k.UID), Limits: k.Limits}, key: k.UID, expires: k.ExpiresAt}}
	s.byUID[k.UID] = e
	if s.Protected() {
		e.value = derive(s.master, k.UID)
		s.byKey[sha256.Sum256([]byte(e.value))] = e
	}
}

// Authenticate returns the caller that an Authorization header names. The
// error is [apierr.MissingAuthorizationHeader] without such a header or with
// another scheme than Bearer, [apierr.InvalidAPIKey] for all else that is
// wrong. On a host without a master key it is [Everyone], whatever the header.
func (s *Service) Authenticate(header string) (*Caller, error) {
	if !s.Protected() {
		return s.root, nil
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	if scheme != "" && !strings.EqualFold(scheme, "Bearer") {
		return nil, apierr.Newf(apierr.MissingAuthorizationHeader, "The header `Authorization` does not begin with `Bearer`: send `Authorization: Bearer <key>`.")
	}
	if scheme == "" {
		return nil, apierr.Newf(apierr.MissingAuthorizationHeader, "The header `Authorization` is missing: send `Authorization: Bearer <key>`.")
	}
	token = strings.TrimSpace(token)
	hash := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], s.hash[:]) == 1 {
		return s.root, nil
	}
	s.mu.RLock()
	e := s.byKey[hash]
	s.mu.RUnlock()
	if e != nil {
		return e.caller, s.checkExpiry(&e.key)
	}
	if strings.Count(token, ".") == 2 {
		return s.tenant(token)
	}
	return nil, apierr.Newf(apierr.InvalidAPIKey, "The API key is not one of this host: check it for a slip, or make a new one at /keys.")
}

// Of returns the caller that has the key of a uid; of the master key where that is empty. It
// is for who knows already that it is that caller. The error is [apierr.InvalidAPIKey].
func (s *Service) Of(uid string) (*Caller, error) {
	if uid == "" {
		return s.root, nil
	}
	s.mu.RLock()
	e := s.byUID[uid]
	s.mu.RUnlock()
	if e == nil {
		return nil, apierr.Newf(apierr.InvalidAPIKey, "The API key is gone: make a new one at /keys.")
	}
	return e.caller, s.checkExpiry(&e.key)
}

func (s *Service) checkExpiry(k *Key) error {
	if k.ExpiresAt != nil && !s.now().Before(*k.ExpiresAt) {
		return apierr.Newf(apierr.InvalidAPIKey, "The API key expired at %s: make a new one at /keys.", k.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// defaults are the keys of a new host.
func defaults(now time.Time) []Key {
	all := []string{"*"}
	drafts := []Draft{
		{
			Name: new("Default Chat API Key"), Description: new("Converse with the documents of all indexes: for a front end"),
			Actions: []string{string(ChatCompletions), string(Search)}, Indexes: all,
		},
		{
			Name: new("Default Search API Key"), Description: new("Search all indexes: for a front end"),
			Actions: []string{string(Search)}, Indexes: all,
		},
		{
			Name: new("Default Admin API Key"), Description: new("Do everything: keep it on servers"),
			Actions: []string{string(All)}, Indexes: all,
		},
		{
			Name: new("Default Read-Only Admin API Key"), Description: new("Read everything, keys too but for their values: keep it on servers"),
			Actions: []string{string(AllGets), string(KeysGet)}, Indexes: all,
		},
	}
	keys := make([]Key, len(drafts))
	for i := range drafts {
		k, err := drafts[i].key(now)
		if err != nil {
			panic(err) // the program is wrong
		}
		keys[i] = k
	}
	return keys
}
