package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

// Webhooks implements [webhook.Store].
type Webhooks struct {
	store  *Store
	sealer *Sealer
}

var _ webhook.Store = (*Webhooks)(nil)

// Webhooks returns the webhooks of s, which are sealed by sealer.
func (s *Store) Webhooks(sealer *Sealer) *Webhooks { return &Webhooks{s, sealer} }

// A webhooksRecord is all webhooks as they are kept, each sealed whole: a
// webhookRecord by its uuid.
type webhooksRecord map[string][]byte

// A webhookRecord is a webhook. Fields are only ever added.
type webhookRecord struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
}

// webhookPlace binds a sealed webhook to its uuid.
func webhookPlace(uid string) string { return "webhook " + uid }

// Webhooks implements [webhook.Store].
func (w *Webhooks) Webhooks(context.Context) (found map[string]webhook.Hook, err error) {
	err = w.store.db.View(func(tx *badger.Txn) error {
		found, _, err = w.read(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get webhooks: %w", err)
	}
	return found, nil
}

// UpdateWebhooks implements [webhook.Store].
func (w *Webhooks) UpdateWebhooks(_ context.Context, f func(map[string]webhook.Hook) (map[string]webhook.Hook, error)) error {
	return updateRecord(w.store, "update webhooks", keyWebhooks, w.read, f, w.encode)
}

func (w *Webhooks) read(tx reader) (map[string]webhook.Hook, webhooksRecord, error) {
	var record webhooksRecord
	hooks := map[string]webhook.Hook{}
	value, err := get(tx, []byte(keyWebhooks))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return hooks, record, nil
	}
	if err == nil {
		err = json.Unmarshal(value, &record)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read record: %w", err)
	}
	for uid, sealed := range record {
		text, err := w.sealer.Open(sealed, webhookPlace(uid))
		if err != nil {
			hooks[uid] = webhook.Hook{Unreadable: true}
			continue
		}
		var kept webhookRecord
		if err := json.Unmarshal(text, &kept); err != nil {
			return nil, nil, fmt.Errorf("read webhook %s: its record is not JSON", uid) // it may hold a secret
		}
		h := webhook.Hook{URL: kept.URL, Headers: make(map[string]secret.Text, len(kept.Headers))}
		for name, value := range kept.Headers {
			h.Headers[name] = secret.New(value)
		}
		hooks[uid] = h
	}
	return hooks, record, nil
}

// encode returns the record of hooks; before is the record so far, for those
// that cannot be read.
func (w *Webhooks) encode(hooks map[string]webhook.Hook, before webhooksRecord) ([]byte, error) {
	record := make(webhooksRecord, len(hooks))
	for uid, h := range hooks {
		if h.Unreadable {
			record[uid] = before[uid]
			continue
		}
		kept := webhookRecord{URL: h.URL, Headers: make(map[string]string, len(h.Headers))}
		for name, value := range h.Headers {
			kept.Headers[name] = value.Reveal()
		}
		text, err := json.Marshal(&kept)
		if err != nil {
			return nil, fmt.Errorf("write webhook: %w", err)
		}
		record[uid] = w.sealer.Seal(text, webhookPlace(uid))
	}
	return json.Marshal(record)
}

// resealWebhooks returns the record with all webhooks sealed anew; one that
// cannot be opened is dropped, for it has nothing that could be read.
func resealWebhooks(value []byte, anew settings.Reseal) ([]byte, error) {
	var record webhooksRecord
	if err := json.Unmarshal(value, &record); err != nil {
		return nil, fmt.Errorf("read webhooks: %w", err)
	}
	for uid, sealed := range record {
		if record[uid] = anew(sealed, webhookPlace(uid), "webhook "+uid); record[uid] == nil {
			delete(record, uid)
		}
	}
	return json.Marshal(record)
}
