package bench

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A Plan says how much is measured.
type Plan struct {
	Rounds  int // of all subjects, one after the other; at least 1
	Firsts  int // answers of one word, one at a time, in each round
	Streams int // answers at once
	Chunks  int // words of each
	Bursts  int // times that Streams answers are asked for, in each round
	Pause   int // milliseconds between two words, for the paced part; 0: it is left out
}

// DefaultPlan is what takes about a minute for a handful of subjects.
func DefaultPlan() Plan {
	return Plan{Rounds: 5, Firsts: 40, Streams: 64, Chunks: 64, Bursts: 4, Pause: 20}
}

// A Subject is what is measured: one way to the provider.
type Subject struct {
	Setting string // direct, floor, lean or std
	Source  string // of the host's workspace; "" for the first two
	Model   string // a prefix to the model's name: "" or "search-"
	Target
	PID int // of the process whose cost counts; 0: none
}

// A Row is what came out for a subject. Times are the median of all rounds,
// costs the least of any: whatever else runs on the machine only adds to them.
type Row struct {
	Setting string `json:"setting"`
	Source  string `json:"source,omitempty"`

	ChunkP50  float64 `json:"first_chunk_p50_ms"` // to the first event, one answer at a time
	WordP50   float64 `json:"first_word_p50_ms"`
	WordP99   float64 `json:"first_word_p99_ms"`
	PerSecond float64 `json:"streams_per_s"`     // the best round's
	Stream    float64 `json:"cpu_stream_us"`     // processor time of an answer, many at once
	Paced     float64 `json:"cpu_chunk_us"`      // and of a word, where words come apart
	RSS       float64 `json:"rss_mib,omitempty"` // the most so far; of the process, so of all rows that share it
	Failed    int     `json:"failed"`            // answers that were not whole

	chunks, words []time.Duration
}

// Run measures all subjects in turns and tells tell of each failed answer, at
// most ten of them.
func Run(ctx context.Context, p Plan, subjects []Subject, tell func(string)) ([]Row, error) {
	rows := make([]Row, len(subjects))
	told := 0
	failed := func(i int, errs ...error) {
		rows[i].Failed += len(errs)
		for _, err := range errs {
			if told++; told <= 10 {
				tell(fmt.Sprintf("%s %s: %v", subjects[i].Setting, subjects[i].Source, err))
			}
		}
	}
	for i := range subjects { // warm: connections, pools, instances
		rows[i].Setting, rows[i].Source = subjects[i].Setting, subjects[i].Source
		failed(i, subjects[i].Streams(ctx, subjects[i].Model+"c5-d0", p.Streams, 5)...)
	}
	for range p.Rounds {
		for i := range subjects {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, r := &subjects[i], &rows[i]
			for range p.Firsts {
				first, err := s.Stream(ctx, s.Model+"c1-d0", 1)
				if err != nil {
					failed(i, err)
					continue
				}
				r.chunks, r.words = append(r.chunks, first.Chunk), append(r.words, first.Word)
			}
			took, used, errs := s.burst(ctx, p, 0, p.Bursts)
			failed(i, errs...)
			n := float64(p.Streams * p.Bursts)
			r.PerSecond = max(r.PerSecond, n/took.Seconds())
			r.Stream = leastOf(r.Stream, float64(used.Microseconds())/n)
			if p.Pause > 0 {
				_, used, errs := s.burst(ctx, p, p.Pause, 1)
				failed(i, errs...)
				r.Paced = leastOf(r.Paced, float64(used.Microseconds())/float64(p.Streams*p.Chunks))
			}
			if _, peak, ok := RSS(s.PID); ok {
				r.RSS = float64(peak>>10) / 1024
			}
		}
	}
	for i := range rows {
		r := &rows[i]
		slices.Sort(r.chunks)
		slices.Sort(r.words)
		r.ChunkP50, r.WordP50, r.WordP99 = quantileOf(r.chunks, 0.5), quantileOf(r.words, 0.5), quantileOf(r.words, 0.99)
	}
	return rows, nil
}

// burst asks for many answers at once, times times.
func (s *Subject) burst(ctx context.Context, p Plan, pause, times int) (took, used time.Duration, failed []error) {
	model := fmt.Sprintf("%sc%d-d%d", s.Model, p.Chunks, pause)
	before, _ := CPU(s.PID)
	begun := time.Now()
	for range times {
		failed = append(failed, s.Streams(ctx, model, p.Streams, p.Chunks)...)
	}
	took = time.Since(begun)
	after, _ := CPU(s.PID)
	return took, after - before, failed
}

func leastOf(a, b float64) float64 {
	if a == 0 || b < a {
		return b
	}
	return a
}

// quantileOf returns a quantile of sorted times, in milliseconds; 0 where there is none.
func quantileOf(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[int(q*float64(len(sorted)-1))].Microseconds()) / 1000
}
