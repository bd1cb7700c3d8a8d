package bleveindex

import (
	"context"
	"fmt"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/scorch/mergeplan"
)

// Unite makes one segment of all that f has, once half of its documents were written
// since it last did: each search looks into every segment, at much the same price. So
// a document that is written pays for two that are merged, at the most, which costs a
// sixth of what it costs to write it. Writers may go on meanwhile. Where ctx ends, or
// the time for it is up, segments stay as they were.
func (f *Folder) Unite(ctx context.Context) error {
	written := f.written.Load()
	if !f.Due() {
		return nil
	}
	idx, letGo, err := f.hold()
	if err != nil {
		return fmt.Errorf("merge segments: %w", err)
	}
	defer letGo()
	n, err := idx.DocCount()
	if err != nil {
		return fmt.Errorf("count documents of index folder: %w", err)
	}
	if written < int64(n)/2 {
		return nil
	}
	// Also where it comes to nothing: it would at the next write, too.
	f.written.Add(-written)
	inside, err := idx.Advanced()
	if err != nil {
		return fmt.Errorf("merge segments: %w", err)
	}
	// On a full disk bleve tries again without end.
	ctx, cancel := context.WithTimeout(ctx, mostUniting)
	defer cancel()
	plan := mergeplan.SingleSegmentMergePlanOptions
	plan.SegmentsPerMergeTask = 1 << 10 // as many as there may be
	plan.MaxSegmentSize = mergeplan.DefaultMergePlanOptions.MaxSegmentSize
	if err := inside.(*scorch.Scorch).ForceMerge(ctx, &plan); err != nil {
		return fmt.Errorf("merge segments: %w", err)
	}
	// bleve deletes the files that were merged behind a write, of which this is one: when
	// it did so for the merge, what merged may not have let go of them.
	if err := idx.SetInternal(keyUnited, nil); err != nil {
		return fmt.Errorf("delete merged segments: %w", err)
	}
	return nil
}

// Due reports whether enough documents were written for [Folder.Unite] to look at f.
func (f *Folder) Due() bool { return f.written.Load() >= leastUnited }

const (
	// leastUnited is from how many written documents on segments are united: of fewer,
	// writing the file costs more than searches gain.
	leastUnited = 2 * BatchDocs
	mostUniting = time.Minute
)
