package host

import (
	"context"
	"path/filepath"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/taskapi"
	"github.com/parley-search/parley/host/internal/base/feature"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/search/federate"
	"github.com/parley-search/parley/host/internal/search/network"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/figures"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/setup/node"
	"github.com/parley-search/parley/host/internal/task"
	"github.com/parley-search/parley/host/internal/task/webhook"
)

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

// openTasks opens the queue, with all who apply its tasks.
func (h *Host) openTasks(ctx context.Context, c config.Config, o Options, db *store.Store, sealer *store.Sealer, otherReason bool) (err error) {
	if err := backup.Sweep(c.DBPath); err != nil {
		return err
	}
	targets := upstream.NewTargets(upstream.Options{UserAgent: "parley/" + o.Version, Private: c.PrivateNetworks})
	h.onClose("exports", targets.Close)
	h.exports = export.New(export.Options{
		Indexes: h.search, Log: db, Targets: targets, Sealer: sealer,
		Failed: func(task uint32, why error) { h.log.Warn().Uint32("task", task).Err(why).Msg("export failed") },
	})
	p := &processor{h.search, backup.NewArchiver(h.search, db, c, o.Version), h.exports}
	if h.webhooks, err = h.openWebhooks(ctx, c, o, db, sealer); err != nil {
		return err
	}
	options := task.Options{
		Now:            o.Pace.Now,
		EndedOtherwise: otherReason,
		Failed:         func(err error) { h.log.Error().Err(err).Msg("task put off") },
		Finished:       func(tasks []task.Task) { h.figures.Finished(tasks); h.webhooks.Finished(tasks) },
	}
	if h.tasks, err = h.node.OpenTasks(ctx, p, options); err != nil {
		return err
	}
	h.metrics.Add(func() []metrics.Family { return figures.Service(h.tasks, h.search) })
	return nil
}

// A processor hands each task to those who do such.
type processor struct {
	search   *search.Service
	archives *backup.Archiver
	exports  *export.Service
}

// Process implements [task.Processor].
func (p *processor) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	switch r.Works[0].Type {
	case task.DumpCreation, task.SnapshotCreation:
		return p.archives.Process(ctx, r)
	case task.Export:
		return p.exports.Process(ctx, r)
	}
	return p.search.Process(ctx, r)
}

// openWebhooks returns what tells addresses of finished tasks: the operator's,
// where one is configured, and those that clients added.
func (h *Host) openWebhooks(ctx context.Context, c config.Config, o Options, db *store.Store, sealer *store.Sealer) (*webhook.Service, error) {
	var operator *webhook.Hook
	if c.TaskWebhook != nil {
		operator = &webhook.Hook{URL: c.TaskWebhook.String()}
		if !c.TaskWebhookAuthorization.IsZero() {
			operator.Headers = map[string]secret.Text{"Authorization": c.TaskWebhookAuthorization}
		}
	}
	hooks, err := webhook.Open(ctx, webhook.Options{
		Store: db.Webhooks(sealer), Operator: operator, Render: taskapi.JSON,
		Post: func(hook webhook.Hook) (webhook.Poster, error) {
			to, err := upstream.ParseWebhookURL(hook.URL)
			if err != nil {
				return nil, err
			}
			return upstream.NewWebhook(to, hook.Headers, upstream.Options{UserAgent: "parley/" + o.Version, Private: c.PrivateNetworks}), nil
		},
		Failed: func(uid string, err error) { h.log.Warn().Str("webhook", uid).Err(err).Msg("webhook failed") },
	})
	if err != nil {
		return nil, err
	}
	h.onClose("webhooks", hooks.Close)
	return hooks, nil
}

// prepareAfter is how long a host serves before it prepares for files: clients that waited for its start are
// being answered by then.
const prepareAfter = 10 * time.Second

// openFiles returns what reads the files that clients send. What PDF files need is compiled some time after
// the start, not with the first of them, and in a process of its own.
func (h *Host) openFiles(c config.Config, o Options) *reader.Reader {
	p := pdf.New(PluginCacheDir(c), o.Compiler)
	h.onClose("the reader of PDF files", p.Close)
	if len(o.Compiler) > 0 {
		h.onClose("the preparation for PDF files", h.runInBackground(func(ctx context.Context) {
			select {
			case <-time.After(prepareAfter):
			case <-ctx.Done():
				return
			}
			if err := p.Prepare(ctx); err != nil && ctx.Err() == nil {
				h.log.Warn().Err(err).Msg("not prepared for PDF files: the first one will try again")
			}
		}))
	}
	return &reader.Reader{PDF: p}
}
