package store

import (
	"bytes"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// TestWebhooks keeps webhooks sealed whole, through another key that does not
// open them, and sealed anew.
func TestWebhooks(t *testing.T) {
	s, dir := openMemory(t), t.TempDir()
	under := func(master string) (*Webhooks, *Sealer) {
		t.Helper()
		sealer, err := OpenSealer(dir, []byte(master))
		if err != nil {
			t.Fatal(err)
		}
		return s.Webhooks(sealer), sealer
	}
	add := func(w *Webhooks, uid, url string) {
		t.Helper()
		err := w.UpdateWebhooks(t.Context(), func(old map[string]webhook.Hook) (map[string]webhook.Hook, error) {
			old[uid] = webhook.Hook{URL: url, Headers: map[string]secret.Text{"X": secret.New("geheim of " + uid)}}
			return old, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(w *Webhooks, uid, url string) {
		t.Helper()
		all, err := w.Webhooks(t.Context())
		if h, ok := all[uid]; err != nil || !ok || h.URL != url || h.Unreadable != (url == "") || url != "" && h.Headers["X"].Reveal() != "geheim of "+uid {
			t.Errorf("webhook %s is %+v, %v; want the URL %q and its header", uid, h, err, url)
		}
	}
	first, one := under("the first master key")
	add(first, "a", "https://a.example/token")
	check(first, "a", "https://a.example/token")
	var raw []byte
	err := s.db.View(func(tx *badger.Txn) (err error) { raw, err = get(tx, []byte(keyWebhooks)); return err })
	if err != nil || bytes.Contains(raw, []byte("token")) || bytes.Contains(raw, []byte("geheim")) {
		t.Errorf("the record is %s, %v; want nothing in the clear", raw, err)
	}

	second, two := under("the second master key")
	check(second, "a", "")
	add(second, "b", "https://b.example")
	check(first, "a", "https://a.example/token")
	check(first, "b", "")

	done, err := s.Reseal(t.Context(), one, two, true)
	if err != nil || !slices.Equal(done.Kept, []string{"webhook a"}) || !slices.Equal(done.Dropped, []string{"webhook b"}) {
		t.Errorf("Reseal = %+v, %v", done, err)
	}
	check(second, "a", "https://a.example/token")
}
