package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/task"
)

func TestTasks(t *testing.T) {
	t.Parallel()
	r := newMovies(t)
	failed := r.task(r.do("POST", "/indexes", `{"uid":"movies"}`))
	r.play(t, []scenario{
		{name: "get", method: "GET", path: "/tasks/2", status: 200, contains: []string{`{"uid":2,"batchUid":`, `,"indexUid":"movies","status":"succeeded","type":"documentAdditionOrUpdate","canceledBy":null,"details":{`, `"receivedDocuments":3`, `"error":null,"duration":"PT`, `"enqueuedAt":"`}},
		{name: "failed", method: "GET", path: fmt.Sprintf("/tasks/%d", failed.UID), status: 200, contains: []string{`"status":"failed"`, `"code":"index_already_exists","type":"invalid_request","link":"https://`, `#error-index_already_exists"},"duration"`}},
		{name: "absent", method: "GET", path: "/tasks/99", status: 404, code: "task_not_found"},
		{name: "no number", method: "GET", path: "/tasks/x", status: 400, code: "invalid_task_uids", contains: []string{`\"x\"`}},
		{name: "too large a number", method: "GET", path: "/tasks/4294967296", status: 400, code: "invalid_task_uids"},
		{name: "list", method: "GET", path: "/tasks?limit=2", status: 200, contains: []string{`{"results":[{"uid":4,`, `"total":5,"limit":2,"from":4,"next":2}`}},
		{name: "from", method: "GET", path: "/tasks?from=1", status: 200, contains: []string{`{"results":[{"uid":1,`, `"from":1,"next":null}`}},
		{name: "none", method: "GET", path: "/tasks?limit=0", status: 200, contains: []string{`{"results":[],"total":5,"limit":0,"from":null,"next":null}`}},
		{name: "filters", method: "GET", path: "/tasks?indexUids=movies&statuses=succeeded,failed&types=indexCreation&uids=0,1,2", status: 200, contains: []string{`"total":1`, `{"uid":0,`}},
		{name: "types that no task here is of", method: "GET", path: "/tasks?types=documentEdition,upgradeDatabase,indexCompaction,networkTopologyChange", status: 200, contains: []string{`"total":0`}},
		{name: "star", method: "GET", path: "/tasks?statuses=*&types=*&indexUids=*", status: 200, contains: []string{`"total":5`}},
		{name: "reverse", method: "GET", path: "/tasks?reverse=true&limit=2&from=1", status: 200, contains: []string{`{"results":[{"uid":1,`, `"from":1,"next":3}`}},
		{name: "dates", method: "GET", path: "/tasks?afterEnqueuedAt=2000-01-01&beforeStartedAt=2200-01-01T00:00:00Z&afterFinishedAt=2000-01-01T00:00:00%2B02:00", status: 200, contains: []string{`"total":5`}},
		{name: "no such date", method: "GET", path: "/tasks?beforeEnqueuedAt=2000-01-01", status: 200, contains: []string{`"total":0`}},
		{name: "case of a status", method: "GET", path: "/tasks?statuses=Succeeded", status: 200, contains: []string{`"total":4`}},
		{name: "bad limit", method: "GET", path: "/tasks?limit=x", status: 400, code: "invalid_task_limit"},
		{name: "bad from", method: "GET", path: "/tasks?from=x", status: 400, code: "invalid_task_from"},
		{name: "bad uids", method: "GET", path: "/tasks?uids=1,x", status: 400, code: "invalid_task_uids"},
		{name: "bad status", method: "GET", path: "/tasks?statuses=done", status: 400, code: "invalid_task_statuses", contains: []string{"succeeded"}},
		{name: "bad type", method: "GET", path: "/tasks?types=x", status: 400, code: "invalid_task_types", contains: []string{"indexCreation"}},
		{name: "bad reverse", method: "GET", path: "/tasks?reverse=x", status: 400, code: "invalid_task_reverse"},
		{name: "bad canceler", method: "GET", path: "/tasks?canceledBy=x", status: 400, code: "invalid_task_canceled_by"},
		{name: "bad index", method: "GET", path: "/tasks?indexUids=a*b", status: 400, code: "invalid_index_uid", contains: []string{"indexUids"}},
		{name: "bad beforeEnqueuedAt", method: "GET", path: "/tasks?beforeEnqueuedAt=yesterday", status: 400, code: "invalid_task_before_enqueued_at", contains: []string{"2026-11-21"}},
		{name: "bad afterEnqueuedAt", method: "GET", path: "/tasks?afterEnqueuedAt=1", status: 400, code: "invalid_task_after_enqueued_at"},
		{name: "bad beforeStartedAt", method: "GET", path: "/tasks?beforeStartedAt=", status: 400, code: "invalid_task_before_started_at"},
		{name: "bad afterStartedAt", method: "GET", path: "/tasks?afterStartedAt=2026-13-01", status: 400, code: "invalid_task_after_started_at"},
		{name: "bad beforeFinishedAt", method: "GET", path: "/tasks?beforeFinishedAt=9999-01-01", status: 400, code: "invalid_task_before_finished_at"},
		{name: "bad afterFinishedAt", method: "GET", path: "/tasks?afterFinishedAt=now", status: 400, code: "invalid_task_after_finished_at"},
		{name: "unknown parameter", method: "GET", path: "/tasks?status=x", status: 400, code: "bad_request", contains: []string{"did you mean `statuses`?"}},
	})
}

