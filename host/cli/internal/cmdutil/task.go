package cmdutil

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// A TaskError is the error of a task that did not succeed.
type TaskError struct {
	UID                   uint32
	Status, Message, Code string
}

func (e *TaskError) Error() string {
	if e.Status == "canceled" {
		return fmt.Sprintf("task %d was canceled", e.UID)
	}
	return fmt.Sprintf("task %d %s: %s (%s)", e.UID, e.Status, e.Message, e.Code)
}

// Begin sends a request that the service makes a task of, and returns the task's uid.
func (c *Client) Begin(ctx context.Context, method, path string, body any) (uid uint32, err error) {
	var accepted struct{ TaskUID *uint32 }
	if err := c.Call(ctx, method, path, body, &accepted); err != nil {
		return 0, err
	}
	if accepted.TaskUID == nil {
		return 0, fmt.Errorf("%s answers without a task: is it a parley service?", c.URL)
	}
	return *accepted.TaskUID, nil
}

// Pauses between two looks at a task.
const (
	shortestPause = 20 * time.Millisecond
	longestPause  = 100 * time.Millisecond
)

// Await waits until a task is finished, and returns it as the service shows it. The error of
// one that did not succeed is a [TaskError].
func (c *Client) Await(ctx context.Context, uid uint32) (task json.RawMessage, err error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		if err := c.Call(ctx, http.MethodGet, fmt.Sprintf("/tasks/%d", uid), nil, &task); err != nil {
			return nil, fmt.Errorf("wait for task %d: %w", uid, err)
		}
		var t struct {
			Status string
			Error  struct{ Message, Code string }
		}
		if err := json.Unmarshal(task, &t); err != nil {
			return nil, fmt.Errorf("read task %d: %w", uid, err)
		}
		switch t.Status {
		case "succeeded":
			return task, nil
		case "failed", "canceled":
			return nil, &TaskError{uid, t.Status, StripControls(t.Error.Message), t.Error.Code}
		}
		if err := rest(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// Finish is [Client.Begin], and waits for the task as [Client.Await] does.
func (c *Client) Finish(ctx context.Context, method, path string, body any) (task json.RawMessage, err error) {
	uid, err := c.Begin(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return c.Await(ctx, uid)
}

// AwaitIndex waits until the tasks of an index are finished that were accepted before.
func (c *Client) AwaitIndex(ctx context.Context, index string) error {
	from := ""
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		var list struct{ Results []struct{ UID uint32 } }
		if err := c.Call(ctx, http.MethodGet, "/tasks?limit=1&statuses=enqueued,processing&indexUids="+url.QueryEscape(index)+from, nil, &list); err != nil {
			return fmt.Errorf("look for tasks of the index: %w", err)
		}
		if len(list.Results) == 0 {
			return nil
		}
		if from == "" {
			from = fmt.Sprintf("&from=%d", list.Results[0].UID)
		}
		if err := rest(ctx, pause); err != nil {
			return err
		}
	}
}

func rest(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}
