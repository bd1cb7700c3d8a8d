package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// An OpenRow is what streams cost that are open at the same time and slow: two
// words each, a long pause before both.
type OpenRow struct {
	Setting string `json:"setting"`
	Source  string `json:"source,omitempty"`

	Streams   int     `json:"streams"`    // asked for
	Most      int     `json:"most_open"`  // that were open at once
	RSS       float64 `json:"rss_mib"`    // the most of the process while they were
	PerStream float64 `json:"stream_kb"`  // what it grew by for each, in units of 1,000 bytes
	Stream    float64 `json:"cpu_stream"` // processor time of an answer, in µs
	Failed    int     `json:"failed"`     // answers that were not whole
}

// opening is how many streams are being opened at a time: more would test the
// system's queue of connections.
const opening = 128

// Open holds n streams of s open, with words pause apart, and tells tell of at
// most ten that failed.
func Open(ctx context.Context, s *Subject, n int, pause time.Duration, tell func(string)) OpenRow {
	row := OpenRow{Setting: s.Setting, Source: s.Source, Streams: n}
	if errs := s.Streams(ctx, s.Model+"c5-d0", 4, 5); len(errs) > 0 {
		tell(fmt.Sprintf("%s %s: %v", s.Setting, s.Source, errs[0]))
	}
	before, _, _ := RSS(s.PID)
	used, _ := CPU(s.PID)

	var under, most, failed atomic.Int64
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			now, _, _ := RSS(s.PID)
			row.RSS = max(row.RSS, float64(now>>10)/1024)
			select {
			case <-tick.C:
			case <-watching.Done():
				return
			}
		}
	})
	model := fmt.Sprintf("%sc2-d%d", s.Model, pause.Milliseconds())
	turns := make(chan struct{}, opening)
	var all sync.WaitGroup
	for range n {
		turns <- struct{}{}
		all.Go(func() {
			begun := sync.OnceFunc(func() { <-turns })
			defer begun()
			_, err := s.stream(ctx, model, 2, func() {
				begun()
				raiseMost(&most, under.Add(1))
			}, func() { under.Add(-1) })
			if err != nil && failed.Add(1) <= 10 {
				tell(fmt.Sprintf("%s %s: %v", s.Setting, s.Source, err))
			}
		})
	}
	all.Wait()
	stop()
	watch.Wait()
	after, _ := CPU(s.PID)
	row.Most, row.Failed = int(most.Load()), int(failed.Load())
	row.Stream = float64((after - used).Microseconds()) / float64(n)
	row.PerStream = max(0, row.RSS*(1<<20)-float64(before)) / 1000 / float64(n)
	return row
}

func raiseMost(most *atomic.Int64, v int64) {
	for {
		if was := most.Load(); v <= was || most.CompareAndSwap(was, v) {
			return
		}
	}
}