func TestCancelAndDeleteTasks(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{idle: true})
	for _, index := range []string{"a", "b", "a"} {
		r.do("POST", "/indexes/"+index+"/documents", `[{"id":1}]`)
	}
	r.play(t, []scenario{
		{name: "cancel without a filter", method: "POST", path: "/tasks/cancel", status: 400, code: "missing_task_filters", contains: []string{"indexUids", "beforeFinishedAt"}},
		{name: "delete without a filter", method: "DELETE", path: "/tasks", status: 400, code: "missing_task_filters"},
		{name: "no page of a cancelation", method: "POST", path: "/tasks/cancel?limit=1", status: 400, code: "bad_request"},
		{name: "bad filter", method: "DELETE", path: "/tasks?uids=-1", status: 400, code: "invalid_task_uids"},
		{name: "cancel", method: "POST", path: "/tasks/cancel?indexUids=a&statuses=enqueued", status: 200, contains: []string{`"taskUid":3,"indexUid":null,"status":"enqueued","type":"taskCancelation"`}},
		{name: "before its turn", method: "GET", path: "/tasks/3", status: 200, contains: []string{`{"canceledTasks":null,"matchedTasks":2,"originalFilter":"?indexUids=a&statuses=enqueued"}`}},
	})
	r.start()
	r.wait(3)
	r.play(t, []scenario{
		{name: "canceled", method: "GET", path: "/tasks/0", status: 200, contains: []string{`"status":"canceled"`, `"canceledBy":3`, `"indexedDocuments":0`, `"finishedAt":"2`}},
		{name: "left alone", method: "GET", path: "/tasks/1", status: 200, contains: []string{`"canceledBy":null`}},
		{name: "after its turn", method: "GET", path: "/tasks/3", status: 200, contains: []string{`"status":"succeeded"`, `"canceledTasks":2`}},
		{name: "by canceler", method: "GET", path: "/tasks?canceledBy=3", status: 200, contains: []string{`"total":2`}},
		{name: "nothing is left", method: "GET", path: "/indexes/a", status: 404, code: "index_not_found"},
		{name: "one batch", method: "GET", path: "/batches?canceledBy=3", status: 200, contains: []string{`"total":1`, `"totalNbTasks":3`, `"status":{"canceled":2,"succeeded":1}`, `"types":{"documentAdditionOrUpdate":2,"taskCancelation":1}`, `"indexUids":{"a":2}`}},
		{name: "tasks of that batch", method: "GET", path: fmt.Sprintf("/tasks?batchUids=%d", *r.wait(3).BatchUID), status: 200, contains: []string{`{"uid":0,`, `{"uid":2,`, `{"uid":3,`, `"total":3`}},
		{name: "delete", method: "DELETE", path: "/tasks?statuses=canceled", status: 200, contains: []string{`"taskUid":4,"indexUid":null,"status":"enqueued","type":"taskDeletion"`}},
	})
	r.wait(4)
	r.play(t, []scenario{
		{name: "deleted", method: "GET", path: "/tasks/0", status: 404, code: "task_not_found"},
		{name: "how many", method: "GET", path: "/tasks/4", status: 200, contains: []string{`{"deletedTasks":2,"matchedTasks":2,"originalFilter":"?statuses=canceled"}`}},
		{name: "all finished", method: "DELETE", path: "/tasks?uids=*", status: 200, contains: []string{`"taskUid":5`}},
	})
	if got := r.wait(5); !strings.Contains(string(got.Details), `"deletedTasks":3`) {
		t.Errorf("details of a deletion of all = %s, want 3 of them", got.Details)
	}
	r.play(t, []scenario{
		{name: "only itself", method: "GET", path: "/tasks", status: 200, contains: []string{`"results":[{"uid":5,`, `"total":1`}},
		{name: "and its batch", method: "GET", path: "/batches", status: 200, contains: []string{`"total":1`}},
	})
	r.task(r.do("POST", "/indexes", `{"uid":"c"}`))
	r.play(t, []scenario{{name: "numbers go on", method: "GET", path: "/tasks/6", status: 200}})
}

