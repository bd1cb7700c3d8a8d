package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostileTaskProcess has a task that renders a slow template for minutes. It
// is canceled in the middle, a SIGTERM and a SIGQUIT end the program in the middle of it,
// and the second SIGKILL is its last: the next start fails it and goes on.
func TestHostileTaskProcess(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts the program four times")
	}
	dir := t.TempDir()
	c := live(t, dir, t.TempDir())
	c.wantTask(`{"embedders":{"e":{"source":"rest","url":"http://127.0.0.1:9/","dimensions":2,"request":{"i":"{{text}}"},"response":"{{embedding}}",`+
		`"documentTemplate":"{% for a in (1..60000) %}{% for b in (1..60000) %}{% endfor %}{% endfor %}"}}}`, "PATCH", "/indexes/slow/settings", "succeeded")
	var docs []string
	for i := range 20_000 {
		docs = append(docs, fmt.Sprintf(`{"id":%d}`, i))
	}
	slow := "[" + strings.Join(docs, ",") + "]"

	uid := c.accepted("POST", "/indexes/slow/documents", slow)
	c.wantStatus(uid, "processing")
	start := time.Now()
	c.accepted("POST", fmt.Sprintf("/tasks/cancel?uids=%d", uid), "")
	c.wantStatus(uid, "canceled")
	t.Logf("canceled after %v", time.Since(start))

	uid = c.accepted("POST", "/indexes/slow/documents", slow)
	c.wantStatus(uid, "processing")
	c.kill()

	c = live(t, dir, t.TempDir())
	c.wantStatus(uid, "processing")
	start = time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(time.Minute, func() { _ = c.cmd.Process.Signal(os.Kill) })
	err := c.cmd.Wait()
	if hang.Stop(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	t.Logf("ended %v after SIGTERM", time.Since(start))

	// What ends the program by another way than the task is not held against that.
	c = live(t, dir, t.TempDir())
	c.wantStatus(uid, "processing")
	if err := c.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()

	c = live(t, dir, t.TempDir())
	c.wantStatus(uid, "processing")
	c.kill()

	c = live(t, dir, t.TempDir())
	if body := c.wantStatus(uid, "failed"); !strings.Contains(body, `"code":"task_ended_host"`) {
		t.Errorf("the task that was under way at two kills: %s", body)
	}
	c.wantTask(`[{"id":1}]`, "POST", "/indexes/other/documents", "succeeded")
}

// accepted sends a request that makes a task, and returns the task's number.
func (c *life) accepted(method, path, body string) int {
	c.t.Helper()
	status, answer := c.call(method, path, body)
	var a struct {
		TaskUID int `json:"taskUid"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil || status/100 != 2 || status == http.StatusNoContent {
		c.t.Fatalf("%s %s: %d %.500s", method, path, status, answer)
	}
	return a.TaskUID
}

func (c *life) wantTask(body, method, path, status string) {
	c.t.Helper()
	c.wantStatus(c.accepted(method, path, body), status)
}

// wantStatus waits until a task has a status, and returns the task.
func (c *life) wantStatus(uid int, want string) (body string) {
	c.t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if _, body = c.call("GET", fmt.Sprintf("/tasks/%d", uid), ""); strings.Contains(body, `"status":"`+want+`"`) {
			return body
		}
	}
	c.t.Fatalf("task %d: %s, want it %s", uid, body, want)
	return ""
}
