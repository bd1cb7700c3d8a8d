// Package authtest holds what [auth.Keys] promises as a test, and an
// implementation in memory.
package authtest

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// Memory keeps keys in memory. Its zero value is ready.
type Memory struct {
	mu     sync.Mutex
	keys   map[string]auth.Key
	seeded bool
}

var _ auth.Keys = (*Memory)(nil)

// Keys implements [auth.Keys].
func (m *Memory) Keys(context.Context) ([]auth.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []auth.Key
	for _, k := range m.keys {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b auth.Key) int { return strings.Compare(a.UID, b.UID) })
	return keys, nil
}

// CreateKey implements [auth.Keys].
func (m *Memory) CreateKey(_ context.Context, k auth.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.keys[k.UID]; ok {
		return apierr.Newf(apierr.APIKeyAlreadyExists, "There is a key with this `uid`: choose another.")
	}
	m.put(k)
	return nil
}

func (m *Memory) put(k auth.Key) {
	if m.keys == nil {
		m.keys = make(map[string]auth.Key)
	}
	m.keys[k.UID] = k
}

// UpdateKey implements [auth.Keys].
func (m *Memory) UpdateKey(_ context.Context, uid string, change func(*auth.Key)) (auth.Key, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.keys[uid]
	if !ok {
		return auth.Key{}, auth.NotFound()
	}
	change(&k)
	m.put(k)
	return k, nil
}

// DeleteKey implements [auth.Keys].
func (m *Memory) DeleteKey(_ context.Context, uid string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.keys[uid]; !ok {
		return auth.NotFound()
	}
	delete(m.keys, uid)
	return nil
}

// SeedKeys implements [auth.Keys].
func (m *Memory) SeedKeys(_ context.Context, defaults []auth.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seeded {
		return nil
	}
	m.seeded = true
	for _, k := range defaults {
		m.put(k)
	}
	return nil
}

// TestKeys checks keys, which must be empty, against the contract of
// [auth.Keys].
func TestKeys(t *testing.T, keys auth.Keys) {
	t.Helper()
	ctx := t.Context()
	now := time.Date(2026, 11, 21, 5, 0, 0, 123e6, time.UTC)
	full := auth.Key{
		UID: "b0000000-0000-4000-8000-000000000000", Name: new("n"), Description: new("d"),
		Actions: []auth.Action{auth.Search, "documents.*"}, Indexes: []string{"movies*"}, Workspaces: []string{"demo*"},
		Limits:    limit.Limits{RequestsPerMinute: 1, Tokens: limit.Budget{Amount: 2, Period: limit.Week}, CountSearch: true},
		ExpiresAt: new(now.Add(time.Hour)), CreatedAt: now, UpdatedAt: now,
	}
	bare := auth.Key{UID: "a0000000-0000-4000-8000-000000000000", Actions: []auth.Action{}, Indexes: []string{}, Workspaces: []string{}, CreatedAt: now, UpdatedAt: now}

	check := func(after string, want ...auth.Key) {
		t.Helper()
		got, err := keys.Keys(ctx)
		if err != nil {
			t.Fatalf("Keys after %s: %v", after, err)
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("Keys after %s = %+v, want %+v", after, got, want)
		}
	}
	check("nothing")
	if err := keys.SeedKeys(ctx, []auth.Key{full}); err != nil {
		t.Fatal(err)
	}
	check("SeedKeys", full)
	if err := keys.CreateKey(ctx, bare); err != nil {
		t.Fatal(err)
	}
	check("CreateKey", bare, full)
	if err := keys.CreateKey(ctx, bare); !apierr.Is(err, apierr.APIKeyAlreadyExists) {
		t.Errorf("CreateKey twice: error %v, want %s", err, apierr.APIKeyAlreadyExists)
	}

	changed := full
	changed.Name, changed.UpdatedAt = nil, now.Add(time.Minute)
	got, err := keys.UpdateKey(ctx, full.UID, func(k *auth.Key) { k.Name, k.UpdatedAt = nil, now.Add(time.Minute) })
	if err != nil || !reflect.DeepEqual(got, changed) {
		t.Errorf("UpdateKey = %+v, %v, want %+v", got, err, changed)
	}
	check("UpdateKey", bare, changed)

	if err := keys.DeleteKey(ctx, full.UID); err != nil {
		t.Fatal(err)
	}
	check("DeleteKey", bare)
	if _, err := keys.UpdateKey(ctx, full.UID, func(*auth.Key) {}); !apierr.Is(err, apierr.APIKeyNotFound) {
		t.Errorf("UpdateKey of a deleted key: error %v, want %s", err, apierr.APIKeyNotFound)
	}
	if err := keys.DeleteKey(ctx, full.UID); !apierr.Is(err, apierr.APIKeyNotFound) {
		t.Errorf("DeleteKey twice: error %v, want %s", err, apierr.APIKeyNotFound)
	}
	if err := keys.SeedKeys(ctx, []auth.Key{full}); err != nil {
		t.Fatal(err)
	}
	check("a second SeedKeys", bare)
}
