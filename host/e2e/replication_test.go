package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// TestReplicationParameters has a host follow the log of another one: a write
// says which number its task has, or that nothing is to be written. Without the
// option the headers say nothing.
//
//parley:option experimental-replication-parameters
func TestReplicationParameters(t *testing.T) {
	t.Parallel()
	create := func(h *house.House, uid string, header ...string) house.Reply {
		t.Helper()
		all := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(header); i += 2 {
			all.Set(header[i], header[i+1])
		}
		return send(h, "POST", "/indexes", `{"uid":"`+uid+`"}`, all)
	}
	h := house.Open(t, map[string]string{"experimental-replication-parameters": "true"})
	for _, step := range []struct {
		uid    string
		header []string
		want   int // the number; below 0: it is refused
		says   string
	}{
		{uid: "a", want: 0},
		{uid: "dry", header: []string{"DryRun", "true"}, want: 1},
		{uid: "b", header: []string{"DryRun", "false"}, want: 1},
		{uid: "c", header: []string{"TaskId", "40"}, want: 40},
		{uid: "dry", header: []string{"TaskId", "50", "DryRun", "true"}, want: 50},
		{uid: "d", want: 41},
		{uid: "refused", header: []string{"TaskId", "41"}, want: -1, says: "the next number here is 42"},
		{uid: "refused", header: []string{"TaskId", "4294967295"}, want: -1, says: "the largest 4294967294"},
		{uid: "refused", header: []string{"TaskId", "4294967296"}, want: -1, says: "header TaskId"},
		{uid: "refused", header: []string{"TaskId", "-1"}, want: -1, says: "header TaskId"},
		{uid: "refused", header: []string{"DryRun", "perhaps"}, want: -1, says: "header DryRun"},
	} {
		r := create(h, step.uid, step.header...)
		if step.want < 0 {
			if r.Status != http.StatusBadRequest || !strings.Contains(r.Body, step.says) {
				t.Errorf("%s with %q: %d %s, want 400 that says %q", step.uid, step.header, r.Status, r.Body, step.says)
			}
			continue
		}
		if r.Status != http.StatusAccepted || !strings.Contains(r.Body, fmt.Sprintf(`"taskUid":%d,`, step.want)) {
			t.Fatalf("%s with %q: %d %s, want task %d", step.uid, step.header, r.Status, r.Body, step.want)
		}
		if step.uid != "dry" {
			settleByBatch(h, r)
		}
	}
	// A body that waits in a file goes with what is not accepted, and what is chosen stays.
	large := "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"title":"`+strings.Repeat("x", 1000)+`"},`, 300), ",") + "]"
	for _, header := range []http.Header{{"Dryrun": {"true"}}, {"Taskid": {"1"}}} {
		header.Set("Content-Type", "application/json")
		send(h, "POST", "/indexes/a/documents", large, header)
	}
	if r := send(h, "DELETE", "/tasks?uids=0", "", http.Header{"Dryrun": {"true"}}); r.Status != http.StatusOK || !strings.Contains(r.Body, `"taskUid":42,`) {
		t.Errorf("DELETE /tasks as a dry run: %d %s, want what would be task 42", r.Status, r.Body)
	}
	if got := h.Must("GET", "/tasks?limit=1", "").Body; !strings.Contains(got, `"total":4,`) || !strings.Contains(got, `"uid":41,`) {
		t.Errorf("GET /tasks = %s, want the four that were accepted", got)
	}
	if got := h.Must("GET", "/indexes", "").Body; !strings.Contains(got, `"total":4}`) {
		t.Errorf("GET /indexes = %s, want four", got)
	}
	if left, err := os.ReadDir(filepath.Join(h.Dir, "bodies")); err != nil || len(left) > 0 {
		t.Errorf("bodies of what was not accepted: %v, %v, want none", left, err)
	}

	h = house.Open(t, nil)
	if r := create(h, "a", "TaskId", "40", "DryRun", "perhaps"); r.Status != http.StatusAccepted || !strings.Contains(r.Body, `"taskUid":0,`) {
		t.Errorf("without the option: %d %s, want task 0", r.Status, r.Body)
	}
}
