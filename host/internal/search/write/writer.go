// Package write makes the tasks that change indexes and applies them: it is all that
// writes to an index.
//
// The functions of tasks.go, incoming.go, settings_tasks.go and swap.go make tasks,
// checked as far as they can be before their turn; [Writer.Process] applies them.
// Documents go this way: survey looks at a whole body (addition.go) and has the
// vectors made that its documents will need (apply_vectors.go, stage_vectors.go), then
// a batch gathers what changes (apply_documents.go, put_vectors.go) and writes it in
// parts (flush.go): documents first, in one transaction with the record of the index,
// then their words. A change of embedders fills new sets of vectors first
// (apply_embedders.go, set_work.go), and the settings change with them.
package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/embedder"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/task"
)

// A Writer makes the tasks that change indexes, and applies them.
type Writer struct {
	indexes   *index.Catalog
	embedders *embedder.Service
	bodies    Bodies // of tasks; nil: a body must be small
}

// NewWriter returns a writer to indexes. What embedders make of documents it has
// embedders make; bodies keeps the bodies that [Writer.ReadDocuments] reads.
func NewWriter(indexes *index.Catalog, embedders *embedder.Service, bodies Bodies) *Writer {
	return &Writer{indexes, embedders, bodies}
}

// Process implements [task.Processor]. It is not for concurrent use; searches
// go on meanwhile.
//
// Whatever the crash, applying the same works again ends in the same state:
// documents are put and deleted by id, a settings patch over itself changes
// nothing, an index knows the task that made it, and of a deletion the outcome
// is kept with it.
func (s *Writer) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	outcomes, err := s.process(ctx, r)
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok || e.Code != indexerr.IndexHalted && e != errNewer {
		return outcomes, err
	}
	// Nobody knows when it could be applied, and the tasks of other indexes wait.
	outcomes = outcomes[:0]
	for range r.Works {
		outcomes = append(outcomes, task.Outcome{Err: task.Fail(e)})
	}
	return outcomes, nil
}

func (s *Writer) process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	if err := s.indexes.Await(ctx, nil); err != nil {
		return nil, err
	}
	w := &r.Works[0]
	switch w.Type {
	case task.DocumentAddition, task.DocumentDeletion:
		return s.resumeDocuments(ctx, r)
	case task.SettingsUpdate:
		return one(s.applySettings(ctx, r, w))
	}
	if err := r.Begin(); err != nil {
		return nil, err
	}
	switch w.Type {
	case task.IndexCreation:
		return one(s.applyCreation(ctx, w))
	case task.IndexUpdate:
		return one(s.applyUpdate(ctx, w))
	case task.IndexDeletion:
		return one(s.applyDeletion(ctx, w))
	case task.IndexSwap:
		return one(s.applySwap(ctx, w))
	}
	return nil, fmt.Errorf("apply task of unknown type %q", w.Type)
}
