package task_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/task"
)

func TestTasksFilter(t *testing.T) {
	q := open(t, openStore(t), &recorder{}, task.Options{})
	for i := range 10 {
		enqueue(t, q, []task.Type{task.IndexCreation, task.DocumentAddition}[i%2], []string{"a", "b", "c"}[i%3], "")
	}
	from := uint32(6)
	none := uint32(77)
	tests := []struct {
		name   string
		filter task.Filter
		want   string
		total  int
		next   string
	}{
		{"all", task.Filter{}, "9 8 7 6 5 4 3 2 1 0", 10, "-"},
		{"limit", task.Filter{Limit: 3}, "9 8 7", 10, "6"},
		{"from", task.Filter{Limit: 3, From: &from}, "6 5 4", 10, "3"},
		{"from above", task.Filter{Limit: 1, From: &none}, "9", 10, "8"},
		{"type", task.Filter{Types: []task.Type{task.IndexCreation}}, "8 6 4 2 0", 5, "-"},
		{"index", task.Filter{IndexUIDs: []string{"a", "c"}, Limit: 2}, "9 8", 7, "6"},
		{"both", task.Filter{IndexUIDs: []string{"a"}, Types: []task.Type{task.IndexCreation}}, "6 0", 2, "-"},
		{"uids", task.Filter{UIDs: []uint32{3, 5, 99}}, "5 3", 2, "-"},
		{"status", task.Filter{Statuses: []task.Status{task.Succeeded}}, "", 0, "-"},
		{"visible", task.Filter{Visible: func(uid string) bool { return uid == "b" }}, "7 4 1", 3, "-"},
		{"limit none", task.Filter{Limit: -1}, "", 10, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := q.Tasks(t.Context(), tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			var uids []string
			for _, tk := range p.Results {
				uids = append(uids, fmt.Sprint(tk.UID))
			}
			next := "-"
			if p.Next != nil {
				next = fmt.Sprint(*p.Next)
			}
			if got := strings.Join(uids, " "); got != tt.want || p.Total != tt.total || next != tt.next {
				t.Errorf("tasks %q of %d, next %s; want %q of %d, next %s", got, p.Total, next, tt.want, tt.total, tt.next)
			}
			if (p.From == nil) != (len(uids) == 0) || p.From != nil && fmt.Sprint(*p.From) != uids[0] {
				t.Errorf("from %v of %v", p.From, uids)
			}
		})
	}
}

func TestISO8601(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "PT0S", time.Nanosecond: "PT0.000000001S", 1500 * time.Millisecond: "PT1.5S", 2 * time.Minute: "PT120S", -5: "PT0S",
	} {
		if got := task.ISO8601(d); got != want {
			t.Errorf("ISO8601(%d) = %s, want %s", d, got, want)
		}
	}
}

func TestFailHidesWhatIsNotForClients(t *testing.T) {
	e := task.Fail(errors.New("open /secret/path"))
	if e.Code != "internal" || strings.Contains(e.Message, "secret") {
		t.Errorf("Fail of an error of ours = %+v", e)
	}
}
