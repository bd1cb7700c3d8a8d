// Package backup makes dumps and snapshots, and data directories of them.
package backup

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/data/archive"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/task"
)

// The streams of an archive beside the kinds of records.
const (
	streamDatabase = "database"  // of a snapshot: all records, in Badger's own form
	streamLock     = "plugins"   // the plugin lock
	streamBodies   = "bodies/"   // and the name of a body
	streamFolders  = "indexes/"  // of a snapshot: and the path of a file in a bleve folder
	snapshotSuffix = ".snapshot" // the one snapshot is called as the data directory
	dumpSuffix     = ".dump"     // a dump is called by when it was asked for, and its task
	dumpDate       = "20060102-150405.000000000"
)

// An Archiver makes dumps and snapshots, in their turn among the tasks: while
// one is made, no index changes, and so documents and indexes are of one moment.
type Archiver struct {
	search  *search.Service
	db      *store.Store
	config  config.Config
	version string
}

// NewArchiver returns what archives db and the indexes of search; version is the
// host's.
func NewArchiver(search *search.Service, db *store.Store, c config.Config, version string) *Archiver {
	return &Archiver{search, db, c, version}
}

// Process implements [task.Processor].
func (a *Archiver) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	t := &r.Works[0].Task
	var err error
	var details json.RawMessage
	switch t.Type {
	case task.DumpCreation:
		// No two tasks have one number: whatever the clock says, a dump takes the
		// place of none but its own, where a crash has it made again.
		name := t.EnqueuedAt.UTC().Format(dumpDate) + "-" + strconv.FormatUint(uint64(t.UID), 10)
		err = a.dump(ctx, filepath.Join(a.config.DumpDir, name+dumpSuffix), t.UID)
		details, _ = json.Marshal(map[string]string{"dumpUid": name}) // a text
	case task.SnapshotCreation:
		err = a.snapshot(ctx, snapshotFile(a.config))
	}
	if err == nil {
		return []task.Outcome{{Details: details}}, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	e := &apierr.Error{Code: apierr.DumpProcessFailed, Message: "The " + string(t.Type) + " failed: " + plain(err) + ".", Err: err}
	if errors.Is(err, syscall.ENOSPC) {
		e.Code = apierr.NoSpaceLeft
	}
	return []task.Outcome{{Err: task.Fail(e)}}, nil
}

// plain is err as a client may see it: what went wrong, without the paths of
// this machine.
func plain(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Op + ": " + path.Err.Error()
	}
	return "see the log"
}

// snapshotFile is where the snapshot of a data directory goes.
func snapshotFile(c config.Config) string {
	name, err := filepath.Abs(c.DBPath)
	if err != nil {
		name = c.DBPath
	}
	return filepath.Join(c.SnapshotDir, filepath.Base(name)+snapshotSuffix)
}

func (a *Archiver) head(kind string) archive.Head {
	return archive.Head{Kind: kind, Version: a.version, Data: store.Format, CreatedAt: time.Now().UTC()}
}

// dump writes what any later version can read: records as lines of JSON. The
// task without is the dump's own.
func (a *Archiver) dump(ctx context.Context, path string, without uint32) error {
	return archive.Create(path, a.head(archive.Dump), func(w *archive.Writer) error {
		err := a.db.Export(ctx, without, func(k store.Kind, write func(io.Writer) error) error { return w.Stream(k.Name, write) })
		if err != nil {
			return err
		}
		return a.beside(w)
	})
}

// beside writes what does not stand in the database.
func (a *Archiver) beside(w *archive.Writer) error {
	err := a.db.Bodies(func(name string, open func() (io.ReadCloser, error)) error {
		body, err := open()
		if err != nil {
			return err
		}
		defer body.Close()
		return w.Stream(streamBodies+name, copied(body))
	})
	if err != nil {
		return err
	}
	lock, err := os.Open(filepath.Join(a.config.PluginDir, deploy.LockFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return w.Stream(streamLock, copied(lock))
}

// copied returns what writes all of r.
func copied(r io.Reader) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}
}

// snapshotFolders begins the name of the folder that index folders are copied to
// before they go into a snapshot.
const snapshotFolders = "snapshot-"

// Sweep removes what a crash left of snapshots.
func Sweep(dir string) error {
	left, err := sysinfo.Glob(dir, snapshotFolders+"*")
	for _, l := range left {
		err = errors.Join(err, os.RemoveAll(l))
	}
	return err
}

// snapshot writes the database and the indexes as they are on disk.
func (a *Archiver) snapshot(ctx context.Context, path string) error {
	folders, err := os.MkdirTemp(a.config.DBPath, snapshotFolders)
	if err != nil {
		return err
	}
	err = archive.Create(path, a.head(archive.Snapshot), func(w *archive.Writer) error {
		if err := w.Stream(streamDatabase, a.db.Backup); err != nil {
			return err
		}
		if err := a.beside(w); err != nil {
			return err
		}
		if err := a.search.CopyFolders(ctx, folders); err != nil {
			return err
		}
		return filepath.WalkDir(folders, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			rel, err := filepath.Rel(folders, name)
			if err != nil {
				return err
			}
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			return errors.Join(w.Stream(streamFolders+filepath.ToSlash(rel), copied(f)), ctx.Err())
		})
	})
	return errors.Join(err, os.RemoveAll(folders))
}

// Schedule asks for a snapshot again and again, until ctx ends. One
// that is not made yet is not asked for twice. failed gets what stopped one.
func Schedule(ctx context.Context, tasks *task.Queue, every time.Duration, failed func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last uint32
	asked := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if t, err := tasks.Task(ctx, last, nil); asked && err == nil && !t.Finished() {
			continue
		}
		s, err := tasks.Enqueue(ctx, task.New{Type: task.SnapshotCreation})
		if err != nil {
			failed(err)
			continue
		}
		last, asked = s.TaskUID, true
	}
}
