package host

import (
	"path/filepath"

	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// openFolders is how many indexes are open at a time, by the descriptors that there are: half of
// them are for connections, and an index takes one, and one for each of its segments.
func openFolders() int {
	if n := sysinfo.Descriptors(); n > 0 {
		return int(min(max(n/32, 16), 1024))
	}
	return 1024
}

// openSearch opens the indexes. What embedders and other hosts answer is not
// recorded, as that of providers may be.
func (h *Host) openSearch(c config.Config, o Options, db *store.Store, sealer *store.Sealer, features *feature.Service, remotes *network.Service) (err error) {
	reach := upstream.Options{UserAgent: "parley/" + o.Version, Private: c.PrivateNetworks, Resolver: o.Hooks.Reach.Resolver, TLS: o.Hooks.Reach.TLS}
	reach.Signer = h.openSigner(reach, o)
	out := upstream.New(reach)
	h.onClose("connections of searches", out.Close)
	log := func(message string, err error) { h.log.Warn().Err(err).Msg(message) }
	h.search, err = search.Open(search.Options{
		Notes: h.node.Notes(), Dir: filepath.Join(c.DBPath, "indexes"), DB: db, Sealer: sealer, Bodies: db, Features: features.Now, Upstream: out, Plugins: chat.Embedders{Sources: h.plugins}, Waiting: c.SearchQueueSize,
		OpenFolders: openFolders(), Descriptors: func() (used, most uint64) { return sysinfo.DescriptorsInUse(), sysinfo.Descriptors() },
		VectorMemory: c.VectorMemory, IndexingMemory: c.WritingMemory(), IndexingThreads: c.WritingThreads(), QueryVectors: c.EmbeddingCache,
		Log: log, Searched: h.figures.Searched, Now: o.Pace.Now,
	})
	if err != nil {
		return err
	}
	h.onClose("indexes", h.search.Close)
	h.federate = federate.New(federate.Options{Indexes: h.search, Remotes: remotes, Upstream: out, Features: features.Now, Log: log})
	return nil
}
