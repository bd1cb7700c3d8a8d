package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// SharedLock returns the lock of the plugins that a cluster shares; nil: it shares
// none yet.
func (s *Store) SharedLock() (lock []byte, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		lock, err = get(tx, []byte(keySharedLock))
		if errors.Is(err, badger.ErrKeyNotFound) {
			lock, err = nil, nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the cluster's plugins: %w", err)
	}
	return lock, nil
}

// ErrNoModule: the cluster has no module of that hash.
var ErrNoModule = errors.New("the cluster has no such module")

// HasModule reports whether the cluster shares the module with a hash. It does not
// read it.
func (s *Store) HasModule(sha256 string) (has bool, err error) {
	err = s.db.View(func(tx *badger.Txn) error {
		_, err := tx.Get([]byte(prefixModule + sha256))
		if has = err == nil; errors.Is(err, badger.ErrKeyNotFound) {
			err = nil
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for module %s of the cluster: %w", sha256, err)
	}
	return has, nil
}

// SharedModule returns the module with a hash, as it was given, and its signature;
// none where that is empty.
func (s *Store) SharedModule(sha256 string) (module, signature []byte, err error) {
	var b []byte
	err = s.db.View(func(tx *badger.Txn) error {
		b, err = get(tx, []byte(prefixModule+sha256))
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil, ErrNoModule
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read module %s of the cluster: %w", sha256, err)
	}
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, fmt.Errorf("module %s of the cluster is cut off", sha256)
	}
	b = b[size:]
	return b[n:], b[:n], nil
}

// ShareModule keeps a module under its hash for all nodes.
func (s *Store) ShareModule(sha256 string, module, signature []byte) error {
	if err := s.room(reserve); err != nil {
		return err
	}
	b := binary.AppendUvarint(nil, uint64(len(signature)))
	b = append(append(b, signature...), module...)
	err := s.update(func(tx txn) error { return tx.Set([]byte(prefixModule+sha256), b) })
	if err != nil {
		return fmt.Errorf("share module %s with the cluster: %w", sha256, err)
	}
	return nil
}

// ShareLock makes lock that of all nodes, and forgets the modules but those of the
// hashes in keep.
func (s *Store) ShareLock(lock []byte, keep map[string]bool) error {
	err := s.update(func(tx txn) error {
		var gone [][]byte
		err := eachKey(tx, []byte(prefixModule), func(item *badger.Item) error {
			if key := item.KeyCopy(nil); !keep[string(key[len(prefixModule):])] {
				gone = append(gone, key)
			}
			return nil
		})
		for _, key := range gone {
			err = errors.Join(err, tx.Delete(key))
		}
		return errors.Join(err, tx.Set([]byte(keySharedLock), lock))
	})
	if err != nil {
		return fmt.Errorf("share the lock of plugins with the cluster: %w", err)
	}
	return nil
}
