package httpapi

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/task"
)

// summaryBody is what a client is told of accepted work.
type summaryBody struct {
	TaskUID    uint32    `json:"taskUid"`
	IndexUID   *string   `json:"indexUid"`
	Status     string    `json:"status"`
	Type       string    `json:"type"`
	EnqueuedAt time.Time `json:"enqueuedAt"`
}

// enqueue accepts work and answers 202.
func (s *Server) enqueue(r *call, n task.New) error {
	t, err := s.accept(r, n)
	if err != nil {
		return err
	}
	return render(r.Ctx, fiber.StatusAccepted, newSummaryBody(&t))
}

// accept puts n into the queue.
func (s *Server) accept(r *call, n task.New) (t task.Summary, err error) {
	if n.Replica, err = s.replica(r); err != nil {
		return t, err
	}
	return s.Tasks.Enqueue(s.ctx, n)
}

// replica is what the headers TaskId and DryRun say, where this instance is
// told to follow another one's log.
func (s *Server) replica(r *call) (as task.Replica, err error) {
	if !s.Replicates {
		return as, nil
	}
	if text := r.Get("TaskId"); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return as, apierr.Newf(apierr.BadRequest, "The header TaskId is %.20q: it has to be the number of a task.", text)
		}
		uid := uint32(n)
		as.UID = &uid
	}
	switch text := r.Get("DryRun"); text {
	case "", "false":
	case "true":
		as.DryRun = true
	default:
		return as, apierr.Newf(apierr.BadRequest, "The header DryRun is %.20q: it has to be true or false.", text)
	}
	return as, nil
}

func newSummaryBody(t *task.Summary) summaryBody {
	return summaryBody{t.TaskUID, orNull(t.IndexUID), string(t.Status), string(t.Type), t.EnqueuedAt}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// A taskError is why a task failed. Clients of OpenAI read no tasks: it is not
// said twice, as that of an answer is.
type taskError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Type    string `json:"type"`
	Link    string `json:"link"`
}

type taskBody struct {
	UID        uint32          `json:"uid"`
	BatchUID   *uint32         `json:"batchUid"`
	IndexUID   *string         `json:"indexUid"`
	Status     string          `json:"status"`
	Type       string          `json:"type"`
	CanceledBy *uint32         `json:"canceledBy"`
	Details    json.RawMessage `json:"details"`
	Error      *taskError      `json:"error"`
	Duration   *string         `json:"duration"` // ISO 8601; null while not finished
	EnqueuedAt time.Time       `json:"enqueuedAt"`
	StartedAt  *time.Time      `json:"startedAt"`
	FinishedAt *time.Time      `json:"finishedAt"`
}

func newTaskBody(t *task.Task) taskBody {
	b := taskBody{
		UID: t.UID, BatchUID: t.BatchUID, IndexUID: orNull(t.IndexUID), Status: string(t.Status), Type: string(t.Type),
		CanceledBy: t.CanceledBy, Details: t.Details, EnqueuedAt: t.EnqueuedAt,
	}
	if t.Error != nil {
		b.Error = &taskError{t.Error.Message, t.Error.Code, t.Error.Type, errorDocs + t.Error.Code}
	}
	if !t.StartedAt.IsZero() {
		b.StartedAt = &t.StartedAt
	}
	if !t.FinishedAt.IsZero() {
		b.FinishedAt = &t.FinishedAt
		b.Duration = new(task.ISO8601(t.Duration()))
	}
	return b
}

type pageBody[T any] struct {
	Results []T     `json:"results"`
	Total   int     `json:"total"`
	Limit   int     `json:"limit"`
	From    *uint32 `json:"from"`
	Next    *uint32 `json:"next"`
}

// listTasks answers GET /tasks, newest first.
func (s *Server) listTasks(r *call) error {
	f, err := r.taskFilter()
	if err != nil {
		return err
	}
	if err := r.taskPage(&f); err != nil {
		return err
	}
	page, err := s.Tasks.Tasks(s.ctx, f)
	if err != nil {
		return err
	}
	results := make([]taskBody, len(page.Results))
	for i := range page.Results {
		results[i] = newTaskBody(&page.Results[i])
	}
	return ok(r, pageBody[taskBody]{results, page.Total, page.Limit, page.From, page.Next})
}

// getTask answers GET /tasks/:uid.
func (s *Server) getTask(r *call) error {
	v := r.param("uid")
	uid, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return apierr.Newf(apierr.InvalidTaskUIDs, "A task's uid is an integer of 0 or more, but this is %.64q.", v)
	}
	t, err := s.Tasks.Task(s.ctx, uint32(uid), r.visible)
	if err != nil {
		return err
	}
	return ok(r, newTaskBody(&t))
}

// cancelTasks answers POST /tasks/cancel. Clients expect 200 here, not 202.
func (s *Server) cancelTasks(r *call) error { return s.chooseTasks(r, s.Tasks.Cancel) }

// deleteTasks answers DELETE /tasks. Clients expect 200 here, not 202.
func (s *Server) deleteTasks(r *call) error { return s.chooseTasks(r, s.Tasks.Delete) }

func (s *Server) chooseTasks(r *call, accept func(context.Context, task.Filter, string, task.Replica) (task.Summary, error)) error {
	f, err := r.taskFilter()
	if err != nil {
		return err
	}
	wrote := "?" + string(r.Request().URI().QueryString())
	for _, v := range r.query {
		if v == "*" && !f.Restricted() {
			f.Statuses = task.Statuses() // it restricts nothing, but says that all are meant
		}
	}
	as, err := s.replica(r)
	if err != nil {
		return err
	}
	t, err := accept(s.ctx, f, wrote, as)
	if err != nil {
		return err
	}
	return ok(r, newSummaryBody(&t))
}

// TaskJSON is the task as GET /tasks/:uid answers it, without a line break.
func TaskJSON(t *task.Task) ([]byte, error) { return json.Marshal(newTaskBody(t)) }
