package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

var _ auth.Keys = (*Store)(nil)

// A keyRecord is an API key as it is stored: never the key itself.
type keyRecord struct {
	Name        *string      `json:"name,omitempty"`
	Description *string      `json:"description,omitempty"`
	Actions     []string     `json:"actions"`
	Indexes     []string     `json:"indexes"`
	Workspaces  *[]string    `json:"workspaces,omitempty"` // none: all; an empty one is not the same
	Limits      limit.Limits `json:"limits,omitzero"`
	ExpiresAt   *time.Time   `json:"expiresAt,omitempty"`
	CreatedAt   time.Time    `json:"createdAt"`
	UpdatedAt   time.Time    `json:"updatedAt"`
}

func keyOf(uid string) []byte { return []byte(prefixKey + uid) }

func putKey(tx txn, k *auth.Key) error {
	r := keyRecord{
		Name: k.Name, Description: k.Description, Actions: make([]string, len(k.Actions)), Indexes: k.Indexes,
		Limits: k.Limits, ExpiresAt: k.ExpiresAt, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
	if k.Workspaces != nil {
		r.Workspaces = &k.Workspaces
	}
	for i, a := range k.Actions {
		r.Actions[i] = string(a)
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return tx.Set(keyOf(k.UID), b)
}

func decodeKey(uid string, b []byte) (auth.Key, error) {
	var r keyRecord
	if err := json.Unmarshal(b, &r); err != nil {
		return auth.Key{}, fmt.Errorf("decode key %s: %w", uid, err)
	}
	k := auth.Key{
		UID: uid, Name: r.Name, Description: r.Description, Actions: make([]auth.Action, len(r.Actions)), Indexes: r.Indexes,
		Limits: r.Limits, ExpiresAt: r.ExpiresAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.Workspaces != nil {
		k.Workspaces = *r.Workspaces
	}
	for i, a := range r.Actions {
		k.Actions[i] = auth.Action(a)
	}
	return k, nil
}

// Keys implements [auth.Keys].
func (s *Store) Keys(context.Context) (keys []auth.Key, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		return scan(tx, []byte(prefixKey), func(key, value []byte) (bool, error) {
			k, err := decodeKey(string(key[len(prefixKey):]), value)
			keys = append(keys, k)
			return true, err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return keys, nil
}

// CreateKey implements [auth.Keys].
func (s *Store) CreateKey(_ context.Context, k auth.Key) error {
	return s.update(func(tx txn) error {
		_, err := tx.Get(keyOf(k.UID))
		switch {
		case errors.Is(err, badger.ErrKeyNotFound):
			return putKey(tx, &k)
		case err != nil:
			return fmt.Errorf("read key %s: %w", k.UID, err)
		}
		return apierr.Newf(apierr.APIKeyAlreadyExists, "There is a key with the uid `%s`: choose another, or leave `uid` out.", k.UID)
	})
}

// UpdateKey implements [auth.Keys].
func (s *Store) UpdateKey(_ context.Context, uid string, change func(*auth.Key)) (k auth.Key, err error) {
	err = s.update(func(tx txn) error {
		b, err := get(tx, keyOf(uid))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return auth.NotFound()
		}
		if err != nil {
			return fmt.Errorf("read key %s: %w", uid, err)
		}
		if k, err = decodeKey(uid, b); err != nil {
			return err
		}
		change(&k)
		return putKey(tx, &k)
	})
	return k, err
}

// DeleteKey implements [auth.Keys].
func (s *Store) DeleteKey(_ context.Context, uid string) error {
	return s.update(func(tx txn) error {
		_, err := tx.Get(keyOf(uid))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return auth.NotFound()
		}
		if err != nil {
			return fmt.Errorf("read key %s: %w", uid, err)
		}
		return tx.Delete(keyOf(uid))
	})
}

// SeedKeys implements [auth.Keys].
func (s *Store) SeedKeys(_ context.Context, defaults []auth.Key) error {
	seeded := []byte(prefixMeta + "keys")
	return s.update(func(tx txn) error {
		_, err := tx.Get(seeded)
		if !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		for i := range defaults {
			if err := putKey(tx, &defaults[i]); err != nil {
				return err
			}
		}
		return tx.Set(seeded, []byte("1"))
	})
}
