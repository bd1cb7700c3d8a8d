package store

import (
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/access/limit/limittest"
)

func TestLimits(t *testing.T) { limittest.TestStorage(t, openMemory(t)) }

// TestSpansExpire has records go by themselves once no usage names their span.
func TestSpansExpire(t *testing.T) {
	s := openMemory(t)
	now := time.Now()
	for _, p := range []limit.Period{limit.Hour, limit.Day, limit.Month, limit.Total} {
		span := p.At(now)
		if err := s.SetSpent("k/a", span, 5); err != nil {
			t.Fatal(err)
		}
		if err := s.AddCounts([]limit.Entry{{Subject: "k/a", Span: span, Counts: limit.Counts{Requests: 1}}}); err != nil {
			t.Fatal(err)
		}
		err := s.db.View(func(tx *badger.Txn) error {
			for _, prefix := range []string{prefixSpent, prefixCounts} {
				item, err := tx.Get(s.spanKey(prefix, "k/a", span))
				if err != nil {
					return err
				}
				if p == limit.Total {
					if item.ExpiresAt() != 0 {
						t.Errorf("%s: a total expires", prefix)
					}
					continue
				}
				next := p.At(span.End())
				if at := time.Unix(int64(item.ExpiresAt()), 0); at.Before(next.End()) || at.After(next.End().Add(keepSpan+time.Minute)) {
					t.Errorf("%s of a %s expires at %v, want it a while after %v", prefix, p, at, next.End())
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
