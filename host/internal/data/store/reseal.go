package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// Sealing anew happens in three steps, so that a crash at any moment leaves all
// secrets under one key:
//
//  1. what each record is to be is written beside it, under z/;
//  2. one transaction says that z/ is in force, and which key that is: from here
//     on the database belongs to the new key;
//  3. z/ goes into its place. The next start does so where a crash came before.

// A Resealed says what was done.
type Resealed struct {
	Kept    []string // secrets that are sealed under the new key now
	Dropped []string // that could not be opened, and are no more
}

// Reseal seals every secret of the database under to's key. Those that from
// cannot open are dropped where drop says so; else nothing changes, and they are
// named by an [*UnopenedError].
func (s *Store) Reseal(ctx context.Context, from, to *Sealer, drop bool) (Resealed, error) {
	var done Resealed
	if err := s.deleteAll([]byte(prefixAnew)); err != nil { // of one that came to no end
		return done, fmt.Errorf("seal again: %w", err)
	}
	anew := func(sealed []byte, place, what string) []byte {
		text, err := from.Open(sealed, place)
		if err != nil {
			done.Dropped = append(done.Dropped, what)
			return nil
		}
		done.Kept = append(done.Kept, what)
		return to.Seal(text, place)
	}
	batch := s.newBatch(s.hasSmallRoom)
	defer batch.Cancel()
	err := s.eachSealed(ctx, anew, func(key, value []byte) error {
		return batch.Set(append([]byte(prefixAnew), key...), value)
	})
	if err != nil {
		return done, fmt.Errorf("seal again: %w", err)
	}
	if len(done.Dropped) > 0 && !drop {
		batch.Cancel()
		return done, errors.Join(&UnopenedError{done.Dropped}, s.deleteAll([]byte(prefixAnew)))
	}
	if err := batch.Flush(); err != nil {
		return done, fmt.Errorf("seal again: %w", err)
	}
	err = s.update(func(tx txn) error {
		if err := tx.Delete([]byte(keyImported)); err != nil {
			return err
		}
		if err := tx.Set([]byte(keySealing), []byte(to.Name())); err != nil {
			return err
		}
		return tx.Set([]byte(keyAnew), []byte("1"))
	})
	if err == nil {
		err = s.finishReseal()
	}
	if err != nil {
		return done, fmt.Errorf("seal again: %w", err)
	}
	return done, nil
}

// An UnopenedError names secrets that the given key does not open.
type UnopenedError struct{ Secrets []string }

func (e *UnopenedError) Error() string {
	return fmt.Sprintf("%d secrets are sealed under yet another key: %.2000q", len(e.Secrets), e.Secrets)
}

// finishReseal puts what is sealed anew into its place, or removes it where its
// time never came.
func (s *Store) finishReseal() error {
	inForce := true
	err := s.db.View(func(tx *badger.Txn) error {
		_, err := tx.Get([]byte(keyAnew))
		if errors.Is(err, badger.ErrKeyNotFound) {
			inForce, err = false, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if inForce {
		batch := s.newBatch(s.hasSmallRoom)
		defer batch.Cancel()
		err := s.db.View(func(tx *badger.Txn) error {
			return scan(tx, []byte(prefixAnew), func(key, value []byte) (bool, error) {
				return true, batch.Set(append([]byte(nil), key[len(prefixAnew):]...), append([]byte(nil), value...))
			})
		})
		if err = errors.Join(err, batch.Flush()); err != nil {
			return err
		}
		err = s.update(func(tx txn) error { return tx.Delete([]byte(keyAnew)) })
		if err != nil {
			return err
		}
	}
	return s.deleteAll([]byte(prefixAnew))
}

// eachSealed calls f with each record that holds a secret, as it is to be.
func (s *Store) eachSealed(ctx context.Context, anew settings.Reseal, f func(key, value []byte) error) error {
	return s.db.View(func(tx *badger.Txn) error {
		for prefix, reseal := range map[string]func(name string, value []byte) ([]byte, error){
			prefixWorkspace: func(uid string, value []byte) ([]byte, error) { return resealWorkspace(uid, value, anew) },
			keyWebhooks:     func(_ string, value []byte) ([]byte, error) { return resealWebhooks(value, anew) },
			keyNetwork:      func(_ string, value []byte) ([]byte, error) { return resealNetwork(value, anew) },
			prefixIndex:     func(uid string, value []byte) ([]byte, error) { return settings.ResealMeta(uid, value, anew) },
			prefixPayload:   func(uid string, value []byte) ([]byte, error) { return resealPayload(tx, uid, value, anew) },
		} {
			err := scan(tx, []byte(prefix), func(key, value []byte) (bool, error) {
				changed, err := reseal(string(key[len(prefix):]), value)
				if err == nil && changed != nil {
					err = f(key, changed)
				}
				return true, errors.Join(err, ctx.Err())
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func resealWorkspace(uid string, value []byte, anew settings.Reseal) ([]byte, error) {
	var r workspaceRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, fmt.Errorf("read workspace %q: %w", uid, err)
	}
	options := resealOptions(uid, &r, anew)
	if len(r.SealedKey) == 0 && !options {
		return nil, nil
	}
	if len(r.SealedKey) > 0 {
		r.SealedKey = anew(r.SealedKey, sealPlace(uid), "apiKey of workspace "+uid)
	}
	return json.Marshal(&r)
}

func resealNetwork(value []byte, anew settings.Reseal) ([]byte, error) {
	var r networkRecord
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, fmt.Errorf("read network: %w", err)
	}
	for name, remote := range r.Remotes {
		if len(remote.SealedKey) > 0 {
			remote.SealedKey = anew(remote.SealedKey, remotePlace(remote.URL), "searchApiKey of remote "+name)
			r.Remotes[name] = remote
		}
	}
	return json.Marshal(&r)
}

// resealPayload is for the tasks that wait with a secret.
func resealPayload(tx reader, number string, value []byte, anew settings.Reseal) ([]byte, error) {
	b, err := get(tx, []byte(prefixTask+number))
	if err != nil {
		return nil, fmt.Errorf("read task of a payload: %w", err)
	}
	var t task.Task
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	switch t.Type {
	case task.SettingsUpdate:
		return settings.ResealPayload(t.IndexUID, value, anew)
	case task.Export:
		return export.ResealPayload(value, anew)
	}
	return nil, nil
}
