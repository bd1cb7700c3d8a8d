// Package taskapi answers the routes of tasks and batches, and has the answer to
// every request that is accepted as a task.
package taskapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/task"
)

// A Server answers them.
type Server struct {
	Tasks *task.Queue
	// Replicates makes writes read the headers TaskId and DryRun.
	Replicates bool
}

// A Summary is what a client is told of accepted work.
type Summary struct {
	TaskUID    uint32    `json:"taskUid"`
	IndexUID   *string   `json:"indexUid"`
	Status     string    `json:"status"`
	Type       string    `json:"type"`
	EnqueuedAt time.Time `json:"enqueuedAt"`
	Metadata   string    `json:"customMetadata,omitempty"`
}

// Enqueue accepts work and answers 202.
func (s *Server) Enqueue(r *request.Call, n task.New) error {
	t, err := s.Accept(r, n)
	if err != nil {
		return err
	}
	return r.Answer(http.StatusAccepted, NewSummary(&t))
}

// maxMetadata bounds a client's note on a task, in bytes.
const maxMetadata = 1 << 10

// Accept puts n into the queue, with the note that the request has for its task.
func (s *Server) Accept(r *request.Call, n task.New) (t task.Summary, err error) {
	if n.Replica, err = s.readReplica(r); err != nil {
		return t, err
	}
	if n.Metadata = r.Query["customMetadata"]; len(n.Metadata) > maxMetadata {
		return t, apierr.Newf(apierr.BadRequest, "`customMetadata` has %d bytes: at most %d are kept.", len(n.Metadata), maxMetadata)
	}
	n.Metadata = strings.Clone(n.Metadata) // the request's bytes are the server's
	n.Key, n.Origin = r.Caller.Key(), r.Origin
	return s.Tasks.Enqueue(r.Base, n)
}

// readReplica reads what the headers TaskId and DryRun say, where this instance is
// told to follow another one's log.
func (s *Server) readReplica(r *request.Call) (as task.Replica, err error) {
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

// NewSummary returns what the client of t is told.
func NewSummary(t *task.Summary) Summary {
	return Summary{t.TaskUID, orNull(t.IndexUID), string(t.Status), string(t.Type), t.EnqueuedAt, t.Metadata}
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
	Metadata   string          `json:"customMetadata,omitempty"`
}

func newTaskBody(t *task.Task) taskBody {
	b := taskBody{
		UID: t.UID, BatchUID: t.BatchUID, IndexUID: orNull(t.IndexUID), Status: string(t.Status), Type: string(t.Type),
		CanceledBy: t.CanceledBy, Details: t.Details, EnqueuedAt: t.EnqueuedAt, Metadata: t.Metadata,
	}
	if t.Error != nil {
		b.Error = &taskError{t.Error.Message, t.Error.Code, t.Error.Type, apierr.Docs + t.Error.Code}
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

// ListTasks answers GET /tasks, newest first.
func (s *Server) ListTasks(r *request.Call) error {
	f, err := readTaskFilter(r)
	if err != nil {
		return err
	}
	if err := readTaskPage(r, &f); err != nil {
		return err
	}
	page, err := s.Tasks.Tasks(r.Base, f)
	if err != nil {
		return err
	}
	results := make([]taskBody, len(page.Results))
	for i := range page.Results {
		results[i] = newTaskBody(&page.Results[i])
	}
	return r.OK(pageBody[taskBody]{results, page.Total, page.Limit, page.From, page.Next})
}

// UID returns the uid of the task in the path.
func UID(r *request.Call) (uint32, error) {
	v := r.Param("uid")
	uid, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return 0, apierr.Newf(apierr.InvalidTaskUIDs, "A task's uid is an integer of 0 or more, but this is %.64q.", v)
	}
	return uint32(uid), nil
}

// GetTask answers GET /tasks/:uid.
func (s *Server) GetTask(r *request.Call) error {
	uid, err := UID(r)
	if err != nil {
		return err
	}
	t, err := s.Tasks.Task(r.Base, uid, r.Visible)
	if err != nil {
		return err
	}
	return r.OK(newTaskBody(&t))
}

// CancelTasks answers POST /tasks/cancel. Clients expect 200 here, not 202.
func (s *Server) CancelTasks(r *request.Call) error { return s.chooseTasks(r, s.Tasks.Cancel) }

// DeleteTasks answers DELETE /tasks. Clients expect 200 here, not 202.
func (s *Server) DeleteTasks(r *request.Call) error { return s.chooseTasks(r, s.Tasks.Delete) }

func (s *Server) chooseTasks(r *request.Call, accept func(context.Context, task.Filter, string, task.Replica) (task.Summary, error)) error {
	f, err := readTaskFilter(r)
	if err != nil {
		return err
	}
	wrote := "?" + string(r.Request().URI().QueryString())
	for _, v := range r.Query {
		if v == "*" && !f.Restricted() {
			f.Statuses = task.Statuses() // it restricts nothing, but says that all are meant
		}
	}
	as, err := s.readReplica(r)
	if err != nil {
		return err
	}
	t, err := accept(r.Base, f, wrote, as)
	if err != nil {
		return err
	}
	return r.OK(NewSummary(&t))
}

// JSON is the task as GET /tasks/:uid answers it, without a line break.
func JSON(t *task.Task) ([]byte, error) { return json.Marshal(newTaskBody(t)) }
