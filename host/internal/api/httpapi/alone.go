package httpapi

import (
	"context"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// Alone is the [Cluster] of a host that is alone: it takes every write, and is never behind.
type Alone struct{}

var _ Cluster = Alone{}

// errAlone refuses what only a cluster does.
var errAlone = apierr.Newf(apierr.ClusterNotEnabled, "This host is not a node of a cluster: it was started without `--cluster-name`.")

func (Alone) Leader() (url string, term uint64, here bool)        { return "", 0, true }
func (Alone) TermEnds(ctx context.Context, _ uint64) error        { <-ctx.Done(); return ctx.Err() }
func (Alone) Position() (log, seq uint64)                         { return 0, 0 }
func (Alone) WaitFor(context.Context, uint64, bool, string) error { return nil }
func (Alone) Refuses() bool                                       { return false }
func (Alone) Status() ClusterStatus                               { return ClusterStatus{} }
func (Alone) Vouch(string) string                                 { return "" }
func (Alone) Vouched(_, _ string) bool                            { return false }
func (Alone) Snapshot(context.Context, uint64) (ClusterSnapshot, error) {
	return ClusterSnapshot{}, errAlone
}

func (Alone) HandOver(context.Context) (ClusterHandover, error) { return ClusterHandover{}, errAlone }

func (Alone) Raise(context.Context) (ClusterUpgrade, error) { return ClusterUpgrade{}, errAlone }
