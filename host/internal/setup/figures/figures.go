// Package figures counts what happens in a host and shows what there is, for
// GET /metrics.
package figures

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/plugin/guard"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/task"
)

// Figures count what happens, for GET /metrics. Their labels are of few values:
// routes as they are declared, names of our own, sources of plugins, and the
// first [maxNamed] workspaces and models of their settings.
type Figures struct {
	workspaces, models names

	requests    *metrics.Counters
	requestTime *metrics.Histograms

	answers, refused, failures, rounds, retries, searches, tokens, limited *metrics.Counters
	firstEvent, firstWord, answerTime                                      *metrics.Histograms

	guarded   *metrics.Counters
	guardTime *metrics.Histograms

	searchTime *metrics.Histograms
	tasks      *metrics.Counters
}

// Bounds of durations, in seconds.
var (
	quick = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}
	slow  = []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
)

func New(r *metrics.Registry) *Figures {
	count, time := r.Counters, r.Histograms
	return &Figures{
		requests:    count("parley_http_requests_total", "Requests that were answered, by the route's template, method and class of status.", "route", "method", "status"),
		requestTime: time("parley_http_request_duration_seconds", "From a request's head to the end of its answer, streams included.", quick, "route", "method"),

		answers:    count("parley_chat_answers_total", "Answers of chats that ended, by what became of them.", "workspace", "source", "outcome"),
		refused:    count("parley_chat_refused_total", "Chats that ended before their answer began, by the error's code.", "code"),
		failures:   count("parley_chat_failures_total", "Chats that a failure of their provider or plugin ended, before their answer began or in it, by the failure's kind.", "workspace", "source", "kind"),
		limited:    count("parley_chat_limited_total", "Chats that a limit of their key or workspace refused: reason is rate, or budget where that of a period is spent.", "workspace", "reason"),
		rounds:     count("parley_chat_rounds_total", "Requests to providers, retries not counted.", "workspace", "source"),
		retries:    count("parley_chat_retries_total", "Requests to providers that were made again.", "workspace", "source"),
		searches:   count("parley_chat_searches_total", "Searches that models asked for.", "workspace", "source", "outcome"),
		tokens:     count("parley_chat_tokens_total", "Tokens as providers report them; cached are among the prompt's, reasoning among the completion's.", "workspace", "source", "model", "kind"),
		firstEvent: time("parley_chat_first_event_seconds", "From a request's head to the provider's first event.", slow, "source"),
		firstWord:  time("parley_chat_first_word_seconds", "From a request's head to the first word of an answer that has words, searches before it included.", slow, "source"),
		answerTime: time("parley_chat_duration_seconds", "From a request's head to the end of its answer.", slow, "source"),

		guarded:   count("parley_guard_total", "Calls of guards, by what they came to, and notes.", "guard", "stage", "action"),
		guardTime: time("parley_guard_seconds", "Calls of guards.", quick, "guard"),

		searchTime: time("parley_search_duration_seconds", "Searches of one index on this host, by clients and models, their wait for a processor included.", quick, "outcome"),
		tasks:      count("parley_tasks_total", "Tasks that came to their end.", "type", "status"),
	}
}

// Served counts a request, and the answer that it was.
func (f *Figures) Served(s *httpapi.Served) {
	f.requests.Add(1, s.Route, s.Method, strconv.Itoa(s.Status/100)+"xx")
	f.requestTime.Observe(s.Took.Seconds(), s.Route, s.Method)
	if s.Refused != "" {
		f.refused.Add(1, s.Refused)
	}
	if s.Failure != nil {
		f.failures.Add(1, f.workspaces.of(s.Failure.Workspace), s.Failure.Source, s.Failure.Kind)
	}
	if s.Chat != nil {
		f.answered(s)
	}
}

func (f *Figures) answered(s *httpapi.Served) {
	o := s.Chat
	workspace := f.workspaces.of(o.Workspace)
	add := func(c *metrics.Counters, n uint64, more ...string) {
		if n > 0 {
			c.Add(float64(n), append([]string{workspace, o.Source}, more...)...)
		}
	}
	add(f.answers, 1, outcomeOf(o))
	add(f.rounds, uint64(o.Rounds))
	add(f.retries, uint64(o.Retries))
	add(f.searches, uint64(o.Searches-o.FailedSearches), "ok")
	add(f.searches, uint64(o.FailedSearches), "failed")
	model := "other"
	if o.Model != "" {
		model = f.models.of(o.Model)
	}
	add(f.tokens, o.Usage.Prompt, model, "prompt")
	add(f.tokens, o.Usage.Completion, model, "completion")
	add(f.tokens, o.Usage.Cached, model, "cached")
	add(f.tokens, o.Usage.Reasoning, model, "reasoning")
	f.firstEvent.Observe(s.First.Seconds(), o.Source)
	if s.FirstWord > 0 {
		f.firstWord.Observe(s.FirstWord.Seconds(), o.Source)
	}
	f.answerTime.Observe(s.Took.Seconds(), o.Source)
}

