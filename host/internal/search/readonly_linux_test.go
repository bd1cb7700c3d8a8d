package search_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/write"
	"github.com/parley-search/parley/host/internal/task"
)

// readOnlyEnv makes the test binary the process that may mount.
const readOnlyEnv = "PARLEY_TEST_READ_ONLY"

// TestReadOnlyDirectory makes the data directory read-only while the host runs,
// in a mount namespace of a process of its own: what cannot be written says why
// and waits, searches go on, and all is done once the directory can be written
// to again.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Getenv(readOnlyEnv) != "" {
		readOnlyDirectory(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount a directory read-only")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestReadOnlyDirectory$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), readOnlyEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) || strings.Contains(string(out), "SKIP") {
		t.Skipf("no mount namespace here: %v", err)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func readOnlyDirectory(t *testing.T) {
	failures := make(chan error, 100)
	r := &rig{tb: t, dir: t.TempDir(), failed: func(err error) {
		select {
		case failures <- err:
		default:
		}
	}}
	r.open()
	t.Cleanup(r.close)
	r.add("a", `{"id":1,"x":"one"}`)

	// Nothing of it is to be seen outside, and what is open stays writable: new
	// files are what fails, as on a disk that the kernel has given up.
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if err == nil {
		err = syscall.Mount(r.dir, r.dir, "", syscall.MS_BIND, "")
	}
	if err == nil {
		err = syscall.Mount("", r.dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")
	}
	if err != nil {
		t.Skip("mount: ", err)
	}
	mounted := true
	t.Cleanup(func() {
		if mounted {
			_ = syscall.Unmount(r.dir, syscall.MNT_DETACH)
		}
	})
	large := docsJSON(0, 2000, func(int) string { return `"x":"` + strings.Repeat("x", 200) + `"` })
	if _, err := r.svc.ReadDocuments("a", write.Incoming{Format: ingest.JSON}, strings.NewReader(large)); !errors.Is(err, syscall.EROFS) {
		t.Errorf("a body that is to be kept in a file: %v, want %v", err, syscall.EROFS)
	}
	n, err := write.AddDocuments("a", "", false, []byte(`{"id":2,"x":"two"}`))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := r.queue.Enqueue(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-failures; !strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("the queue says %v, want that the file system is read-only", err)
	}
	if got, err := r.queue.Task(t.Context(), sum.TaskUID, nil); err != nil || got.Finished() || r.queue.Pending() != 1 {
		t.Errorf("the task: %s, %v, %d pending; want it to wait", got.Status, err, r.queue.Pending())
	}
	if got := r.ids("a", search.Query{Q: "one"}); got != "1" {
		t.Errorf("search found %q, want 1", got)
	}

	if err := syscall.Unmount(r.dir, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	mounted = false
	if got, err := r.queue.Wait(t.Context(), sum.TaskUID); err != nil || got.Status != task.Succeeded {
		t.Fatalf("the task once the directory can be written to: %+v, %v", got, err)
	}
	for range 2 {
		if got := r.ids("a", search.Query{Q: "two"}); got != "2" {
			t.Errorf("search found %q, want 2", got)
		}
		r.reopen()
	}
}
