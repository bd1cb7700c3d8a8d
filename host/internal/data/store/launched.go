package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// FirstLaunch returns when a host first ran on this database, which is now
// where none did. It is of this database alone: dumps and snapshots do not
// carry it, and one made of them begins anew.
func (s *Store) FirstLaunch(now time.Time) (first time.Time, err error) {
	err = s.updateOwn(func(tx txn) error {
		b, err := get(tx, s.own([]byte(keyLaunched)))
		if err == nil {
			first, err = time.Parse(time.RFC3339, string(b))
			return err
		}
		if !errors.Is(err, badger.ErrKeyNotFound) {
			return err
		}
		first = now.UTC().Truncate(time.Hour)
		return tx.Set(s.own([]byte(keyLaunched)), []byte(first.Format(time.RFC3339)))
	})
	if err != nil {
		return first, fmt.Errorf("read the time of the first launch: %w", err)
	}
	return first, nil
}
