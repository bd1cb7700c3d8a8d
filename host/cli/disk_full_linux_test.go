package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/waittest"
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
	c := &life{t: t, cmd: program, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
	c.url = startServing(t, program, io.Discard)
	t.Cleanup(c.http.CloseIdleConnections)
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

// A service whose disk is full ends at SIGTERM with an error that says so, and not
// in the middle of writing.
func TestShutdownDiskFull(t *testing.T) {
	const mount = `mount -t tmpfs -o size=256m none "$0" && exec "$@"`
	data, log := t.TempDir(), &lockedText{}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, data, "true").CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v %s", err, out)
	}
	program := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, data, os.Args[0], "serve", "--http-addr", "127.0.0.1:0",
		"--experimental-logs-mode", "json", "--db-path", filepath.Join(data, "d"), "--plugin-dir", t.TempDir())
	program.Env = append(os.Environ(), reexec+"=parley")
	url := startServing(t, program, log)
	change(t, url+"/indexes/notes/settings", `{"rankingRules":["words"]}`)
	fill, err := os.Create(filepath.Join("/proc", fmt.Sprint(program.Process.Pid), "root", data, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	defer fill.Close()
	if _, err := io.CopyN(fill, zeros{}, 1<<30); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v, want %v", err, syscall.ENOSPC)
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(program); err == nil || program.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the program ended with %v, want the exit code %d", err, exitFailed)
	}
	if said := log.String(); !strings.Contains(said, "close database: the disk has only 0 B") || strings.Contains(said, "goroutine") {
		t.Errorf("the program said:\n%s", said)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A service whose disk turned read-only, as Linux makes one that has an error, ends
// at SIGTERM within the grace, and says what it could not write.
func TestShutdownDiskReadOnly(t *testing.T) {
	t.Parallel()
	const mount = `mount -o loop,errors=remount-ro "$0" "$1" && shift && exec "$@"`
	dir := t.TempDir()
	image, data, log := filepath.Join(dir, "image"), filepath.Join(dir, "data"), &lockedText{}
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 512<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mkfs.ext4", "-q", image).CombinedOutput(); err != nil {
		t.Skipf("no ext4 can be made here: %v %s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, image, data, "true").CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v %s", err, out)
	}
	program := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, image, data, os.Args[0], "serve", "--http-addr", "127.0.0.1:0",
		"--experimental-logs-mode", "json", "--db-path", filepath.Join(data, "d"), "--plugin-dir", t.TempDir(), "--shutdown-grace", "1s")
	program.Env = append(os.Environ(), reexec+"=parley")
	url := startServing(t, program, log)
	change(t, url+"/indexes/notes/settings", `{"rankingRules":["words"]}`)
	breakDisk(t, program.Process.Pid, data)
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(program); err == nil || program.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the program ended with %v, want the exit code %d", err, exitFailed)
	}
	if said := log.String(); !strings.Contains(said, "read-only file system") || strings.Contains(said, "goroutine ") {
		t.Errorf("the program said:\n%s", said)
	}
}

// breakDisk has Linux find an error on what the process pid has mounted at dir,
// which is read-only from then on.
func breakDisk(t *testing.T, pid int, dir string) {
	t.Helper()
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mounts", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		device, ok := strings.CutPrefix(fields[0], "/dev/loop")
		if !ok || fields[1] != dir {
			continue
		}
		if err := os.WriteFile("/sys/fs/ext4/loop"+device+"/trigger_fs_error", []byte("test"), 0); err != nil {
			t.Skipf("no error can be made on a disk here: %v", err)
		}
		file := filepath.Join("/proc", fmt.Sprint(pid), "root", dir, "new")
		if err := os.WriteFile(file, nil, 0o644); !errors.Is(err, syscall.EROFS) {
			t.Fatalf("write to the disk: %v, want %v", err, syscall.EROFS)
		}
		return
	}
	t.Fatalf("nothing is mounted at %s", dir)
}

