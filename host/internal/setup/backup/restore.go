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

	"github.com/parley-search/parley/host/internal/data/archive"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/meilidump"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/rs/zerolog"
)

// Inspect reads a dump or a snapshot to its end and returns what is in
// it; of a dump of Meilisearch the files. The error says what is wrong with one
// that is not whole.
func Inspect(ctx context.Context, path string) (*archive.Contents, error) {
	if !meilidump.Is(path) {
		return archive.Check(path)
	}
	d, err := meilidump.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	c := &archive.Contents{Head: archive.Head{Kind: archive.Dump, Version: "Meilisearch " + d.Version, Data: "V6", CreatedAt: d.Date}}
	for _, f := range d.Files {
		c.Streams = append(c.Streams, archive.Stream{Name: f.Name, Bytes: f.Bytes})
	}
	return c, nil
}

// Restore makes the data directory of c from the dump or snapshot at
// path, which may be a dump of Meilisearch: then there is a report of what was
// taken of it. There must be no database yet, and nobody else at work there. It
// comes into its place as a whole, or not at all. The plugin lock is put into the
// plugin directory where there is none.
func Restore(ctx context.Context, c config.Config, kind, path string) (*meilidump.Report, error) {
	fill, err := filling(ctx, c, kind, path)
	if err != nil {
		return nil, err
	}
	return restoreChecked(ctx, c, path, fill)
}

// A filler fills a directory from an archive.
type filler func(dir string) (*meilidump.Report, error)

// filling reads the archive at path to its end, makes sure that this version
// can restore it, and returns what does so.
func filling(ctx context.Context, c config.Config, kind, path string) (filler, error) {
	if meilidump.Is(path) {
		d, err := meilidump.Read(ctx, path)
		if err == nil && kind != archive.Dump {
			err = fmt.Errorf("%s is a dump of Meilisearch, and a %s was wanted", path, kind)
		}
		return func(dir string) (*meilidump.Report, error) { return meilidump.Take(ctx, c, dir, path, d) }, err
	}
	return func(dir string) (*meilidump.Report, error) {
		r := restoring{ctx: ctx, dir: dir, kinds: map[string]store.Kind{}}
		for _, k := range store.Kinds() {
			r.kinds[k.Name] = k
		}
		err := r.fill(path)
		if err == nil {
			err = r.putLock(c.PluginDir)
		}
		return nil, err
	}, checkArchive(kind, path)
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

func restoreChecked(ctx context.Context, c config.Config, path string, fill filler) (report *meilidump.Report, err error) {
	if store.Exists(c.DBPath) { // said without waiting for the host that may be at work on it
		return nil, errHasDatabase(c)
	}
	if err := os.MkdirAll(c.DBPath, 0o700); err != nil {
		return nil, fmt.Errorf("restore %s: %w", path, err)
	}
	release, err := store.Lock(c.DBPath)
	if err != nil {
		return nil, fmt.Errorf("restore %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if store.Exists(c.DBPath) { // another process was faster
		return nil, errHasDatabase(c)
	}
	part := filepath.Join(c.DBPath, "restore.part")
	if err := os.RemoveAll(part); err != nil { // of a restoring that never came to its end
		return nil, fmt.Errorf("restore %s: %w", path, err)
	}
	if report, err = fill(part); err != nil {
		return nil, fmt.Errorf("restore %s: %w", path, errors.Join(err, os.RemoveAll(part)))
	}
	// The database comes last: it says that all is there.
	for _, name := range []string{"indexes", "bodies", "badger"} {
		to := filepath.Join(c.DBPath, name)
		err := os.RemoveAll(to)
		if err == nil {
			err = os.Rename(filepath.Join(part, name), to)
		}
		if err != nil && !(name == "indexes" && errors.Is(err, os.ErrNotExist)) {
			return nil, fmt.Errorf("restore %s: %w", path, err)
		}
	}
	return report, os.RemoveAll(part)
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
	if err == nil {
		err = r.checkIndexes()
	}
	return errors.Join(err, r.db.Close())
}

// checkIndexes refuses records of indexes that no host could open.
func (r *restoring) checkIndexes() error {
	metas, err := r.db.Metas()
	for uid, b := range metas {
		_, e := index.DecodeMeta(uid, b)
		err = errors.Join(err, e)
	}
	return err
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
		fill, err := filling(ctx, c, a.kind, a.path)
		if err != nil {
			return config.OptionError{Err: fmt.Errorf("import %s (--import-%[1]s): %w", a.kind, err)}
		}
		report, err := restoreChecked(ctx, c, a.path, fill)
		if err != nil {
			return fmt.Errorf("import %s (--import-%[1]s): %w", a.kind, err)
		}
		if report != nil {
			for _, left := range report.Left {
				log.Warn().Str("file", a.path).Msg("not taken from the dump of Meilisearch: " + left)
			}
			line = line.Str("meilisearch", report.Version).Interface("documents", report.Documents).
				Int("keys", report.Keys).Int("workspaces", report.Chats).Int("webhooks", report.Webhooks).Int("remotes", report.Remotes)
		}
		line.Int64("ms", time.Since(began).Milliseconds()).Msg(a.kind + " imported")
	}
	return nil
}
