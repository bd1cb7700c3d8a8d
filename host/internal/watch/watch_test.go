package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-search/parley/host/internal/watch"
)

// a watched folder reports on c until the test ends.
func watched(t *testing.T, dir string) (c <-chan struct{}) {
	t.Helper()
	f, err := watch.Open(dir, watch.Options{Quiet: 20 * time.Millisecond, Again: 20 * time.Millisecond, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	changes := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx, func(name string) bool { return strings.HasSuffix(name, ".wasm") }, func() { changes <- struct{}{} })
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
		f.Run(ctx, func(string) bool { return true }, func() {
			info, err := os.Stat(filepath.Join(dir, "slow.wasm"))
			if err == nil {
				sizes <- info.Size()
			}
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
