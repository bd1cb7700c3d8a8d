package httpapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
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
	t, err := s.Tasks.Enqueue(s.ctx, n)
	if err != nil {
		return err
	}
	return render(r.Ctx, fiber.StatusAccepted, summaryBody{t.TaskUID, orNull(t.IndexUID), string(t.Status), string(t.Type), t.EnqueuedAt})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type taskBody struct {
	UID        uint32          `json:"uid"`
	IndexUID   *string         `json:"indexUid"`
	Status     string          `json:"status"`
	Type       string          `json:"type"`
	CanceledBy *uint32         `json:"canceledBy"`
	Details    json.RawMessage `json:"details"`
	Error      *errorBody      `json:"error"`
	Duration   *string         `json:"duration"` // ISO 8601; null while not finished
	EnqueuedAt time.Time       `json:"enqueuedAt"`
	StartedAt  *time.Time      `json:"startedAt"`
	FinishedAt *time.Time      `json:"finishedAt"`
}

func newTaskBody(t *task.Task) taskBody {
	b := taskBody{
		UID: t.UID, IndexUID: orNull(t.IndexUID), Status: string(t.Status), Type: string(t.Type),
		Details: t.Details, EnqueuedAt: t.EnqueuedAt,
	}
	if t.Error != nil {
		b.Error = &errorBody{Message: t.Error.Message, Code: t.Error.Code, Type: t.Error.Type, Link: errorDocs + t.Error.Code}
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

type tasksBody struct {
	Results []taskBody `json:"results"`
	Total   int        `json:"total"`
	Limit   int        `json:"limit"`
	From    *uint32    `json:"from"`
	Next    *uint32    `json:"next"`
}

// visible reports whether the caller may see the tasks of an index.
func (r *call) visible(indexUID string) bool {
	_, ok := r.caller.Index(indexUID)
	return ok
}

// listTasks answers GET /tasks, newest first.
func (s *Server) listTasks(r *call) error {
	f, err := r.taskFilter()
	if err != nil {
		return err
	}
	page, err := s.Tasks.Tasks(s.ctx, f)
	if err != nil {
		return err
	}
	results := make([]taskBody, len(page.Tasks))
	for i := range page.Tasks {
		results[i] = newTaskBody(&page.Tasks[i])
	}
	return ok(r, tasksBody{results, page.Total, page.Limit, page.From, page.Next})
}

// taskFilter reads the query parameters of GET /tasks.
func (r *call) taskFilter() (f task.Filter, err error) {
	f.Visible = r.visible
	f.IndexUIDs = r.query.list("indexUids")
	if f.Limit, err = r.query.integer("limit", 20, apierr.InvalidTaskLimit); err != nil {
		return f, err
	}
	if f.Limit == 0 {
		f.Limit = -1 // a filter's zero is its default
	}
	if v, ok := r.query["from"]; ok {
		n, err := taskUID("from", v, apierr.InvalidTaskFrom)
		if err != nil {
			return f, err
		}
		f.From = &n
	}
	for _, v := range r.query.list("uids") {
		n, err := taskUID("uids", v, apierr.InvalidTaskUIDs)
		if err != nil {
			return f, err
		}
		f.UIDs = append(f.UIDs, n)
	}
	if f.Types, err = oneOf(r.query, "types", task.Types(), apierr.InvalidTaskTypes); err != nil {
		return f, err
	}
	f.Statuses, err = oneOf(r.query, "statuses", task.Statuses(), apierr.InvalidTaskStatuses)
	return f, err
}

func taskUID(name, v string, code apierr.Code) (uint32, error) {
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return 0, apierr.Newf(code, "The query parameter `%s` must be a task's uid, an integer of 0 or more, but is %.64q.", name, v)
	}
	return uint32(n), nil
}

// oneOf returns the parts of a parameter, each of which must be known.
func oneOf[T ~string](q query, name string, known []T, code apierr.Code) ([]T, error) {
	var chosen []T
parts:
	for _, v := range q.list(name) {
		for _, k := range known {
			if string(k) == v {
				chosen = append(chosen, k)
				continue parts
			}
		}
		return nil, apierr.Newf(code, "The query parameter `%s` holds %.64q, but takes only %s.", name, v, strings.Trim(fmt.Sprint(known), "[]"))
	}
	return chosen, nil
}

// getTask answers GET /tasks/:uid.
func (s *Server) getTask(r *call) error {
	v := r.param("uid")
	uid, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return apierr.Newf(apierr.InvalidTaskUID, "A task's uid is an integer of 0 or more, but this is %.64q.", v)
	}
	t, err := s.Tasks.Task(s.ctx, uint32(uid), r.visible)
	if err != nil {
		return err
	}
	return ok(r, newTaskBody(&t))
}
