package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/base/watch"
)

// a watched folder reports on c until the test ends.
func watched(t *testing.T, dir string) (c <-chan struct{}) {
	t.Helper()
	f, err := watch.Open(dir, watch.Options{Quiet: 20 * time.Millisecond, Again: 20 * time.Millisecond, Poll: 20 * time.Millisecond, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	changes := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx, func(name string) bool { return strings.HasSuffix(name, ".wasm") }, func() bool { changes <- struct{}{}; return false })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return changes
}

func come(t *testing.T, c <-chan struct{}, after string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("no change was told after %s", after)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	file := filepath.Join(dir, "a.wasm")
	c := watched(t, dir)

	must(t, os.Mkdir(dir, 0o700))
	come(t, c, "the folder came")
	must(t, os.WriteFile(file, []byte("a"), 0o600))
	come(t, c, "a file was written")
	must(t, os.WriteFile(filepath.Join(dir, "b.tmp"), []byte("b"), 0o600))
	must(t, os.Rename(filepath.Join(dir, "b.tmp"), filepath.Join(dir, "b.wasm")))
	come(t, c, "a file was put in place")
	must(t, os.Remove(file))
	come(t, c, "a file was removed")
	must(t, os.RemoveAll(dir))
	come(t, c, "the folder went")
	must(t, os.Mkdir(dir, 0o700))
	come(t, c, "the folder came again")
	must(t, os.WriteFile(file, []byte("a"), 0o600))
	come(t, c, "a file was written again")
}

// TestBusyNeighbour shows that a writer which never rests keeps no other file waiting, nor
// its own for ever.
func TestBusyNeighbour(t *testing.T) {
	dir := t.TempDir()
	f, err := watch.Open(dir, watch.Options{Quiet: 30 * time.Second, Ceiling: time.Second, Soon: func(name string) bool { return name == "a.lock" }})
	must(t, err)
	told := make(chan bool, 1000) // whether the lock is there
	ctx, cancel := context.WithCancel(context.Background())
	stop := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() {
		f.Run(ctx, func(string) bool { return true }, func() bool {
			_, err := os.Stat(filepath.Join(dir, "a.lock"))
			told <- err == nil
			return false
		})
	})
	working.Go(func() {
		w, err := os.Create(filepath.Join(dir, "slow.wasm"))
		must(t, err)
		defer w.Close()
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				_, err := w.WriteString("0123456789")
				must(t, err)
			}
		}
	})
	defer func() { cancel(); close(stop); working.Wait() }()
	wait := func(what string) bool {
		t.Helper()
		select {
		case there := <-told:
			return there
		case <-time.After(20 * time.Second): // under what the busy file's quiet would take
			t.Fatalf("%s: nothing was told", what)
			return false
		}
	}
	wait("at the ceiling")
	must(t, os.WriteFile(filepath.Join(dir, "a.lock"), []byte("{}"), 0o600))
	if !wait("a lock beside a busy file") {
		t.Error("told of a change before the lock was there")
	}
}

// TestUntold finds what no event tells of: files behind links, a folder that is a link, and
// rights.
func TestUntold(t *testing.T) {
	top := t.TempDir()
	for _, release := range []string{"one", "two"} {
		must(t, os.Mkdir(filepath.Join(top, release), 0o700))
		must(t, os.WriteFile(filepath.Join(top, release, "a.wasm"), []byte(release), 0o600))
	}
	far := filepath.Join(top, "far")
	must(t, os.WriteFile(far, []byte("a"), 0o600))
	must(t, os.Symlink(far, filepath.Join(top, "two", "linked.wasm")))
	link := filepath.Join(top, "current")
	must(t, os.Symlink("one", link))
	c := watched(t, link)

	must(t, os.Symlink("two", link+".new"))
	must(t, os.Rename(link+".new", link))
	come(t, c, "the link leads elsewhere")
	must(t, os.WriteFile(far, []byte("another"), 0o600))
	come(t, c, "a file behind a link was written")
	must(t, os.WriteFile(filepath.Join(top, "two", "b.wasm"), []byte("b"), 0o600))
	come(t, c, "a file was written where the link leads now")
	must(t, os.Chmod(filepath.Join(top, "two", "b.wasm"), 0o400))
	come(t, c, "its rights were changed")
}

// TestAgain tells again of what could not be acted on.
func TestAgain(t *testing.T) {
	dir := t.TempDir()
	f, err := watch.Open(dir, watch.Options{Quiet: time.Millisecond, Poll: 5 * time.Millisecond})
	must(t, err)
	calls := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	n := 0
	working.Go(func() {
		f.Run(ctx, func(string) bool { return true }, func() bool { calls <- struct{}{}; n++; return n < 3 })
	})
	must(t, os.WriteFile(filepath.Join(dir, "a.wasm"), []byte("a"), 0o600))
	for range 3 {
		come(t, calls, "a change that could not be acted on")
	}
	time.Sleep(200 * time.Millisecond)
	cancel()
	working.Wait()
	if more := len(calls); more > 1 { // one may be of the file's own events
		t.Errorf("told %d times more", more)
	}
}

// TestSlowWriter shows that a file is left alone while its writer goes on: what
// is told is told of the whole file. A writer that the machine keeps waiting
// for longer than the folder has to be quiet has stopped: then another tries,
// in a folder that waits for longer.
func TestSlowWriter(t *testing.T) {
	const want = 300
	size := int64(-1)
	for quiet := time.Second; size != want && quiet < time.Minute; quiet *= 3 {
		size = writeSlowly(t, quiet)
	}
	if size != want {
		t.Errorf("told of a file of %d bytes, want %d", size, want)
	}
}

// writeSlowly writes 300 bytes in thirty steps and returns how many there were
// when the change was told.
func writeSlowly(t *testing.T, quiet time.Duration) int64 {
	t.Helper()
	dir := t.TempDir()
	f, err := watch.Open(dir, watch.Options{Quiet: quiet})
	must(t, err)
	sizes := make(chan int64, 100)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx, func(string) bool { return true }, func() bool {
			info, err := os.Stat(filepath.Join(dir, "slow.wasm"))
			if err == nil {
				sizes <- info.Size()
			}
			return false
		})
	}()
	defer func() { cancel(); <-ended }()
	w, err := os.Create(filepath.Join(dir, "slow.wasm"))
	must(t, err)
	for range 30 {
		_, err := w.Write([]byte("0123456789"))
		must(t, err)
		time.Sleep(10 * time.Millisecond)
	}
	must(t, w.Close())
	select {
	case size := <-sizes:
		return size
	case <-time.After(time.Minute + quiet):
		t.Fatal("no change was told")
		return 0
	}
}
