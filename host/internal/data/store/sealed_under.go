package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// A KeyError says that the database is sealed under another key than the one at
// hand.
type KeyError struct {
	Sealed string // name of the key
	Given  string // and of the one at hand; empty where no master key is given
}

func (e *KeyError) Error() string {
	given := "none is given, nor has " + sealFile + " that key"
	if e.Given != "" {
		given = "the one given is named " + e.Given
	}
	return fmt.Sprintf("the data is sealed under the master key named %s, and %s: start with that key (--master-key, PARLEY_MASTER_KEY or the configuration file); "+
		"`parley key rotate-master` goes from one to another, with --lost if the old one is lost. Data that never had a master key has its key in %s: restore that file", e.Sealed, given, sealFile)
}

// SealedUnder is the name of the key that the secrets are sealed under; empty
// where nobody noted one yet.
func (s *Store) SealedUnder() (string, error) {
	name, err := s.meta(keySealing)
	if err != nil {
		return "", fmt.Errorf("read name of sealing key: %w", err)
	}
	return name, nil
}

// CheckKey returns a [*KeyError] where the secrets are sealed under a key that
// sealer does not have. A database of which nothing is noted is sealer's from
// then on.
func (s *Store) CheckKey(sealer *Sealer) error {
	sealed, err := s.SealedUnder()
	switch {
	case err != nil || sealed == sealer.Name():
		return err
	case sealed != "" && !sealer.has(sealed):
		return &KeyError{sealed, sealer.given()}
	}
	// The first key, or a master key where a file of the machine's was before.
	return s.update(func(tx txn) error { return tx.Set([]byte(keySealing), []byte(sealer.Name())) })
}

// Imported reports whether the database came out of an archive, and nobody saw
// to its secrets yet.
func (s *Store) Imported() (bool, error) {
	v, err := s.meta(keyImported)
	return v != "", err
}

// meta returns the text of a key, empty where there is none.
func (s *Store) meta(key string) (text string, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		b, err := get(tx, []byte(key))
		text = string(b)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		return err
	})
	return text, err
}

// RemoveSealFile removes the key of a data directory that had no master key,
// once nothing is sealed under it any more.
func RemoveSealFile(dir string) error {
	err := os.Remove(filepath.Join(dir, sealFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
