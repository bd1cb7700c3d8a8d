package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/archive"
	"github.com/parley-search/parley/host/internal/deploy"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/store"
	"github.com/parley-search/parley/host/internal/task"
)

// The streams of an archive beside the kinds of records.
const (
	streamDatabase = "database"  // of a snapshot: all records, in Badger's own form
	streamLock     = "plugins"   // the plugin lock
	streamBodies   = "bodies/"   // and the name of a body
	streamFolders  = "indexes/"  // of a snapshot: and the path of a file in a bleve folder
	snapshotSuffix = ".snapshot" // the one snapshot is called as the data directory
	dumpSuffix     = ".dump"     // a dump is called by when it was asked for
	dumpName       = "20060102-150405.000000000"
)

// An archiver makes dumps and snapshots, in their turn among the tasks: while
// one is made, no index changes, and so documents and indexes are of one moment.
// All other tasks are the search's.
type archiver struct {
	*search.Service
	db      *store.Store
	config  Config
	version string
}

// Process implements [task.Processor].
func (a *archiver) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	t := &r.Works[0].Task
	var err error
	var details json.RawMessage
	switch t.Type {
	case task.DumpCreation:
		name := t.EnqueuedAt.UTC().Format(dumpName)
		err = a.dump(ctx, filepath.Join(a.config.DumpDir, name+dumpSuffix), t.UID)
		details, _ = json.Marshal(map[string]string{"dumpUid": name}) // a text
	case task.SnapshotCreation:
		err = a.snapshot(ctx, snapshotFile(a.config))
	default:
		return a.Service.Process(ctx, r)
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
func snapshotFile(c Config) string {
	name, err := filepath.Abs(c.DBPath)
	if err != nil {
		name = c.DBPath
	}
	return filepath.Join(c.SnapshotDir, filepath.Base(name)+snapshotSuffix)
}

func (a *archiver) head(kind string) archive.Head {
	return archive.Head{Kind: kind, Version: a.version, Data: store.Format, CreatedAt: time.Now().UTC()}
}

// dump writes what any later version can read: records as lines of JSON. The
// task without is the dump's own.
func (a *archiver) dump(ctx context.Context, path string, without uint32) error {
	return archive.Create(path, a.head(archive.Dump), func(w *archive.Writer) error {
		err := a.db.Export(ctx, without, func(k store.Kind, write func(io.Writer) error) error { return w.Stream(k.Name, write) })
		if err != nil {
			return err
		}
		return a.beside(w)
	})
}

// beside writes what does not stand in the database.
func (a *archiver) beside(w *archive.Writer) error {
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

// snapshot writes the database and the indexes as they are on disk.
func (a *archiver) snapshot(ctx context.Context, path string) error {
	folders, err := os.MkdirTemp(a.config.DBPath, "snapshot-")
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
		if err := a.CopyFolders(ctx, folders); err != nil {
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

// scheduleSnapshots asks for a snapshot again and again, until ctx ends. One
// that is not made yet is not asked for twice.
func (h *Host) scheduleSnapshots(ctx context.Context, every time.Duration) {
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
		if t, err := h.tasks.Task(ctx, last, nil); asked && err == nil && !t.Finished() {
			continue
		}
		s, err := h.tasks.Enqueue(ctx, task.New{Type: task.SnapshotCreation})
		if err != nil {
			h.log.Error().Err(err).Msg("no snapshot asked for")
			continue
		}
		last, asked = s.TaskUID, true
	}
}

// InspectArchive reads a dump or a snapshot to its end and returns what is in
// it. The error says what is wrong with one that is not whole.
func InspectArchive(path string) (*archive.Contents, error) { return archive.Check(path) }

// RestoreArchive makes the data directory of c from the dump or snapshot at
// path. There must be no database yet. It comes into its place as a whole, or
// not at all. The plugin lock is put into the plugin directory where there is
// none.
func RestoreArchive(ctx context.Context, c Config, kind, path string) error {
	contents, err := archive.Check(path)
	if err != nil {
		return err
	}
	if contents.Kind != kind {
		return fmt.Errorf("%s is a %s, and a %s was wanted", path, contents.Kind, kind)
	}
	if contents.Data != store.Format {
		return fmt.Errorf("%s holds data of format %s, and this version reads format %s: use version %s, which made it", path, contents.Data, store.Format, contents.Version)
	}
	if hasDatabase(c) {
		return fmt.Errorf("the data directory %s has a database already: name another --db-path, or move it away", c.DBPath)
	}
	part := filepath.Join(c.DBPath, "restore.part")
	if err := os.RemoveAll(part); err != nil { // of a restoring that never came to its end
		return fmt.Errorf("restore %s: %w", path, err)
	}
	r := restoring{ctx: ctx, dir: part, kinds: map[string]store.Kind{}}
	for _, k := range store.Kinds() {
		r.kinds[k.Name] = k
	}
	if err := r.fill(path); err != nil {
		return fmt.Errorf("restore %s: %w", path, errors.Join(err, os.RemoveAll(part)))
	}
	// The database comes last: it says that all is there.
	for _, name := range []string{"indexes", "bodies", "badger"} {
		to := filepath.Join(c.DBPath, name)
		err := os.RemoveAll(to)
		if err == nil {
			err = os.Rename(filepath.Join(part, name), to)
		}
		if err != nil && !(name == "indexes" && errors.Is(err, os.ErrNotExist)) {
			return fmt.Errorf("restore %s: %w", path, err)
		}
	}
	if err := r.putLock(c.PluginDir); err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	return os.RemoveAll(part)
}

func hasDatabase(c Config) bool {
	entries, err := os.ReadDir(filepath.Join(c.DBPath, "badger"))
	return err == nil && len(entries) > 0
}

// A restoring fills a directory from an archive.
type restoring struct {
	ctx   context.Context
	dir   string
	kinds map[string]store.Kind
	db    *store.Store
	lock  []byte
}

func (r *restoring) fill(path string) (err error) {
	if r.db, err = store.Open(r.dir); err != nil {
		return err
	}
	_, err = archive.Read(path, r.stream)
	if err == nil {
		err = r.db.Imported(r.ctx, []task.Type{task.DumpCreation, task.SnapshotCreation})
	}
	return errors.Join(err, r.db.Close())
}

// stream takes one stream of the archive. One that this version does not know
// is left: a later one may have added it.
func (r *restoring) stream(name string, from io.Reader) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if k, ok := r.kinds[name]; ok {
		_, err := r.db.Import(r.ctx, k, from)
		return err
	}
	if body, ok := cutPrefix(name, streamBodies); ok {
		return r.db.ImportBody(body, from)
	}
	if file, ok := cutPrefix(name, streamFolders); ok {
		return r.file(file, from)
	}
	switch name {
	case streamDatabase:
		return r.db.Restore(from)
	case streamLock:
		b, err := io.ReadAll(io.LimitReader(from, 16<<20))
		r.lock = b
		return err
	}
	return nil
}

func cutPrefix(name, prefix string) (string, bool) {
	if len(name) <= len(prefix) || name[:len(prefix)] != prefix {
		return "", false
	}
	return name[len(prefix):], true
}

// file writes a file of a bleve folder.
func (r *restoring) file(name string, from io.Reader) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("the archive has a file %q, which lies outside the indexes", name)
	}
	path := filepath.Join(r.dir, "indexes", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Sync(), f.Close())
}

