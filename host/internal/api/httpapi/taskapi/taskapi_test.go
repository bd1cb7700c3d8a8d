package taskapi

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/task"
)

// TestReadMoment reads times and dates: a date begins before it, and ends after it.
func TestReadMoment(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"beforeEnqueuedAt", "2026-11-21T10:30:00Z", "2026-11-21T10:30:00Z"},
		{"beforeEnqueuedAt", "2026-11-21", "2026-11-21T00:00:00Z"},
		{"afterEnqueuedAt", "2026-11-21", "2026-11-21T23:59:59.999999999Z"},
		{"afterEnqueuedAt", "*", "0001-01-01T00:00:00Z"},
		{"afterEnqueuedAt", "1969-12-31", ""},
		{"afterEnqueuedAt", "2262-01-01", ""},
		{"afterEnqueuedAt", "21.11.2026", ""},
		{"afterEnqueuedAt", "", ""},
	} {
		got, err := readMoment(request.Query{tt.name: tt.value}, tt.name, indexerr.InvalidIndexUID)
		if (err != nil) != (tt.want == "") || err == nil && got.Format(time.RFC3339Nano) != tt.want {
			t.Errorf("%s=%s: %s, %v, want %s", tt.name, tt.value, got.Format(time.RFC3339Nano), err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "`"+tt.name+"`") {
			t.Errorf("%s=%s: %v, want an error that names the parameter", tt.name, tt.value, err)
		}
	}
}

// TestReadLists reads uids and names, each of which must be known.
func TestReadLists(t *testing.T) {
	code := indexerr.InvalidIndexUID
	if got, err := readUIDs(request.Query{"uids": "1,20"}, "uids", code); err != nil || len(got) != 2 || got[1] != 20 {
		t.Errorf("uids are %v, %v", got, err)
	}
	for _, bad := range []string{"-1", "1,x", "4294967296", "1.5"} {
		if got, err := readUIDs(request.Query{"uids": bad}, "uids", code); err == nil || apierr.From(err).Code != code {
			t.Errorf("uids=%s: %v, %v, want an error", bad, got, err)
		}
	}
	known := []task.Status{task.Failed, task.Succeeded}
	if got, err := oneOf(request.Query{"statuses": "FAILED"}, "statuses", known, code); err != nil || len(got) != 1 || got[0] != task.Failed {
		t.Errorf("statuses are %v, %v", got, err)
	}
	if _, err := oneOf(request.Query{"statuses": "failed,lost"}, "statuses", known, code); err == nil || !strings.Contains(err.Error(), `"lost"`) || !strings.Contains(err.Error(), "succeeded") {
		t.Errorf("a status that is not known: %v, want it and those that are", err)
	}
	for uid, ok := range map[string]bool{"books-1_B": true, "": false, "a*b": false, strings.Repeat("a", 401): false} {
		if err := checkIndexPattern(uid); (err == nil) != ok {
			t.Errorf("index %.10q: %v, want it taken: %v", uid, err, ok)
		}
	}
}
