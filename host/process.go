package host

import (
	"context"

	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/egress/export"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/search"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/figures"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/task"
)

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
