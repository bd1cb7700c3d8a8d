package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKill kills the program with SIGKILL at random moments while documents are
// added and settings changed over HTTP. After each start every task that was
// accepted is there, at the end all of them are done and their documents found,
// and the workspace is as it was last confirmed.
//
//parley:option db-path
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := killRounds(t, 3, 20)
	rng := rand.New(rand.NewPCG(5, 6))
	k := &killed{t: t, dir: t.TempDir(), tasks: map[int][]int{}}
	for round := range rounds {
		c := k.start()
		k.checkSettings(c)
		k.changeSettings(c, fmt.Sprintf("You are number %d.", round))
		c.load(k, time.Duration(20+rng.IntN(300))*time.Millisecond)
	}

	c := k.start()
	defer c.kill()
	k.checkSettings(c)
	for uid := range k.tasks {
		k.checkTask(c, uid)
	}
	documents := 0
	for _, ids := range k.tasks {
		for _, id := range ids {
			documents++
			if status, body := c.call("GET", fmt.Sprintf("/indexes/notes/documents/%d", id), ""); status != http.StatusOK {
				t.Errorf("document %d: status %d, %s", id, status, body)
			}
		}
	}
	for range 20 {
		id := rng.IntN(k.last)
		if !k.confirmed(id) {
			continue
		}
		if _, body := c.call("POST", "/indexes/notes/search", fmt.Sprintf(`{"q":"note%d","limit":1}`, id)); !strings.Contains(body, fmt.Sprintf(`"id":%d,`, id)) {
			t.Errorf("search for document %d: %s", id, body)
		}
	}
	t.Logf("%d kills, %d tasks, %d documents; serving after %v at most", rounds, len(k.tasks), documents, k.slowest)
}

// killed is what a client was told, over all lives of the program.
type killed struct {
	t      *testing.T
	dir    string
	mu     sync.Mutex
	tasks  map[int][]int // ids of the documents, by the accepted task
	last   int           // id of the newest document
	prompt string        // the last confirmed
	// slowest is the longest that the program took from its start until it
	// answered; not held to a bound, since machines differ.
	slowest time.Duration
}

// A life is the program from a start to its kill.
type life struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	http *http.Client
	once sync.Once
}

func (k *killed) start() *life {
	k.t.Helper()
	plugins, started := k.t.TempDir(), time.Now()
	c := live(k.t, k.dir, plugins)
	k.slowest = max(k.slowest, time.Since(started))
	return c
}

// live starts the program on two directories and waits until it serves.
func live(t *testing.T, data, plugins string) *life {
	t.Helper()
	c := &life{t: t, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	c.cmd, c.url = reexecServe(t, io.Discard, "--db-path", data, "--plugin-dir", plugins)
	t.Cleanup(c.kill)
	return c
}

func (c *life) kill() {
	c.once.Do(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.http.CloseIdleConnections()
	})
}

// call returns status 0 where no whole answer came.
func (c *life) call(method, path, body string) (status int, answer string) {
	req, err := http.NewRequest(method, c.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err.Error()
	}
	if body != "" {
		req.Header.Set("content-type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(b)
}

// load adds documents from three clients and kills the program some time after
// it accepted the first.
func (c *life) load(k *killed, after time.Duration) {
	var wg sync.WaitGroup
	accepted := make(chan struct{}, 1)
	for i := range 3 {
		wg.Go(func() {
			// The third sends bodies that wait in a file for their turn.
			for k.add(c, i == 2) {
				select {
				case accepted <- struct{}{}:
				default:
				}
			}
		})
	}
	select {
	case <-accepted:
		time.Sleep(after)
	case <-time.After(2 * time.Minute):
		c.t.Error("no task was accepted in two minutes")
	}
	c.kill()
	wg.Wait()
}

// add posts three documents, with much space around them where the body is to
// be large. It reports whether the program still answers.
func (k *killed) add(c *life, large bool) bool {
	k.mu.Lock()
	ids := []int{k.last + 1, k.last + 2, k.last + 3}
	k.last += len(ids)
	k.mu.Unlock()
	docs := make([]string, len(ids))
	for i, id := range ids {
		docs[i] = fmt.Sprintf(`{"id":%d,"title":"A note of words, note%d"}`, id, id)
	}
	space := ""
	if large {
		space = strings.Repeat(" ", 300<<10)
	}
	status, body := c.call("POST", "/indexes/notes/documents", "["+space+strings.Join(docs, ",")+"]")
	if status == 0 {
		return false
	}
	var task struct{ TaskUID *int }
	if err := json.Unmarshal([]byte(body), &task); err != nil || status != http.StatusAccepted || task.TaskUID == nil {
		k.t.Errorf("add documents: status %d, %s", status, body)
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if other, ok := k.tasks[*task.TaskUID]; ok {
		k.t.Errorf("task %d was given to documents %v and %v", *task.TaskUID, other, ids)
	}
	k.tasks[*task.TaskUID] = ids
	return true
}

// confirmed reports whether the document belongs to an accepted task.
func (k *killed) confirmed(id int) bool {
	for _, ids := range k.tasks {
		for _, i := range ids {
			if i == id {
				return true
			}
		}
	}
	return false
}

// checkTask waits for the task and wants it to have succeeded.
func (k *killed) checkTask(c *life, uid int) {
	status, body := 0, ""
	for range 6000 {
		status, body = c.call("GET", fmt.Sprintf("/tasks/%d", uid), "")
		if !strings.Contains(body, `"enqueued"`) && !strings.Contains(body, `"processing"`) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if strings.Contains(body, `"code":"task_ended_host"`) {
		delete(k.tasks, uid) // two kills in a row hit it; its client was told
		return
	}
	if status != http.StatusOK || !strings.Contains(body, `"status":"succeeded"`) {
		k.t.Errorf("task %d: status %d, %s", uid, status, body)
	}
}

const settingsPath = "/chats/kept/settings"

// changeSettings is confirmed before the kill.
func (k *killed) changeSettings(c *life, prompt string) {
	k.t.Helper()
	status, body := c.call("PATCH", settingsPath, fmt.Sprintf(`{"prompts":{"system":%q}}`, prompt))
	if status != http.StatusOK {
		k.t.Fatalf("change settings: status %d, %s", status, body)
	}
	k.prompt = prompt
}

func (k *killed) checkSettings(c *life) {
	k.t.Helper()
	if k.prompt == "" {
		return
	}
	if status, body := c.call("GET", settingsPath, ""); status != http.StatusOK || !strings.Contains(body, fmt.Sprintf("%q", k.prompt)) {
		k.t.Errorf("settings after a kill: status %d, %s; want the prompt %q", status, body, k.prompt)
	}
}
