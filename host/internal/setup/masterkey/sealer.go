package masterkey

import (
	"context"
	"errors"

	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/rs/zerolog"
)

// OpenSealer returns the sealer of the data directory. Secrets that came out of
// an archive are sealed under its key, and what no key at hand opens is dropped;
// else a key that is not the data's is refused.
func OpenSealer(ctx context.Context, c config.Config, db *store.Store, log zerolog.Logger) (*store.Sealer, error) {
	sealer, err := store.OpenSealer(c.DBPath, []byte(c.MasterKey.Reveal()))
	if err != nil {
		return nil, err
	}
	imported, err := db.Imported()
	if err != nil {
		return nil, err
	}
	if !imported {
		return sealer, db.CheckKey(sealer)
	}
	from := sealer
	if !c.ImportMasterKey.IsZero() {
		if from, err = sealer.And([]byte(c.ImportMasterKey.Reveal())); err != nil {
			return nil, err
		}
	}
	done, err := db.Reseal(ctx, from, sealer, true)
	if err != nil {
		return nil, err
	}
	if len(done.Kept) > 0 {
		log.Info().Strs("secrets", done.Kept).Msg("imported secrets are sealed under this host's key")
	}
	if len(done.Dropped) > 0 {
		log.Warn().Strs("secrets", done.Dropped).
			Msg("these imported secrets were sealed under another master key, and are dropped: set them again, or import once more with --import-dump-master-key")
	}
	return sealer, nil
}

// OpenSharedSealer returns the sealer of a node of a cluster: that of the master
// key alone, for a key in a file would be each node's own. One that is not the
// cluster's, as far as the node knows, is refused.
func OpenSharedSealer(_ context.Context, c config.Config, db *store.Store, _ zerolog.Logger) (*store.Sealer, error) {
	sealer, err := store.NewSealer([]byte(c.MasterKey.Reveal()))
	if err != nil {
		return nil, err
	}
	sealed, err := db.SealedUnder()
	if err != nil || sealed == "" || sealed == sealer.Name() {
		return sealer, err
	}
	return nil, errors.New("the master key is not that of the cluster: give all nodes the same")
}
