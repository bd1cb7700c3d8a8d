package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func record(n int, previous string) *Record {
	raw := func(format string) []json.RawMessage { return []json.RawMessage{fmt.Appendf(nil, format, n)} }
	return &Record{
		ID: fmt.Sprint("resp_", n), Previous: previous, Body: fmt.Appendf(nil, `{"n":%d}`, n),
		Input: raw(`"in %d"`), Output: raw(`"out %d"`), ItemIDs: []string{fmt.Sprint("msg_", n)},
	}
}

func put(t *testing.T, s *Store, owner string, r *Record) {
	t.Helper()
	if err := s.Put(owner, r); err != nil {
		t.Fatal(err)
	}
}

// What one caller keeps is not there for another.
func TestOwners(t *testing.T) {
	s := New(Options{TTL: time.Hour})
	put(t, s, "a", record(1, ""))
	put(t, s, "a", record(2, "resp_1"))
	if r, ok := s.Get("a", "resp_1"); !ok || string(r.Body) != `{"n":1}` {
		t.Errorf("Get = %v, %v", r, ok)
	}
	if item, ok := s.Item("a", "msg_2"); !ok || string(item) != `"out 2"` {
		t.Errorf("Item = %s, %v", item, ok)
	}
	if got, ok := s.History("a", "resp_2"); !ok || fmt.Sprintf("%s", got) != `["in 1" "out 1" "in 2" "out 2"]` {
		t.Errorf("History = %s, %v", got, ok)
	}
	_, got := s.Get("b", "resp_1")
	_, item := s.Item("b", "msg_1")
	_, history := s.History("b", "resp_2")
	if got || item || history || s.Delete("b", "resp_1") {
		t.Errorf("another caller: Get %v, Item %v, History %v, want none", got, item, history)
	}
	if !s.Delete("a", "resp_1") || s.Delete("a", "resp_1") {
		t.Error("Delete does not forget once")
	}
	if _, ok := s.History("a", "resp_2"); ok {
		t.Error("History of a conversation that lost its beginning")
	}
	if _, ok := s.Item("a", "msg_1"); ok {
		t.Error("an item outlived its response")
	}
}

// A conversation that goes on keeps its beginning.
func TestExpiry(t *testing.T) {
	now := time.Unix(0, 0)
	s := New(Options{TTL: time.Hour, Now: func() time.Time { return now }})
	put(t, s, "a", record(1, ""))
	put(t, s, "a", record(9, ""))
	now = now.Add(50 * time.Minute)
	if _, ok := s.History("a", "resp_1"); !ok {
		t.Fatal("a response is gone before its time")
	}
	now = now.Add(50 * time.Minute)
	if _, ok := s.Get("a", "resp_1"); !ok {
		t.Error("a response that was used is gone an hour after it was made")
	}
	if _, ok := s.Get("a", "resp_9"); ok {
		t.Error("a response is there after its time")
	}
	now = now.Add(time.Hour)
	if _, ok := s.Get("a", "resp_1"); ok || s.kept.bytes != 0 || len(s.items) != 0 {
		t.Errorf("after all: there %v, %d bytes, %d items", ok, s.kept.bytes, len(s.items))
	}
}

// The oldest go first, and what is kept is sealed.
//
//parley:option responses-max-bytes
func TestBounds(t *testing.T) {
	s := New(Options{TTL: time.Hour, MaxBytes: 4000})
	for i := range 100 {
		put(t, s, "a", record(i, ""))
		if s.kept.bytes > 4000 {
			t.Fatalf("%d bytes after %d, want at most 4000", s.kept.bytes, i)
		}
	}
	if _, ok := s.Get("a", "resp_99"); !ok || len(s.byID) < 3 || len(s.byID) > 7 {
		t.Errorf("%d of 100 kept, the last one %v", len(s.byID), ok)
	}
	for at := s.order.Front(); at != nil; at = at.Next() {
		if strings.Contains(string(at.Value.(*entry).sealed), "out ") {
			t.Error("a record is kept as it is")
		}
	}
	large := record(100, "")
	large.Body = json.RawMessage(`"` + strings.Repeat("x", 5000) + `"`)
	put(t, s, "a", large)
	if _, ok := s.Get("a", "resp_100"); ok {
		t.Error("a record is kept that is larger than all may be")
	}
	off := New(Options{})
	put(t, off, "a", record(1, ""))
	if _, ok := off.Get("a", "resp_1"); ok || off.Keeps() {
		t.Error("a store without a time keeps a record")
	}
}

// Who keeps much does not take what others keep: of keys the one that keeps most loses,
// and of its owners the one that keeps most.
func TestShares(t *testing.T) {
	t.Parallel()
	s := New(Options{TTL: time.Hour, MaxBytes: 20_000})
	n := 0
	keep := func(key, owner string) string {
		n++
		r := record(n, "")
		r.Key = key
		put(t, s, owner, r)
		return r.ID
	}
	there := func(owner string, ids ...string) {
		t.Helper()
		for _, id := range ids {
			if _, ok := s.Get(owner, id); !ok {
				t.Errorf("%s of %s is gone", id, owner)
			}
		}
	}
	little := []string{keep("k1", "alice"), keep("k1", "alice"), keep("k1", "alice")}
	other := keep("k2", "bob")
	for i := range 200 {
		last := keep("k2", fmt.Sprint("minted ", i%50))
		there(fmt.Sprint("minted ", i%50), last)
	}
	there("alice", little...)
	for range 200 {
		keep("k3", "greedy")
	}
	there("alice", little...)
	there("bob", other)
	if s.kept.bytes > 20_000 || len(s.byID) < 20 {
		t.Errorf("%d records of %d bytes", len(s.byID), s.kept.bytes)
	}
	for _, id := range little {
		s.Delete("alice", id)
	}
	if s.kept.named["k1"] != nil || len(s.kept.parts) != 2 {
		t.Errorf("the share of a key that keeps nothing is there: %v", s.kept.named)
	}
}
