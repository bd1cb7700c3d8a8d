// Package networktest holds the contract of package network's interface as a
// test, and a small real implementation of it.
package networktest

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search/network"
)

// Store is a [network.Store] in memory. Its zero value holds an empty network.
type Store struct {
	mu  sync.Mutex
	now network.Network
}

// Network implements [network.Store].
func (s *Store) Network(context.Context) (*network.Network, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.now
	return &n, nil
}

// UpdateNetwork implements [network.Store].
func (s *Store) UpdateNetwork(_ context.Context, f func(*network.Network) (*network.Network, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.now
	n, err := f(&old)
	if err == nil {
		s.now = *n
	}
	return err
}

// TestStore checks s, which must be empty, against the contract of
// [network.Store].
func TestStore(t *testing.T, s network.Store) {
	t.Helper()
	ctx := t.Context()
	got, err := s.Network(ctx)
	if err != nil || got.Self != "" || len(got.Remotes) != 0 {
		t.Errorf("Network of an empty store = %+v, %v; want an empty one", got, err)
	}
	want := &network.Network{Self: "a", Remotes: map[string]network.Remote{
		"a": {URL: "http://a"}, "b": {URL: "http://b", Key: secret.New("key of b")},
	}}
	err = s.UpdateNetwork(ctx, func(old *network.Network) (*network.Network, error) {
		if len(old.Remotes) != 0 {
			t.Errorf("UpdateNetwork gave %+v, want an empty one", old)
		}
		return want, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		got, err := s.Network(ctx)
		if err != nil || !reflect.DeepEqual(got.Self, want.Self) || len(got.Remotes) != len(want.Remotes) {
			t.Fatalf("Network %s = %+v, %v; want %+v", when, got, err, want)
		}
		for name, w := range want.Remotes {
			if g := got.Remotes[name]; g.URL != w.URL || g.Key.Reveal() != w.Key.Reveal() || g.KeyUnreadable {
				t.Errorf("Network %s has %s = %s with the key %q, want %s with %q", when, name, g.URL, g.Key.Reveal(), w.URL, w.Key.Reveal())
			}
		}
	}
	check("after an update")
	refused := errors.New("refused")
	if err := s.UpdateNetwork(ctx, func(*network.Network) (*network.Network, error) { return nil, refused }); err != refused {
		t.Errorf("UpdateNetwork that is refused returned %v, want what refused it", err)
	}
	check("after an update that was refused")
}
