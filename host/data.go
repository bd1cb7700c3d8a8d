package host

import (
	"context"
	"os"

	"github.com/parley-search/parley/host/internal/backup"
	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/masterkey"
	"github.com/parley-search/parley/host/internal/store"
)

// LockDir takes a directory of data for this process, and for those that it gives the file
// to; the error names the process that has it. [Open] does so by itself.
func LockDir(dir string) (*os.File, error) { return store.LockDir(dir) }

// openData opens the database, into which an archive is imported first where c names
// one, and what seals secrets in it. In a cluster the database is brought up to date, and
// the host becomes a node.
func (h *Host) openData(ctx context.Context, c config.Config, o Options) (*store.Store, *store.Sealer, error) {
	if err := backup.Import(ctx, c, h.log); err != nil {
		return nil, nil, err
	}
	open, openSealer := store.Open, masterkey.OpenSealer
	if c.Cluster.Name != "" {
		open, openSealer = store.OpenShared, masterkey.OpenSharedSealer
	}
	db, err := open(c.DBPath)
	if err == nil && c.Cluster.Name != "" {
		db, err = h.catchUp(ctx, c, db)
	}
	if err != nil {
		return nil, nil, err
	}
	if db.ReleasedBallast {
		h.log.Warn().Msg("the disk was too full to start: the ballast in the data directory was given up for it. What is there can be read and deleted; documents are taken once there is room")
	}
	h.db = db
	h.onClose("the database", db.Close)
	sealer, err := openSealer(ctx, c, db, h.log)
	if err != nil {
		return nil, nil, err
	}
	if c.Cluster.Name == "" {
		return db, sealer, nil
	}
	if err := h.joinCluster(c, o, db); err != nil {
		return nil, nil, err
	}
	if _, err := h.cluster.takePlugins(ctx); err != nil {
		h.log.Error().Err(err).Msg("this node does not run the plugins of the cluster")
	}
	return db, sealer, nil
}
