package taskapi

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/task"
)

// Filters are the query parameters that choose tasks.
var Filters = []string{
	"uids", "batchUids", "indexUids", "types", "statuses", "canceledBy",
	"beforeEnqueuedAt", "afterEnqueuedAt", "beforeStartedAt", "afterStartedAt", "beforeFinishedAt", "afterFinishedAt",
}

// readTaskFilter reads the query parameters that choose tasks. "*" is the same as
// none.
func readTaskFilter(r *request.Call) (f task.Filter, err error) {
	f.Visible = r.Visible
	for _, uid := range r.Query.List("indexUids") {
		if err := checkIndexPattern(uid); err != nil {
			return f, err
		}
		f.IndexUIDs = append(f.IndexUIDs, uid)
	}
	if f.UIDs, err = readUIDs(r.Query, "uids", apierr.InvalidTaskUIDs); err != nil {
		return f, err
	}
	if f.BatchUIDs, err = readUIDs(r.Query, "batchUids", apierr.InvalidBatchUIDs); err != nil {
		return f, err
	}
	if f.CanceledBy, err = readUIDs(r.Query, "canceledBy", apierr.InvalidTaskCanceledBy); err != nil {
		return f, err
	}
	if f.Types, err = oneOf(r.Query, "types", append(task.Types(), task.Absent()...), apierr.InvalidTaskTypes); err != nil {
		return f, err
	}
	if f.Statuses, err = oneOf(r.Query, "statuses", task.Statuses(), apierr.InvalidTaskStatuses); err != nil {
		return f, err
	}
	for _, d := range []struct {
		name string
		into *time.Time
		code apierr.Code
	}{
		{"beforeEnqueuedAt", &f.Enqueued.Before, apierr.InvalidTaskBeforeEnqueuedAt},
		{"afterEnqueuedAt", &f.Enqueued.After, apierr.InvalidTaskAfterEnqueuedAt},
		{"beforeStartedAt", &f.Started.Before, apierr.InvalidTaskBeforeStartedAt},
		{"afterStartedAt", &f.Started.After, apierr.InvalidTaskAfterStartedAt},
		{"beforeFinishedAt", &f.Finished.Before, apierr.InvalidTaskBeforeFinishedAt},
		{"afterFinishedAt", &f.Finished.After, apierr.InvalidTaskAfterFinishedAt},
	} {
		if *d.into, err = readMoment(r.Query, d.name, d.code); err != nil {
			return f, err
		}
	}
	return f, nil
}

// readTaskPage adds to f which part of the list is asked for.
func readTaskPage(r *request.Call, f *task.Filter) (err error) {
	if f.Limit, err = r.Query.Integer("limit", 20, apierr.InvalidTaskLimit); err != nil {
		return err
	}
	if f.Limit == 0 {
		f.Limit = -1 // a filter's zero is its default
	}
	if f.Reverse, err = r.Query.Boolean("reverse", apierr.InvalidTaskReverse); err != nil {
		return err
	}
	if v, ok := r.Query["from"]; ok {
		n, err := taskUID("from", v, apierr.InvalidTaskFrom)
		if err != nil {
			return err
		}
		f.From = &n
	}
	return nil
}

// checkIndexPattern wants the name of an index as a filter may hold it.
func checkIndexPattern(uid string) error {
	if uid == "" || len(uid) > 400 || strings.Trim(uid, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return apierr.Newf(indexerr.InvalidIndexUID, "The query parameter `indexUids` holds %.64q, which is not a valid index uid: it has 1 to 400 characters of A-Z, a-z, 0-9, - and _.", uid)
	}
	return nil
}

// readUIDs returns the task or batch numbers of a parameter.
func readUIDs(q request.Query, name string, code apierr.Code) (list []uint32, err error) {
	for _, v := range q.List(name) {
		n, err := taskUID(name, v, code)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func taskUID(name, v string, code apierr.Code) (uint32, error) {
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return 0, apierr.Newf(code, "The query parameter `%s` must hold uids, integers of 0 or more, but holds %.64q.", name, v)
	}
	return uint32(n), nil
}

// readMoment returns the time of a parameter, zero where it was not sent: RFC 3339,
// or a date, which "before" takes by its beginning and "after" by its end.
func readMoment(q request.Query, name string, code apierr.Code) (time.Time, error) {
	v, ok := q[name]
	if !ok || v == "*" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		if t, err = time.Parse(time.DateOnly, v); err == nil && strings.HasPrefix(name, "after") {
			t = t.AddDate(0, 0, 1).Add(-1)
		}
	}
	if err != nil || t.Year() < 1970 || t.Year() > 2261 { // what nanoseconds in 64 bits hold
		return time.Time{}, apierr.Newf(code, "The query parameter `%s` must be a time such as 2026-11-21T10:30:00Z, or a date such as 2026-11-21, but is %.64q.", name, v)
	}
	return t, nil
}

// oneOf returns the parts of a parameter, each of which must be known.
func oneOf[T ~string](q request.Query, name string, known []T, code apierr.Code) ([]T, error) {
	var chosen []T
parts:
	for _, v := range q.List(name) {
		for _, k := range known {
			if strings.EqualFold(string(k), v) {
				chosen = append(chosen, k)
				continue parts
			}
		}
		return nil, apierr.Newf(code, "The query parameter `%s` holds %.64q, but takes only %s.", name, v, strings.Trim(fmt.Sprint(known), "[]"))
	}
	return chosen, nil
}
