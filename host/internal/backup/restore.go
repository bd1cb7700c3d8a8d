package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/archive"
	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/deploy"
	"github.com/parley-search/parley/host/internal/store"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/rs/zerolog"
)

// Inspect reads a dump or a snapshot to its end and returns what is in
// it. The error says what is wrong with one that is not whole.
func Inspect(path string) (*archive.Contents, error) { return archive.Check(path) }

// Restore makes the data directory of c from the dump or snapshot at
// path. There must be no database yet, and nobody else at work there. It comes
// into its place as a whole, or not at all. The plugin lock is put into the
// plugin directory where there is none.
func Restore(ctx context.Context, c config.Config, kind, path string) error {
	if err := checkArchive(kind, path); err != nil {
		return err
	}
	return restoreChecked(ctx, c, path)
}

// checkArchive reads the archive at path to its end and makes sure that it is
// one of kind which this version can restore.
func checkArchive(kind, path string) error {
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
	return nil
}

func restoreChecked(ctx context.Context, c config.Config, path string) (err error) {
	if store.Exists(c.DBPath) { // said without waiting for the host that may be at work on it
		return errHasDatabase(c)
	}
	if err := os.MkdirAll(c.DBPath, 0o700); err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	release, err := store.Lock(c.DBPath)
	if err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if store.Exists(c.DBPath) { // another process was faster
		return errHasDatabase(c)
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
	if err := r.putLock(c.PluginDir); err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
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
	return os.RemoveAll(part)
}

func errHasDatabase(c config.Config) error {
	return fmt.Errorf("the data directory %s has a database already: name another --db-path, or move it away", c.DBPath)
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
		err = r.db.EndImport(r.ctx, []task.Type{task.DumpCreation, task.SnapshotCreation})
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
	if body, ok := strings.CutPrefix(name, streamBodies); ok {
		return r.db.ImportBody(body, from)
	}
	if file, ok := strings.CutPrefix(name, streamFolders); ok {
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

// putLock writes the plugin lock where there is none: whole, or not at all.
func (r *restoring) putLock(dir string) error {
	if r.lock == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, deploy.LockFile)
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	part := name + ".restored"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(r.lock)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, name)
}

// Import restores what the options of c name, before anything is opened.
func Import(ctx context.Context, c config.Config, log zerolog.Logger) error {
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
		line := log.Info().Str("file", a.path)
		if _, err := os.Stat(a.path); errors.Is(err, os.ErrNotExist) && a.ignoreMissing {
			line.Msg("no " + a.kind + " to import")
			continue
		}
		if a.ignoreHere && store.Exists(c.DBPath) {
			line.Msg(a.kind + " not imported: there is a database already")
			continue
		}
		began := time.Now()
		if err := checkArchive(a.kind, a.path); err != nil {
			return config.OptionError{Err: fmt.Errorf("import %s (--import-%[1]s): %w", a.kind, err)}
		}
		if err := restoreChecked(ctx, c, a.path); err != nil {
			return fmt.Errorf("import %s (--import-%[1]s): %w", a.kind, err)
		}
		line.Int64("ms", time.Since(began).Milliseconds()).Msg(a.kind + " imported")
	}
	return nil
}
