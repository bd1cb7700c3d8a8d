package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search/network"
)

// Network implements [network.Store].
type Network struct {
	store  *Store
	sealer *Sealer
}

var _ network.Store = (*Network)(nil)

// Network returns the network of s, whose keys are sealed by sealer.
func (s *Store) Network(sealer *Sealer) *Network { return &Network{s, sealer} }

// A networkRecord is the network as it is kept. Fields are only ever added.
type networkRecord struct {
	Self    string                  `json:"self,omitempty"`
	Remotes map[string]remoteRecord `json:"remotes,omitempty"`
}

type remoteRecord struct {
	URL       string `json:"url"`
	SealedKey []byte `json:"sealedKey,omitempty"`
}

// Network implements [network.Store].
func (n *Network) Network(context.Context) (found *network.Network, err error) {
	err = n.store.db.View(func(tx *badger.Txn) error {
		found, _, err = n.read(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get network: %w", err)
	}
	return found, nil
}

// UpdateNetwork implements [network.Store].
func (n *Network) UpdateNetwork(_ context.Context, f func(*network.Network) (*network.Network, error)) error {
	return updateRecord(n.store, "update network", keyNetwork, n.read, f, n.encode)
}

func (n *Network) read(tx reader) (*network.Network, *networkRecord, error) {
	var r networkRecord
	value, err := get(tx, []byte(keyNetwork))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return &network.Network{}, &r, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := json.Unmarshal(value, &r); err != nil {
		return nil, nil, fmt.Errorf("read record: %w", err)
	}
	found := &network.Network{Self: r.Self, Remotes: make(map[string]network.Remote, len(r.Remotes))}
	for name, kept := range r.Remotes {
		remote := network.Remote{URL: kept.URL}
		if len(kept.SealedKey) > 0 {
			key, err := n.sealer.Open(kept.SealedKey, remotePlace(kept.URL))
			remote.KeyUnreadable = err != nil
			remote.Key = secret.New(string(key))
		}
		found.Remotes[name] = remote
	}
	return found, &r, nil
}

// encode returns the record of u. Keys that cannot be read are kept from before, the
// record so far.
func (n *Network) encode(u *network.Network, before *networkRecord) ([]byte, error) {
	r := networkRecord{Self: u.Self, Remotes: make(map[string]remoteRecord, len(u.Remotes))}
	for name, remote := range u.Remotes {
		kept := remoteRecord{URL: remote.URL}
		switch {
		case !remote.Key.IsZero():
			kept.SealedKey = n.sealer.Seal([]byte(remote.Key.Reveal()), remotePlace(remote.URL))
		case remote.KeyUnreadable && before.Remotes[name].URL == remote.URL:
			kept.SealedKey = before.Remotes[name].SealedKey
		}
		r.Remotes[name] = kept
	}
	value, err := json.Marshal(&r)
	if err != nil {
		return nil, fmt.Errorf("write record: %w", err)
	}
	return value, nil
}

// remotePlace binds a key to where it is sent, so that anyone who can write the
// record, but not open the key, cannot have it sent elsewhere.
func remotePlace(url string) string { return "searchApiKey for " + url }
