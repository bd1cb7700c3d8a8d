package e2e

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/e2e/apart"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/base/clocktest"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/setup/backup"
)

// TestClockJumps sets the machine's clock forward by a year, back by a year and
// a day, and to where it was, under a host that works: what is asked for is
// done, scheduled snapshots go on at their pace, each task is told of.
func TestClockJumps(t *testing.T) {
	if apart.Run(t) {
		return
	}
	checkLeak(t)
	const year = 365 * 24 * time.Hour
	var clock clocktest.Clock
	var mu sync.Mutex
	told := map[uint32]bool{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for lines := json.NewDecoder(z); ; {
			var task struct{ UID uint32 }
			if err := lines.Decode(&task); err != nil {
				if err != io.EOF {
					t.Error(err)
				}
				return
			}
			told[task.UID] = true
		}
	}))
	defer hook.Close()
	out, begun := t.TempDir(), time.Now()
	h := house.OpenAt(t, host.Pace{Now: clock.Now}, map[string]string{
		"dump-dir": out, "snapshot-dir": out, "schedule-snapshot": "1", "task-webhook-url": hook.URL,
	}, house.Shipped(t, "extract"))

	snapshots := func() int { return tasks(h, "types=snapshotCreation&statuses=succeeded").Total }
	var made []string
	for i, by := range []time.Duration{year, -year - 24*time.Hour, 24 * time.Hour} {
		clock.Set(by)
		before := snapshots()
		h.AddFilms(10 + i)
		h.CheckFilms(10 + i)
		hourAgo := url.QueryEscape(clock.Now().Add(-time.Hour).Format(time.RFC3339))
		if got := tasks(h, "types=documentAdditionOrUpdate&afterEnqueuedAt="+hourAgo); len(got.Results) == 0 || got.Results[0].UID != tasks(h, "types=documentAdditionOrUpdate").Results[0].UID {
			t.Errorf("clock set by %v: the newest task is not found by its date: %+v", by, got)
		}
		h.Finish(h.Must("POST", "/dumps", ""))
		if !waittest.Until(func() bool { return snapshots() > before+1 }) {
			t.Fatalf("clock set by %v: no snapshot is made any more", by)
		}
		files, err := filepath.Glob(filepath.Join(out, "*.dump"))
		if err != nil || len(files) != i+1 {
			t.Errorf("clock set by %v: %d dumps, %v, want %d", by, len(files), err, i+1)
		}
		made = files
	}
	for _, file := range made {
		if _, err := backup.Inspect(context.Background(), file); err != nil {
			t.Error(err)
		}
	}
	// A host that takes a year for missed would ask for millions.
	asked := tasks(h, "types=snapshotCreation").Total
	if most := int(time.Since(begun).Seconds()) + 1; asked > most {
		t.Errorf("%d snapshots in less than %d seconds, want one a second", asked, most)
	}
	list := tasks(h, "types=documentAdditionOrUpdate,dumpCreation&limit=100").Results
	if len(list) != 6 {
		t.Errorf("%d tasks of this test, want 6", len(list))
	}
	for i, task := range list {
		if i > 0 && task.UID >= list[i-1].UID {
			t.Errorf("task %d is listed behind %d", task.UID, list[i-1].UID)
		}
		if task.StartedAt.Before(task.EnqueuedAt) || task.FinishedAt.Before(task.StartedAt) {
			t.Errorf("task %d ended before it began: %+v", task.UID, task)
		}
		if !waittest.Until(func() bool { mu.Lock(); defer mu.Unlock(); return told[task.UID] }) {
			t.Errorf("nobody is told of task %d", task.UID)
		}
	}
}

// A taskPage is what GET /tasks answers.
type taskPage struct {
	Total   int
	Results []struct {
		UID                               uint32
		EnqueuedAt, StartedAt, FinishedAt time.Time
	}
}

// tasks answers GET /tasks with a query.
func tasks(h *house.House, query string) (p taskPage) {
	h.T.Helper()
	if err := json.Unmarshal([]byte(h.Must("GET", "/tasks?"+query, "").Body), &p); err != nil {
		h.T.Fatal(err)
	}
	return p
}

// Dumps asked for at one moment by a clock that stands are two files.
func TestDumpsOfOneMoment(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	h := house.OpenAt(t, (&handClock{}).pace(), map[string]string{"dump-dir": out}, house.Shipped(t, "extract"))
	for range 2 {
		h.Finish(h.Must("POST", "/dumps", ""))
	}
	files, err := filepath.Glob(filepath.Join(out, "*.dump"))
	if err != nil || len(files) != 2 {
		t.Fatalf("dumps %v, %v, want two", files, err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".dump"); !strings.Contains(h.Must("GET", "/tasks?types=dumpCreation", "").Body, fmt.Sprintf(`"dumpUid":%q`, name)) {
			t.Errorf("no task names the dump %s", name)
		}
	}
}

// TestDurations: what is measured is the difference of two Times of the process,
// which the machine's clock has no say in. Numbers made of a date are for
// showing and for keys, and so are made in these files only.
func TestDurations(t *testing.T) {
	dates := map[string]string{
		"internal/setup/figures/cluster.go":       "the dates of a snapshot and a backup, for Prometheus",
		"internal/cluster/jetstream/snapshots.go": "the date of a backup, for other nodes",
		"internal/setup/figures/telemetry.go":     "the date of a delivery, for Prometheus",
		"internal/setup/figures/usage.go":         "the date of a window, for Prometheus",
		"internal/chat/replay.go":                 "`created` of an answer",
		"internal/chat/start.go":                  "`created` of an answer",
		"internal/base/clocktest/clocktest.go":    "a clock of tests",
		"internal/api/httpapi/accept.go":          "which connection is idle longest",
		"internal/api/httpapi/conn.go":            "which connection is idle longest",
		"internal/api/httpapi/forward_voucher.go": "when a voucher was made, for another node",
		"internal/api/httpapi/chatapi/models.go":  "`created` of a model",
		"cli/internal/documents/sync.go":          "whether a file has changed",
		"internal/cluster/node.go":                "where the numbers of a node's beats begin, above those of its last start",
		"internal/access/limit/period.go":         "the key of a period, which is one of the calendar",
		"internal/api/openai/response_writer.go":  "`created_at` of a response",
		"internal/search/template/date.go":        "the date that a template shows",
		"internal/data/store/traits.go":           "keys that tasks are found by",
		"internal/telemetry/message.go":           "the hour that a message's id is made of",
		"internal/telemetry/tracing/export.go":    "dates of a trace",
		"internal/plugin/wasm/wasi.go":            "a guest's time of day",
		"internal/egress/credential/sign.go":      "the date of a signature, for the server that checks it",
	}
	seen := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if name := strings.TrimPrefix(filepath.ToSlash(path), "../"); regexp.MustCompile(`\.Unix(Nano|Micro|Milli)?\(\)`).Match(b) {
			if seen[name] = true; dates[name] == "" {
				t.Errorf("%s makes a number of a date: measure with time.Since and Sub, or say here what it is for", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, what := range dates {
		if !seen[name] {
			t.Errorf("%s makes no number of a date any more, as %s", name, what)
		}
	}
}
