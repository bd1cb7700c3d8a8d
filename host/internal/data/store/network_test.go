package store

import (
	"bytes"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/search/network/networktest"
)

func openNetwork(t *testing.T, s *Store, dir, master string) *Network {
	t.Helper()
	sealer, err := OpenSealer(dir, []byte(master))
	if err != nil {
		t.Fatal(err)
	}
	return s.Network(sealer)
}

func TestNetwork(t *testing.T) {
	networktest.TestStore(t, openNetwork(t, openMemory(t), t.TempDir(), ""))
}

func putNetwork(t *testing.T, n *Network, f func(*network.Network)) *network.Network {
	t.Helper()
	err := n.UpdateNetwork(t.Context(), func(old *network.Network) (*network.Network, error) {
		f(old)
		return old, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := n.Network(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestNetworkKey wants a key sealed at rest, kept while it cannot be opened,
// and of no use where another URL was written into the record.
func TestNetworkKey(t *testing.T) {
	const key = "sk-0123456789-of-the-remote"
	s, dir := openMemory(t), t.TempDir()
	set := func(n *network.Network) {
		n.Remotes = map[string]network.Remote{"a": {URL: "http://aaa", Key: secret.New(key)}}
	}
	right := openNetwork(t, s, dir, "the master key")
	putNetwork(t, right, set)
	raw := func() (b []byte) {
		err := s.db.View(func(tx *badger.Txn) (err error) { b, err = get(tx, []byte(keyNetwork)); return err })
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if bytes.Contains(raw(), []byte(key)) {
		t.Errorf("the key lies in the clear: %s", raw())
	}

	wrong := openNetwork(t, s, dir, "another master key")
	got := putNetwork(t, wrong, func(n *network.Network) { n.Self = "a" })
	if r := got.Remotes["a"]; !r.KeyUnreadable || !r.Key.IsZero() || r.ShownKey() != "XXX..." {
		t.Errorf("under another master key the remote is %+v, shown as %s", r, r.ShownKey())
	}
	if got := putNetwork(t, right, func(*network.Network) {}); got.Remotes["a"].Key.Reveal() != key || got.Self != "a" {
		t.Errorf("under the right master key again: %+v", got)
	}

	err := s.update(func(tx txn) error {
		return tx.Set([]byte(keyNetwork), bytes.Replace(raw(), []byte("http://aaa"), []byte("http://bbb"), 1))
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := right.Network(t.Context()); err != nil || !n.Remotes["a"].Key.IsZero() || n.Remotes["a"].URL != "http://bbb" {
		t.Errorf("with another URL in the record: %+v, %v; want no key", n, err)
	}
}

func TestFeatures(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []map[string]bool{nil, {"a": true}, {"a": false, "b": true}} {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Features(t.Context())
		if err != nil || len(got) != len(want) || got["a"] != want["a"] || got["b"] != want["b"] {
			t.Errorf("opened %d times: %v, %v; want %v", i+1, got, err, want)
		}
		if err := s.PutFeatures(t.Context(), []map[string]bool{{"a": true}, {"a": false, "b": true}, {}}[i]); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
