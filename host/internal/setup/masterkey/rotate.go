// Package masterkey opens what the secrets of a data directory are sealed with,
// and changes the key under which they are.
package masterkey

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// A Rotation is what came of [Rotate].
type Rotation struct {
	Key     string   `json:"key"`     // name of the new master key, as errors show it
	Before  bool     `json:"before"`  // the data was the new key's already: nothing was done
	Sealed  []string `json:"sealed"`  // secrets that are sealed under the new key
	Dropped []string `json:"dropped"` // that could not be opened, and are no more
	APIKeys []APIKey `json:"apiKeys"` // which all have new values
}

// An APIKey is one of the service, whose value derives from the master key.
type APIKey struct {
	UID   string `json:"uid"`
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Rotate seals every secret in c's data directory under another master
// key than c's. No host may run on it. At any moment the data belongs to exactly
// one of both keys, and a start with the other one is refused. lost says that
// c's key is gone: what cannot be opened is dropped then.
func Rotate(ctx context.Context, c config.Config, newKey string, lost bool) (_ *Rotation, err error) {
	if len(newKey) < config.MinMasterKey {
		return nil, fmt.Errorf("the new master key has %d bytes: want at least %d", len(newKey), config.MinMasterKey)
	}
	if newKey == c.MasterKey.Reveal() {
		return nil, errors.New("the new master key is the present one")
	}
	if !store.Exists(c.DBPath) {
		return nil, fmt.Errorf("there is no database in %s: name the data directory by --db-path", c.DBPath)
	}
	db, err := store.Open(c.DBPath)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	to, err := store.NewSealer([]byte(newKey))
	if err != nil {
		return nil, err
	}
	r := &Rotation{Key: to.Name()}
	if r.APIKeys, err = apiKeys(ctx, db, newKey); err != nil {
		return nil, err
	}
	sealed, err := db.SealedUnder()
	if err != nil {
		return nil, err
	}
	if r.Before = sealed == to.Name(); r.Before {
		return r, store.RemoveSealFile(c.DBPath) // which a crash may have left
	}
	from, err := store.OpenSealer(c.DBPath, []byte(c.MasterKey.Reveal()))
	if err != nil {
		return nil, err
	}
	if err := db.CheckKey(from); err != nil && !lost {
		return nil, err
	}
	done, err := db.Reseal(ctx, from, to, lost)
	if err != nil {
		return nil, err
	}
	r.Sealed, r.Dropped = done.Kept, done.Dropped
	return r, store.RemoveSealFile(c.DBPath)
}

func apiKeys(ctx context.Context, db *store.Store, master string) ([]APIKey, error) {
	keys, err := auth.Open(ctx, db, auth.Options{MasterKey: master})
	if err != nil {
		return nil, err
	}
	var list []APIKey
	page, _ := keys.Keys(0, math.MaxInt)
	for i := range page {
		k := APIKey{UID: page[i].UID, Value: keys.Value(&page[i])}
		if page[i].Name != nil {
			k.Name = *page[i].Name
		}
		list = append(list, k)
	}
	return list, nil
}
