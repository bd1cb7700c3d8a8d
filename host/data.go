package host

import (
	"context"
	"os"

	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/node"
)

// LockDir takes a directory of data for this process, and for those that it gives the file
// to; the error names the process that has it. [Open] does so by itself.
func LockDir(dir string) (*os.File, error) { return store.LockDir(dir) }

// openData opens the database, into which an archive is imported first where c names
// one, and what seals secrets in it.
func (h *Host) openData(ctx context.Context, c config.Config, o Options) (db *store.Store, sealer *store.Sealer, err error) {
	if err := backup.Import(ctx, c, h.log); err != nil {
		return nil, nil, err
	}
	h.node, err = node.Open(ctx, node.Options{Config: c, Version: o.Version, Addr: h.Addr(), PluginDir: pluginDir(c), Log: h.log, OnClose: h.onClose})
	if err != nil {
		return nil, nil, err
	}
	db, sealer = h.node.Database()
	if db.ReleasedBallast {
		h.log.Warn().Msg("the disk was too full to start: the ballast in the data directory was given up for it. What is there can be read and deleted; documents are taken once there is room")
	}
	h.db = db
	return db, sealer, nil
}
