package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/feature"
)

var _ feature.Store = (*Store)(nil)

// Features implements [feature.Store].
func (s *Store) Features(context.Context) (on map[string]bool, err error) {
	var value []byte
	err = s.db.View(func(tx *badger.Txn) error {
		value, err = get(tx, []byte(keyFeatures))
		return err
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get features: %w", err)
	}
	if err := json.Unmarshal(value, &on); err != nil {
		return nil, fmt.Errorf("read record of features: %w", err)
	}
	return on, nil
}

// PutFeatures implements [feature.Store].
func (s *Store) PutFeatures(_ context.Context, on map[string]bool) error {
	value, err := json.Marshal(on)
	if err != nil {
		return fmt.Errorf("write record of features: %w", err)
	}
	return s.update(func(tx txn) error { return tx.Set([]byte(keyFeatures), value) })
}
