package store

import (
	"reflect"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/auth/authtest"
)

func TestKeys(t *testing.T) {
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	authtest.TestKeys(t, s)
}

// The bytes of a key that a host of format 1 wrote.
func TestKeysFormat(t *testing.T) {
	const uid = "b0000000-0000-4000-8000-000000000000"
	const stored = `{"name":"n","actions":["search","documents.*"],"indexes":["movies*"],"expiresAt":"2026-11-21T06:00:00Z","createdAt":"2026-11-21T05:00:00.123Z","updatedAt":"2026-11-21T05:00:00.123Z"}`
	s, err := OpenInMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.update(func(tx txn) error { return tx.Set([]byte("k/"+uid), []byte(stored)) }); err != nil {
		t.Fatal(err)
	}
	k, err := s.UpdateKey(t.Context(), uid, func(*auth.Key) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := []auth.Action{auth.Search, "documents.*"}; !reflect.DeepEqual(k.Actions, want) || *k.Name != "n" || k.ExpiresAt.Hour() != 6 {
		t.Errorf("UpdateKey = %+v, want what was stored", k)
	}
	var got []byte
	err = s.db.View(func(tx *badger.Txn) (err error) {
		got, err = get(tx, []byte("k/"+uid))
		return err
	})
	if err != nil || string(got) != stored {
		t.Errorf("stored again = %s, %v, want %s", got, err, stored)
	}
}
