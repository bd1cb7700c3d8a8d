package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/data/archive"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/masterkey"
	"github.com/parley-search/parley/host/internal/setup/meilidump"
)

// Backup writes the newest snapshot that the cluster that c names keeps to the file
// path, which must not be there. [Restore] reads it.
func Backup(ctx context.Context, c config.Config, path string) (_ *Joined, err error) {
	log, _, err := openLog(c, nil, nil)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	of, err := newestSnapshot(ctx, log)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	r, kept, err := log.OpenSnapshot(ctx, *of)
	if err == nil {
		_, err = io.Copy(f, r)
		err = errors.Join(err, r.Close(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	_ = log.NoteBackup(ctx) // the file is good without; that it was not noted, the alert on its age says
	return &Joined{fmt.Sprintf("%016x", kept.Log), kept.Seq, kept.Bytes}, nil
}

// Restore makes the data directory of the first node of a new cluster, which c names,
// of a backup: a file of [Backup], a dump or a snapshot of a host, or a dump of
// Meilisearch. There is no data yet, neither in the directory nor in the cluster's log. The
// other nodes begin with what this one keeps.
func Restore(ctx context.Context, c config.Config, path string, log zerolog.Logger) (*Joined, error) {
	if err := emptyLog(ctx, c); err != nil { // before anything is written
		return nil, err
	}
	if store.Exists(c.DBPath) {
		return nil, fmt.Errorf("the data directory %s has a database already: name another --db-path, or move it away", c.DBPath)
	}
	id := cmp.Or(rand.Uint64(), 1)
	seq, err := restoreNode(ctx, c, path, id, log)
	if err != nil { // what is there is of no use
		return nil, errors.Join(fmt.Errorf("restore %s: %w", path, err), os.RemoveAll(filepath.Join(c.DBPath, "badger")))
	}
	return &Joined{Log: fmt.Sprintf("%016x", id), Message: seq}, nil
}

// restoreNode is Restore once the log is there, for the new log id.
func restoreNode(ctx context.Context, c config.Config, path string, id uint64, log zerolog.Logger) (seq uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if is, err := store.IsSnapshot(f); err != nil || !is {
		if err == nil {
			err = restoreAlone(ctx, c, path, id, log)
		}
		return 0, err
	}
	if err := os.MkdirAll(c.DBPath, 0o700); err != nil {
		return 0, err
	}
	p, err := store.RestoreSnapshot(c.DBPath, f)
	if err != nil {
		return 0, err
	}
	db, err := store.OpenShared(c.DBPath)
	if err != nil {
		return 0, err
	}
	_, err = masterkey.OpenSharedSealer(ctx, c, db, log)
	if err == nil {
		err = db.BeginLog(id)
	}
	return p.Seq, errors.Join(err, db.Close())
}

// restoreAlone restores an archive as a host alone does, with its secrets sealed under the
// cluster's master key, and makes a node's database of it.
func restoreAlone(ctx context.Context, c config.Config, path string, id uint64, log zerolog.Logger) error {
	kind := archive.Dump
	if !meilidump.Is(path) {
		contents, err := archive.Check(path)
		if err != nil {
			return err
		}
		kind = contents.Kind
	}
	if _, err := backup.Restore(ctx, c, kind, path); err != nil {
		return err
	}
	db, err := store.Open(c.DBPath)
	if err != nil {
		return err
	}
	_, err = masterkey.OpenSealer(ctx, c, db, log)
	if err == nil {
		err = db.BeginLog(id)
	}
	return errors.Join(err, db.Close())
}
