package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/badgerdir"
	"github.com/parley-search/parley/host/internal/cluster"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/task"
)

// TestNoSpace makes the disk seem full: new work is refused first, then documents, then any
// change; what is there can be read and, until the last, deleted, and all goes on once there
// is room.
func TestNoSpace(t *testing.T) {
	s, err := Open(t.TempDir())
	must(t, err)
	defer func() { must(t, s.Close()) }()
	free := uint64(1 << 40)
	s.free = func() (uint64, error) { return free, nil }
	add := func(uid uint32) error {
		return s.AppendTask(t.Context(), task.Task{UID: uid, Type: task.IndexCreation, Status: task.Enqueued, Details: []byte("{}")}, []byte("p"))
	}
	body := func() error {
		w, err := s.CreateBody()
		if err == nil {
			_, err = io.WriteString(w, "x")
			_ = w.Discard()
		}
		return err
	}
	write := func() error { return s.Write(storage.Change{Docs: "x", Put: documents(1)}) }
	must(t, add(0))
	must(t, body())
	must(t, write())

	free = newReserve - 1
	for what, err := range map[string]error{"task": add(1), "body": body()} {
		if !apierr.Is(err, apierr.NoSpaceLeft) {
			t.Errorf("new %s on a disk that is nearly full: %v, want no_space_left_on_device", what, err)
		}
	}
	must(t, write())

	free = reserve - 1
	if err := write(); !apierr.Is(err, apierr.NoSpaceLeft) {
		t.Errorf("change on a full disk: %v", err)
	}
	deletion := task.Task{UID: 9, Type: task.IndexDeletion, Status: task.Enqueued, Details: []byte("{}")}
	must(t, s.AppendTask(t.Context(), deletion, nil))
	must(t, s.Write(storage.Change{Docs: "x", Delete: []string{"none"}}))
	must(t, s.DeleteTasks(t.Context(), []uint32{9}))

	free = smallReserve - 1
	for what, err := range map[string]error{
		"end of a task": s.PutTasks(t.Context(), []task.Task{{UID: 0, Status: task.Succeeded, Details: []byte("{}")}}, nil),
		"deletion":      s.AppendTask(t.Context(), deletion, nil),
	} {
		if !apierr.Is(err, apierr.NoSpaceLeft) {
			t.Errorf("%s on a full disk: %v", what, err)
		}
	}
	if tk, ok, err := s.Task(t.Context(), 0); err != nil || !ok || tk.Status != task.Enqueued {
		t.Errorf("the task after it: %+v, %v, %v", tk, ok, err)
	}
	if list, err := s.Page("x", 0, 9); err != nil || len(list) != 1 {
		t.Errorf("documents on a full disk: %d, %v", len(list), err)
	}

	free = 1 << 40
	must(t, add(1))
	must(t, write())

	// The ballast is given up for what deletes, and not brought back while there is little room.
	dir := t.TempDir()
	s2, err := Open(dir)
	must(t, err)
	defer func() { must(t, s2.Close()) }()
	ballast := filepath.Join(dir, "ballast")
	s2.free = func() (uint64, error) {
		if _, err := os.Stat(ballast); err == nil {
			return 1 << 20, nil
		}
		return 49 << 20, nil
	}
	must(t, s2.AppendTask(t.Context(), deletion, nil))
	if _, err := os.Stat(ballast); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ballast after a deletion on a full disk: %v, want none", err)
	}
}

// TestApplyNoSpace: a node of a cluster follows the log on a disk that is nearly full, as a
// single host takes changes, and gives up the ballast for it.
func TestApplyNoSpace(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenShared(dir)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	free := uint64(smallReserve + 1<<20)
	s.free = func() (uint64, error) { return free, nil }
	apply := func(size int) error {
		return s.Apply(cluster.Position{}, []cluster.Op{{Kind: cluster.OpSet, Key: []byte("c/key"), Value: make([]byte, size)}})
	}
	must(t, apply(1000))
	ballast := filepath.Join(dir, "ballast")
	if _, err := os.Stat(ballast); err != nil {
		t.Errorf("the ballast: %v, want one", err)
	}
	if err := apply(2 << 20); !apierr.Is(err, apierr.NoSpaceLeft) {
		t.Errorf("a large message: %v, want no_space_left_on_device", err)
	}
	if _, err := os.Stat(ballast); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the ballast: %v, want none", err)
	}
	free = smallReserve - 1
	if err := apply(1); !apierr.Is(err, apierr.NoSpaceLeft) {
		t.Errorf("a small message on a full disk: %v, want no_space_left_on_device", err)
	}
	free = 1 << 40
}

// TestBulkNoSpace: what writes much at once, such as a restore, stops while the disk still has
// room, and what deletes much does not begin on a full one. Badger would end the process.
func TestBulkNoSpace(t *testing.T) {
	from := inMemory(t)
	for _, d := range documents(150) {
		d.Body = fmt.Appendf(nil, `{"text":%q}`, strings.Repeat(d.ID, 16<<10))
		must(t, from.Write(storage.Change{Docs: "x", Put: []storage.Document{d}}))
	}
	var backup bytes.Buffer
	must(t, from.Backup(&backup))
	const size = reserve + 2<<20
	for what, restore := range map[string]func(to *Store) error{
		"snapshot": func(to *Store) error { return to.Restore(bytes.NewReader(backup.Bytes())) },
		"dump": func(to *Store) error {
			return from.Export(t.Context(), 0, func(k Kind, write func(io.Writer) error) error {
				var b bytes.Buffer
				err := write(&b)
				if err == nil {
					_, err = to.Import(t.Context(), k, &b)
				}
				return err
			})
		},
		"deletion": func(to *Store) error {
			to.free = func() (uint64, error) { return smallReserve - 1, nil }
			return to.deleteAll([]byte(prefixDocument))
		},
	} {
		to, err := Open(t.TempDir())
		must(t, err)
		must(t, to.Write(storage.Change{Docs: "x", Put: documents(1)}))
		least, before := uint64(size), badgerdir.Use(to.bodies+"/..")
		to.free = func() (uint64, error) { // of a disk of that size
			left := uint64(size + before - badgerdir.Use(to.bodies+"/.."))
			least = min(least, left)
			return left, nil
		}
		if err := restore(to); !apierr.Is(err, apierr.NoSpaceLeft) {
			t.Errorf("a %s on a disk that is too small: %v, want no_space_left_on_device", what, err)
		}
		if least < reserve/2 {
			t.Errorf("a %s left %d bytes, want %d but for what was under way", what, least, reserve)
		}
		to.free = nil
		must(t, to.Close())
	}
}
