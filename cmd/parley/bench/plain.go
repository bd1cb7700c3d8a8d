package bench

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A PlainRow is what answers cost that are not streamed, many clients at once.
type PlainRow struct {
	Setting   string  `json:"setting"`
	Part      string  `json:"part,omitempty"`
	PerSecond float64 `json:"requests_per_s"` // the best round's
	Request   float64 `json:"cpu_request_us"` // the least of any round
	Failed    int     `json:"failed"`
}

// plainRequests are what each client asks for, one after the other, in a round.
const plainRequests = 100

// Plain has clients GET all subjects in turns, and tells tell of at most ten
// answers that failed.
func Plain(ctx context.Context, rounds, clients int, subjects []Subject, tell func(string)) []PlainRow {
	rows := make([]PlainRow, len(subjects))
	var told atomic.Int64
	for round := range rounds + 1 {
		for i := range subjects {
			s, r := &subjects[i], &rows[i]
			r.Setting, r.Part = s.Setting, s.Source
			used, _ := CPU(s.PID)
			begun := time.Now()
			var failed atomic.Int64
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					for range plainRequests {
						if err := s.get(ctx); err != nil {
							failed.Add(1)
							if told.Add(1) <= 10 {
								tell(fmt.Sprintf("%s %s: %v", s.Setting, s.Source, err))
							}
						}
					}
				})
			}
			all.Wait()
			took := time.Since(begun)
			after, _ := CPU(s.PID)
			r.Failed += int(failed.Load())
			if round == 0 {
				continue // it made the connections
			}
			n := float64(clients * plainRequests)
			r.PerSecond = max(r.PerSecond, n/took.Seconds())
			r.Request = leastOf(r.Request, float64((after-used).Microseconds())/n)
		}
	}
	return rows
}

// get asks for the target once and reads the answer, which must be 200.
func (t *Target) get(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL, nil)
	if err != nil {
		return err
	}
	return t.do(req, new(bytes.Buffer))
}

// do sends a request to the target and reads the answer, which must be 200, into b.
func (t *Target) do(req *http.Request, b *bytes.Buffer) error {
	if t.Key != "" {
		req.Header.Set("Authorization", "Bearer "+t.Key)
	}
	resp, err := t.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b.Reset()
	_, err = b.ReadFrom(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.200s", resp.StatusCode, b.Bytes())
	}
	return err
}