// wait waits for a task.
func (r *rig) wait(uid uint32) task.Task {
	r.tb.Helper()
	return r.task(answer{status: 202, body: fmt.Sprintf(`{"taskUid":%d}`, uid)})
}

func TestBatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{idle: true})
	r.do("POST", "/indexes/a/documents", `[{"id":1},{"id":2}]`)
	r.do("POST", "/indexes/a/documents", `[{"id":3}]`)
	r.do("POST", "/indexes", `{"uid":"b"}`)
	r.start()
	r.wait(2)
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/batches", status: 200, contains: []string{`"total":2,"limit":20,"from":1,"next":null`, `{"results":[{"uid":1,`}},
		{
			name: "get", method: "GET", path: "/batches/0", status: 200,
			contains: []string{`{"uid":0,"progress":null,"details":{"indexedDocuments":3,"receivedDocuments":3},"stats":{"totalNbTasks":2,"status":{"succeeded":2},"types":{"documentAdditionOrUpdate":2},"indexUids":{"a":2},"progressTrace":{"processing tasks":"`, `"startedAt":"2`, `"finishedAt":"2`},
		},
		{name: "of a task", method: "GET", path: "/batches?uids=1", status: 200, contains: []string{`"total":1`, `{"uid":0,`}},
		{name: "by uid", method: "GET", path: "/batches?batchUids=1,7", status: 200, contains: []string{`"total":1`, `{"uid":1,`}},
		{name: "by index", method: "GET", path: "/batches?indexUids=b&statuses=succeeded&types=indexCreation&reverse=true", status: 200, contains: []string{`"total":1`, `{"uid":1,`}},
		{name: "by date", method: "GET", path: "/batches?beforeFinishedAt=2000-01-01", status: 200, contains: []string{`"total":0`}},
		{name: "absent", method: "GET", path: "/batches/9", status: 404, code: "batch_not_found"},
		{name: "no number", method: "GET", path: "/batches/x", status: 400, code: "invalid_batch_uids"},
		{name: "bad batchUids", method: "GET", path: "/batches?batchUids=x", status: 400, code: "invalid_batch_uids"},
		{name: "why and how long", method: "GET", path: "/batches/1", status: 200, contains: []string{`"progressTrace":{"processing tasks":"`, `"batchStrategy":"created batch containing only task with id 2 of type `}},
		{name: "bad task", method: "GET", path: "/batches?uids=x", status: 400, code: "invalid_task_uids"},
		{name: "tasks of a batch", method: "GET", path: "/tasks?batchUids=0,7", status: 200, contains: []string{`{"results":[{"uid":1,"batchUid":0,`, `{"uid":0,"batchUid":0,`, `"total":2`}},
		{name: "and of an index", method: "GET", path: "/tasks?batchUids=0,1&indexUids=b", status: 200, contains: []string{`{"results":[{"uid":2,"batchUid":1,`, `"total":1`}},
		{name: "tasks of any batch", method: "GET", path: "/tasks?batchUids=*", status: 200, contains: []string{`"total":3`}},
		{name: "tasks of a bad batch", method: "GET", path: "/tasks?batchUids=x", status: 400, code: "invalid_batch_uids"},
		{name: "deletion of a bad batch's", method: "DELETE", path: "/tasks?batchUids=-1", status: 400, code: "invalid_batch_uids"},
		{name: "deletion of a batch's", method: "DELETE", path: "/tasks?batchUids=1", status: 200},
	})
	if got := r.wait(3); !strings.Contains(string(got.Details), `"deletedTasks":1`) {
		t.Errorf("details of a deletion of a batch of one task = %s", got.Details)
	}
	r.play(t, []scenario{{name: "deleted", method: "GET", path: "/tasks/2", status: 404, code: "task_not_found"}})
}

