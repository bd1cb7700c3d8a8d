package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mountSmall mounts 32 KiB on its first argument, in a namespace of its own, and
// becomes the rest.
const mountSmall = `mount -t tmpfs -o size=32k none "$0" && exec "$@"`

// A dump that the disk has no room for fails, says so, and leaves nothing; the
// service goes on.
func TestDumpDiskFull(t *testing.T) {
	dumps := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mountSmall, dumps, "true").CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v %s", err, out)
	}
	program := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mountSmall, dumps, os.Args[0], "serve", "--http-addr", "127.0.0.1:0",
		"--experimental-logs-mode", "json", "--db-path", t.TempDir(), "--plugin-dir", t.TempDir(), "--dump-dir", dumps)
	program.Env = append(os.Environ(), reexec+"=parley")
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	c := &life{t: t, cmd: program, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	t.Cleanup(c.kill)
	lines := bufio.NewReader(stderr)
	for c.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the program does not start: %v %s", err, line)
		}
		var log struct{ Addr, Message string }
		if json.Unmarshal([]byte(line), &log) == nil && log.Message == "serving" {
			c.url = "http://" + log.Addr
		}
	}
	go io.Copy(io.Discard, lines) // ends with the program
	finished := func(types string) string {
		for until := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if _, list := c.call("GET", "/tasks?types="+types, ""); strings.Contains(list, `"finishedAt":"`) {
				return list
			}
			if time.Now().After(until) {
				t.Fatalf("no task of %s is finished", types)
			}
		}
	}
	docs := make([]string, 3000)
	for i := range docs {
		docs[i] = fmt.Sprintf(`{"id":%d,"text":"%x"}`, i, i*2654435761)
	}
	c.call("POST", "/indexes/notes/documents", "["+strings.Join(docs, ",")+"]")
	finished("documentAdditionOrUpdate")
	c.call("POST", "/dumps", "")
	if task := finished("dumpCreation"); !strings.Contains(task, `"code":"no_space_left_on_device"`) || strings.Contains(task, dumps) {
		t.Errorf("task = %s, want no_space_left_on_device and no path", task)
	}
	left, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(program.Process.Pid), "root", dumps))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v; want nothing", left, err)
	}
	if status, answer := c.call("GET", "/indexes/notes/documents/2999", ""); status != http.StatusOK {
		t.Errorf("document after it = %d %s", status, answer)
	}
}
