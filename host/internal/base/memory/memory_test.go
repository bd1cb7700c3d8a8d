package memory_test

import (
	"context"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/memory"
)

func TestAccount(t *testing.T) {
	const mib = 1 << 20
	a := memory.NewAccount(16*mib, nil) // of which 2 are kept for small requests
	big, small := a.Lend(0), a.Lend(0)
	if err := big.Take(14 * mib); err != nil {
		t.Fatalf("Take of what there is = %v", err)
	}
	if err := big.Take(1); !apierr.Is(err, apierr.MemoryExhausted) || apierr.From(err).RetryAfter == 0 || apierr.From(err).Code.Status() != 503 {
		t.Errorf("Take of what is kept for small requests = %v, want 503 and a time", err)
	}
	if err := small.Take(200 << 10); err != nil {
		t.Errorf("Take of a small request = %v, want it to be served last", err)
	}
	if err := small.Take(200 << 10); !apierr.Is(err, apierr.MemoryExhausted) {
		t.Errorf("Take of one that is not small any more = %v, want 503", err)
	}
	big.Give(4 * mib)
	if held, limit, refused := a.Figures(); held != 10*mib+200<<10 || limit != 16*mib || refused != 2 {
		t.Errorf("Figures = %d, %d, %d", held, limit, refused)
	}
	big.Close()
	small.Close()
	small.Close()
	if held, _, _ := a.Figures(); held != 0 {
		t.Errorf("held after all are closed = %d, want 0", held)
	}
	var none *memory.Loan
	if err := none.Take(1 << 60); err != nil {
		t.Errorf("Take of no loan = %v", err)
	}
	if memory.Of(context.Background()) != nil || memory.Of(memory.With(context.Background(), big)) != big {
		t.Error("Of does not give the loan of With")
	}
}

// Whoever took them, a request takes none of the last addresses.
func TestRoom(t *testing.T) {
	const mib = 1 << 20
	left := int64(100 * mib)
	a := memory.NewAccount(0, func() int64 { return left })
	l := a.Lend(0)
	if err := l.Take(3 * mib); err != nil {
		t.Fatalf("Take of 3 of 100 MiB = %v", err)
	}
	left = 60 * mib
	if err := l.Take(mib / 2); err != nil {
		t.Errorf("Take of less than a step = %v: the room is not to be looked at each time", err)
	}
	if err := l.Take(mib); !apierr.Is(err, apierr.MemoryExhausted) {
		t.Errorf("Take of a large request of the last 60 MiB = %v, want 503", err)
	}
	small := a.Lend(0)
	if err := small.Take(1000); err != nil {
		t.Errorf("Take of a small one then = %v, want it to be served last", err)
	}
	left = 40 * mib
	if err := a.Lend(0).Take(1000); !apierr.Is(err, apierr.MemoryExhausted) {
		t.Errorf("Take of a small one of the last 40 MiB = %v, want 503", err)
	}
}

func TestAnswerIsBounded(t *testing.T) {
	l := memory.NewAccount(0, nil).Lend(1000)
	if err := l.TakeAnswer(600); err != nil {
		t.Fatal(err)
	}
	if err := l.TakeAnswer(600); !apierr.Is(err, apierr.AnswerTooLarge) || apierr.From(err).Code.Status() != 413 {
		t.Errorf("TakeAnswer beyond the limit = %v, want 413", err)
	}
}

func TestHammerAccount(t *testing.T) {
	a := memory.NewAccount(1<<20, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 2000 {
				l := a.Lend(0)
				if err := l.TakeBody(i * 100); err == nil {
					l.Give(int64(i))
				}
				if held, _, _ := a.Figures(); held < 0 {
					t.Errorf("held = %d", held)
				}
				l.Close()
			}
		})
	}
	all.Wait()
	if held, _, _ := a.Figures(); held != 0 {
		t.Errorf("held at the end = %d, want 0", held)
	}
}