// TestTasksOfOthers wants a key of one index to see, cancel and delete only
// what is about it.
func TestTasksOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	for _, index := range []string{"mine", "other"} {
		r.task(r.do("POST", "/indexes", `{"uid":"`+index+`"}`))
	}
	r.wait(1)
	key := []string{"Authorization", "Bearer " + r.key([]string{"tasks.*"}, []string{"mine"})}
	sum := r.do("DELETE", "/tasks?statuses=succeeded", "", key...)
	var s struct{ TaskUID uint32 }
	if err := json.Unmarshal([]byte(sum.body), &s); err != nil || sum.status != 200 {
		t.Fatalf("DELETE /tasks = %d %s", sum.status, sum.body)
	}
	r.play(t, []scenario{
		{name: "list", method: "GET", path: "/tasks?indexUids=mine,other", header: key, status: 200, excludes: []string{"other"}},
		{name: "task", method: "GET", path: "/tasks/1", header: key, status: 404, code: "task_not_found"},
		{name: "batch", method: "GET", path: "/batches/1", header: key, status: 404, code: "batch_not_found"},
		{name: "batches", method: "GET", path: "/batches", header: key, status: 200, excludes: []string{`"other"`}},
		{name: "a task of no index", method: "GET", path: fmt.Sprintf("/tasks/%d", s.TaskUID), header: key, status: 404, code: "task_not_found"},
	})
	if got := r.wait(s.TaskUID); !strings.Contains(string(got.Details), `"deletedTasks":1`) {
		t.Errorf("details of the deletion = %s, want one task", got.Details)
	}
	r.play(t, []scenario{
		{name: "gone", method: "GET", path: "/tasks/0", status: 404, code: "task_not_found"},
		{name: "still there", method: "GET", path: "/tasks/1", status: 200},
	})
}

// TestTaskKnowsItsKey: keys take turns by what their tasks say, and clients are not told.
func TestTaskKnowsItsKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, wish{})
	k, err := r.keys.Create(t.Context(), auth.Everyone(), auth.Draft{Actions: []string{"documents.add"}, Indexes: []string{"*"}})
	check(t, err)
	r.task(r.do("POST", "/indexes/a/documents", `[{"id":1}]`))
	r.task(r.do("POST", "/indexes/a/documents", `[{"id":1}]`, "Authorization", "Bearer "+r.keys.Value(&k)))
	for uid, want := range []string{"", k.UID} {
		if got, err := r.queue.Task(t.Context(), uint32(uid), nil); err != nil || got.Key != want {
			t.Errorf("task %d is of key %q, %v; want %q", uid, got.Key, err, want)
		}
	}
	if a := r.do("GET", "/tasks/1", ""); a.status != 200 || strings.Contains(a.body, k.UID) {
		t.Errorf("the task is shown as %d %s, want it without the key", a.status, a.body)
	}
}

// The task of a write of documents shows the client's own note.
func TestTaskMetadata(t *testing.T) {
	r := newRig(t, wish{})
	const all = "/indexes/a/documents"
	for _, tt := range []struct{ method, path, body string }{
		{"POST", all, `[{"id":1}]`},
		{"PUT", all, `[{"id":2}]`},
		{"POST", all + "/delete-batch", `[1]`},
		{"POST", all + "/delete", `{"filter":"id = 1"}`},
		{"DELETE", all + "/2", ""},
		{"DELETE", all, ""},
	} {
		accepted := r.do(tt.method, tt.path+"?customMetadata=run%207", tt.body)
		if !strings.Contains(accepted.body, `"customMetadata":"run 7"`) {
			t.Errorf("%s %s is answered %s", tt.method, tt.path, accepted.body)
		}
		uid := r.task(accepted).UID
		if a := r.do("GET", fmt.Sprintf("/tasks/%d", uid), ""); !strings.Contains(a.body, `"customMetadata":"run 7"`) {
			t.Errorf("%s %s: the task is shown as %s", tt.method, tt.path, a.body)
		}
	}
	if a := r.do("POST", all+"?customMetadata="+strings.Repeat("x", 1025), `[{"id":1}]`); a.status != 400 || !strings.Contains(a.body, "1025 bytes") {
		t.Errorf("a long note is answered %d %s", a.status, a.body)
	}
	uid := r.task(r.do("POST", all, `[{"id":1}]`)).UID
	if a := r.do("GET", fmt.Sprintf("/tasks/%d", uid), ""); strings.Contains(a.body, "customMetadata") {
		t.Errorf("a task without a note is shown as %s", a.body)
	}
}