// A service that was killed starts on a disk that was filled since: its ballast is given up
// for that. It answers, deletes, and takes documents again once there is room. A host that
// runs deletes on a full disk, too.
func TestStartDiskFull(t *testing.T) {
	const mount = `mount -t tmpfs -o size=400m none "$0" && exec "$@"`
	disk := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, disk, "true").CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v %s", err, out)
	}
	holder := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", mount, disk, "sh", "-c", "echo && cat") // keeps the mount
	hold, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	mounted, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close(); _ = holder.Wait() }()
	if _, err := mounted.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	plugins, fill := t.TempDir(), filepath.Join("/proc", fmt.Sprint(holder.Process.Pid), "root", disk, "fill")
	serve := func() *exec.Cmd {
		program := exec.CommandContext(t.Context(), "nsenter", "-t", fmt.Sprint(holder.Process.Pid), "-m", os.Args[0], "serve", "--http-addr", "127.0.0.1:0",
			"--experimental-logs-mode", "json", "--db-path", filepath.Join(disk, "d"), "--plugin-dir", plugins)
		program.Env = append(os.Environ(), reexec+"=parley")
		return program
	}
	log := &lockedText{}
	start := func() *life {
		program := serve()
		c := &life{t: t, cmd: program, http: &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}}
		c.url = startServing(t, program, log)
		t.Cleanup(c.kill)
		return c
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log:\n%s", log)
		}
	})
	// A start leaves tables that Badger merges up to a second later, through a mapped file: a
	// disk that is filled in the middle of that ends the process.
	settle := func() {
		tables, last, since := filepath.Join(filepath.Dir(fill), "d", "badger", "*.sst"), "", time.Now()
		waittest.For(t, "the merges after a start", func() bool {
			names, err := filepath.Glob(tables)
			if now := fmt.Sprint(names, err); now != last {
				last, since = now, time.Now()
			}
			return time.Since(since) > 2*time.Second
		})
	}
	docs := make([]string, 3000)
	for i := range docs {
		docs[i] = fmt.Sprintf(`{"id":%d,"text":"%x"}`, i, i*2654435761)
	}
	all := "[" + strings.Join(docs, ",") + "]"
	c := start()
	c.wantTask(all, "POST", "/indexes/old/documents", "succeeded")
	c.wantTask(all, "POST", "/indexes/notes/documents", "succeeded")
	c.kill()

	full := func() {
		f, err := os.Create(fill)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := io.CopyN(f, zeros{}, 1<<30); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("fill the disk: %v, want %v", err, syscall.ENOSPC)
		}
	}
	full()
	c = start()
	if _, err := os.Stat(filepath.Join(filepath.Dir(fill), "d", "ballast")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ballast on a full disk: %v, want none", err)
	}
	if status, answer := c.call("GET", "/indexes/notes/search?q=0", ""); status != http.StatusOK {
		t.Errorf("search on a full disk: %d %s", status, answer)
	}
	if status, answer := c.call("POST", "/indexes/notes/documents", `{"id":1}`); status != http.StatusUnprocessableEntity || !strings.Contains(answer, "no_space_left_on_device") {
		t.Errorf("documents on a full disk: %d %s", status, answer)
	}
	c.wantTask("", "DELETE", "/indexes/old", "succeeded")
	c.kill()

	full() // and without a ballast
	program := serve()
	program.Stderr = log
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if err := waitFor(program); err == nil || program.ProcessState.ExitCode() != exitFailed || !strings.Contains(log.String(), "of which a start needs 32 MiB") {
		t.Errorf("a start without a ballast ended with %v:\n%s", err, log)
	}

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	c = start()
	c.wantTask(`{"id":1,"text":"room"}`, "POST", "/indexes/notes/documents", "succeeded")
	if _, err := os.Stat(filepath.Join(filepath.Dir(fill), "d", "ballast")); err != nil {
		t.Errorf("the ballast once there is room: %v", err)
	}

	settle()
	full() // a host that runs gives it up for what deletes
	c.wantTask("", "DELETE", "/indexes/notes", "succeeded")
	if _, err := os.Stat(filepath.Join(filepath.Dir(fill), "d", "ballast")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ballast after a deletion on a full disk: %v, want none", err)
	}
}