// Limited counts a chat of a workspace that a limit refused; spent: a budget is.
func (f *Figures) Limited(workspace limit.Subject, spent bool) {
	reason := "rate"
	if spent {
		reason = "budget"
	}
	name := "other" // it is not known yet
	if _, uid, ok := strings.Cut(string(workspace), "/"); ok {
		name = f.workspaces.of(uid)
	}
	f.limited.Add(1, name, reason)
}

// Guarded counts what a guard did.
func (f *Figures) Guarded(e guard.Event) {
	f.guarded.Add(1, e.Guard, e.Stage, e.Action)
	if e.Action != guard.ActionNote {
		f.guardTime.Observe(e.Took.Seconds(), e.Guard)
	}
}

func outcomeOf(o *chat.Outcome) string {
	switch {
	case o.Cancelled:
		return "left"
	case o.Err != nil:
		return "failed"
	case o.Finish == "tool_calls":
		return "tool_calls"
	}
	return "answered"
}

// Searched counts a search of one index.
func (f *Figures) Searched(s search.Searched) {
	outcome := "ok"
	switch {
	case s.Err == nil:
		if s.Degraded {
			outcome = "degraded"
		}
	case s.Left:
		outcome = "left"
	case apierr.Is(s.Err, searcherr.TooManySearchRequests):
		outcome = "busy"
	case apierr.From(s.Err).Code.Status() < 500:
		outcome = "refused"
	default:
		outcome = "failed"
	}
	f.searchTime.Observe(s.Took.Seconds(), outcome)
}

// Finished counts tasks.
func (f *Figures) Finished(tasks []task.Task) {
	for i := range tasks {
		f.tasks.Add(1, string(tasks[i].Type), string(tasks[i].Status))
	}
}

// Service is what GET /metrics has of how much waits, and how much is
// there.
func Service(tasks *task.Queue, indexes *search.Service) []metrics.Family {
	backups := metrics.Family{
		Name: "parley_backup_timestamp_seconds", Help: "When the last dump and the last snapshot came to a good end, since 1970, as far as their tasks are there; 0: never.",
		Kind: metrics.Gauge, Labels: []string{"kind"},
	}
	for kind, of := range map[string]task.Type{"dump": task.DumpCreation, "snapshot": task.SnapshotCreation} {
		var last *time.Time
		found, err := tasks.Tasks(context.Background(), task.Filter{Types: []task.Type{of}, Statuses: []task.Status{task.Succeeded}, Limit: 1})
		if err == nil && len(found.Results) > 0 {
			last = &found.Results[0].FinishedAt
		}
		backups.Samples = append(backups.Samples, metrics.Sample{Labels: []string{kind}, Value: ofTime(last)})
	}
	one := func(name, help string, value float64) metrics.Family {
		return metrics.Family{Name: "parley_" + name, Help: help, Kind: metrics.Gauge, Samples: []metrics.Sample{{Value: value}}}
	}
	queue, load := tasks.Load(), indexes.Load()
	return []metrics.Family{
		backups,
		{
			Name: "parley_tasks", Help: "Tasks that are not finished.", Kind: metrics.Gauge, Labels: []string{"status"},
			Samples: []metrics.Sample{
				{Labels: []string{string(task.Enqueued)}, Value: float64(queue.Enqueued)},
				{Labels: []string{string(task.Processing)}, Value: float64(queue.Processing)},
			},
		},
		one("task_oldest_age_seconds", "How long the oldest task that is not finished has been there.", queue.Age.Seconds()),
		one("indexes", "Indexes.", float64(load.Indexes)),
		one("indexes_not_ready", "Indexes that are being rebuilt and cannot be searched until then.", float64(load.NotReady)),
		one("indexes_halted", "Indexes that take no change until the host starts again, since work on them failed.", float64(len(indexes.Halted()))),
		one("documents", "Documents of all indexes.", float64(load.Documents)),
		one("documents_bytes", "Documents of all indexes, as JSON.", float64(load.DocumentBytes)),
		one("searches", "Searches under way.", float64(load.Running)),
		one("searches_waiting", "Searches that wait for a processor.", float64(load.Waiting)),
	}
}

// maxNamed bounds how many workspaces, and how many models, have figures of their
// own: each is a dozen series that stay until the host ends.
const maxNamed = 100

// names keeps the first names that it is given and calls all others "other". Its
// zero value is ready. Safe for concurrent use.
type names struct {
	mu    sync.Mutex
	known map[string]bool
}

func (n *names) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.known[name]:
		return name
	case len(n.known) >= maxNamed:
		return "other"
	case n.known == nil:
		n.known = map[string]bool{}
	}
	n.known[name] = true
	return name
}
