package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A SearchRow is what searches cost, so many clients at once. Times are those until
// all of an answer is read.
type SearchRow struct {
	Clients   int     `json:"clients"`
	Searches  int     `json:"searches"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	CPU       float64 `json:"cpu_search_ms"` // of the host; 0 where it cannot be told
	PerSecond float64 `json:"searches_per_s"`
	Empty     int     `json:"without_hits"`
	Failed    int     `json:"failed"`
}

// clientGrowth is by how many percent the heap of what measures may grow.
const clientGrowth = 800

// Search has clients send all bodies to the subject, which each of them is asked
// for once in a round, and tells tell of at most ten that failed.
func Search(ctx context.Context, rounds, clients int, bodies [][]byte, s *Subject, tell func(string)) SearchRow {
	r := SearchRow{Clients: clients, Searches: rounds * len(bodies)}
	took := make([]time.Duration, r.Searches)
	var next, empty, failed atomic.Int64
	// What measures takes the processor from what is measured when it collects.
	defer debug.SetGCPercent(debug.SetGCPercent(clientGrowth))
	used, _ := CPU(s.PID)
	begun := time.Now()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			var answer bytes.Buffer
			for i := int(next.Add(1) - 1); i < r.Searches; i = int(next.Add(1) - 1) {
				start := time.Now()
				err := s.search(ctx, bodies[i%len(bodies)], &answer)
				took[i] = time.Since(start)
				hits := 0
				if err == nil {
					hits, err = hitsIn(answer.Bytes())
				}
				if err != nil {
					if failed.Add(1) <= 10 {
						tell(fmt.Sprintf("%.100s: %v", bodies[i%len(bodies)], err))
					}
				} else if hits == 0 {
					empty.Add(1)
				}
			}
		})
	}
	all.Wait()
	r.PerSecond = float64(r.Searches) / time.Since(begun).Seconds()
	after, _ := CPU(s.PID)
	r.CPU = float64((after - used).Microseconds()) / 1000 / float64(r.Searches)
	r.Empty, r.Failed = int(empty.Load()), int(failed.Load())
	slices.Sort(took)
	r.P50, r.P99 = quantileOf(took, 0.5), quantileOf(took, 0.99)
	return r
}

// search sends a search to the target and reads the answer into b.
func (t *Target) search(ctx context.Context, body []byte, b *bytes.Buffer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	return t.do(req, b)
}

// hitsIn counts the hits that an answer shows.
func hitsIn(answer []byte) (int, error) {
	var found struct{ Hits []json.RawMessage }
	if err := json.Unmarshal(answer, &found); err != nil {
		return 0, fmt.Errorf("read the answer: %w", err)
	}
	return len(found.Hits), nil
}
