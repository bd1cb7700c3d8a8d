package taskapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/task"
)

type batchBody struct {
	UID        uint32          `json:"uid"`
	Progress   *progressBody   `json:"progress"` // null but while it is applied
	Details    json.RawMessage `json:"details"`
	Stats      batchStatsBody  `json:"stats"`
	Duration   *string         `json:"duration"` // ISO 8601; null while not finished
	StartedAt  time.Time       `json:"startedAt"`
	FinishedAt *time.Time      `json:"finishedAt"`
	Strategy   string          `json:"batchStrategy"`
}

type progressBody struct {
	Steps      []stepBody `json:"steps"`
	Percentage float64    `json:"percentage"`
}

type stepBody struct {
	CurrentStep string `json:"currentStep"`
	Finished    int    `json:"finished"`
	Total       int    `json:"total"`
}

type batchStatsBody struct {
	TotalNbTasks int                 `json:"totalNbTasks"`
	Status       map[task.Status]int `json:"status"`
	Types        map[task.Type]int   `json:"types"`
	IndexUIDs    map[string]int      `json:"indexUids"`
	Trace        map[string]string   `json:"progressTrace"` // how long each step took; {} while it is applied
}

func newBatchBody(b *task.Batch) batchBody {
	body := batchBody{UID: b.UID, Details: b.Details, StartedAt: b.StartedAt, Strategy: cmp.Or(b.Strategy, "unspecified")}
	body.Stats = batchStatsBody{Status: b.Statuses, Types: b.Types, IndexUIDs: b.Indexes, Trace: map[string]string{}}
	for _, n := range b.Statuses {
		body.Stats.TotalNbTasks += n
	}
	if p := b.Progress; p != nil {
		body.Progress = &progressBody{Steps: []stepBody{}, Percentage: p.Percentage()}
		if p.Step != "" {
			body.Progress.Steps = append(body.Progress.Steps, stepBody{p.Step, p.Done, p.Total})
		}
	}
	if !b.FinishedAt.IsZero() {
		body.FinishedAt = &b.FinishedAt
		body.Duration = new(task.ISO8601(b.Duration()))
		const whole = "processing tasks"
		body.Stats.Trace[whole] = traceTime(b.Duration())
		took := map[string]time.Duration{}
		for _, span := range b.Trace {
			took[span.Step] += span.Took
			body.Stats.Trace[whole+" > "+span.Step] = traceTime(took[span.Step])
		}
	}
	return body
}

// traceTime is d in the largest unit that it has, with two decimals: "12.30ms".
func traceTime(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2fs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.2fµs", float64(d)/float64(time.Microsecond))
}

// ListBatches answers GET /batches, newest first.
func (s *Server) ListBatches(r *request.Call) error {
	f, err := readTaskFilter(r)
	if err != nil {
		return err
	}
	if err := readTaskPage(r, &f); err != nil {
		return err
	}
	page, err := s.Tasks.Batches(r.Base, f)
	if err != nil {
		return err
	}
	results := make([]batchBody, len(page.Results))
	for i, b := range page.Results {
		results[i] = newBatchBody(b)
	}
	return r.OK(pageBody[batchBody]{results, page.Total, page.Limit, page.From, page.Next})
}

// GetBatch answers GET /batches/:uid.
func (s *Server) GetBatch(r *request.Call) error {
	v := r.Param("uid")
	uid, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return apierr.Newf(apierr.InvalidBatchUIDs, "A batch's uid is an integer of 0 or more, but this is %.64q.", v)
	}
	b, err := s.Tasks.Batch(r.Base, uint32(uid), r.Visible)
	if err != nil {
		return err
	}
	return r.OK(newBatchBody(b))
}
