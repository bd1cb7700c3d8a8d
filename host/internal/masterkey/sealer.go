package masterkey

import (
	"context"

	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/store"
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