// putLock writes the plugin lock where there is none.
func (r *restoring) putLock(dir string) error {
	if r.lock == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, deploy.LockFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(r.lock)
	return errors.Join(err, f.Close())
}

// importArchives restores what the options name, before anything is opened.
func (h *Host) importArchives(ctx context.Context) error {
	c := h.config
	for _, a := range []struct {
		kind, path                string
		ignoreMissing, ignoreHere bool
	}{
		{archive.Snapshot, c.ImportSnapshot, c.IgnoreMissingSnapshot, c.IgnoreSnapshotIfDBExists},
		{archive.Dump, c.ImportDump, c.IgnoreMissingDump, c.IgnoreDumpIfDBExists},
	} {
		if a.path == "" {
			continue
		}
		log := h.log.Info().Str("file", a.path)
		if _, err := os.Stat(a.path); errors.Is(err, os.ErrNotExist) && a.ignoreMissing {
			log.Msg("no " + a.kind + " to import")
			continue
		}
		if a.ignoreHere && hasDatabase(c) {
			log.Msg(a.kind + " not imported: there is a database already")
			continue
		}
		began := time.Now()
		if err := RestoreArchive(ctx, c, a.kind, a.path); err != nil {
			return fmt.Errorf("import %s: %w", a.kind, err)
		}
		log.Int64("ms", time.Since(began).Milliseconds()).Msg(a.kind + " imported")
		h.imported = true
	}
	return nil
}

// tellUnreadable names the workspaces whose keys came sealed under a master key
// that this host does not have.
func (h *Host) tellUnreadable(ctx context.Context, workspaces *store.Workspaces) error {
	uids, _, err := workspaces.WorkspaceUIDs(ctx, 0, math.MaxInt)
	if err != nil {
		return err
	}
	var unreadable []string
	for _, uid := range uids {
		w, err := workspaces.Workspace(ctx, uid)
		if err != nil {
			return err
		}
		if w.KeyUnreadable {
			unreadable = append(unreadable, uid)
		}
	}
	if len(unreadable) > 0 {
		h.log.Warn().Strs("workspaces", unreadable).Msg("API keys of these workspaces are sealed under another master key: start with that one, or set their apiKey again")
	}
	return nil
}
