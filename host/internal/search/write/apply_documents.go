package write

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
	"github.com/parley-search/parley/host/internal/task"
)

// resumeDocuments is applyDocuments for works of which some may have been
// written before a crash, or before a failure of the machine.
func (s *Writer) resumeDocuments(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
	works := r.Works
	var before []task.Outcome
	for i := range works {
		o, ok, err := s.outcome(works[i].UID)
		if err != nil {
			return nil, err
		}
		if !ok {
			break // they were applied in order
		}
		before = append(before, o)
	}
	if ix := s.indexes.Find(works[0].IndexUID); ix != nil && len(before) > 0 {
		unlock, err := ix.Lock(ctx)
		if err != nil {
			return nil, err
		}
		err = ix.MakeReady(ctx)
		unlock()
		if err != nil {
			return nil, err
		}
	}
	if len(before) == len(works) {
		return before, nil
	}
	after, err := s.applyDocuments(ctx, r, works[len(before):])
	return append(before, after...), err
}

// applyDocuments applies document tasks of one index in order, in parts that
// memory bounds: of what one part changes twice, only what is left at its end
// counts. A task is looked at whole before any of it is written, so that one
// that fails leaves nothing; the others go on.
func (s *Writer) applyDocuments(ctx context.Context, r *task.Run, works []task.Work) (_ []task.Outcome, err error) {
	b := &docBatch{
		service: s, run: r, uid: works[0].IndexUID, first: works[0].UID,
		changes: map[string]*docChange{}, fields: map[string]struct{}{}, outcomes: map[uint32][]byte{},
		dims: map[string]int{}, inputs: map[string]*inputMaker{},
	}
	if b.ix = s.indexes.Find(b.uid); b.ix != nil {
		unlock, err := b.ix.Lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
		m := b.ix.Meta()
		b.key = m.PrimaryKey
		for _, f := range m.Fields {
			b.fields[f] = struct{}{}
		}
	}
	defer func() {
		if b.leaveHeap != nil {
			b.leaveHeap()
		}
		if err != nil && b.words != nil {
			err = errors.Join(err, b.words.Drop())
		}
	}()
	outcomes := make([]task.Outcome, len(works))
	for i := range works {
		b.current = works[i].UID
		if outcomes[i], err = b.take(ctx, &works[i]); err != nil {
			return nil, fmt.Errorf("apply documents to index %q: %w", b.uid, err)
		}
		b.outcomes[works[i].UID] = encodeOutcome(outcomes[i])
		if r.Late() {
			outcomes = outcomes[:i+1]
			break
		}
	}
	if err := b.finish(ctx); err != nil {
		return nil, fmt.Errorf("apply documents to index %q: %w", b.uid, err)
	}
	return outcomes, nil
}

// A docBatch applies document tasks. It gathers changes, which flush writes.
type docBatch struct {
	service *Writer
	run     *task.Run
	uid     string
	ix      *index.Index // nil: the index is not there yet
	key     string       // primary key; "": not known yet
	fields  map[string]struct{}
	made    bool   // a task succeeded that makes the index
	emptied bool   // the documents there before are all gone, for readers at the end
	first   uint32 // task of the batch
	current uint32 // task that is applied

	dims   map[string]int         // of vectors, by embedder, where known
	inputs map[string]*inputMaker // by embedder
	staged bool                   // there are vectors in stagedSet

	order   []string // of changes
	changes map[string]*docChange
	size    int64 // bytes in changes

	// outcomes are of tasks whose changes are all in changes, or written.
	outcomes map[uint32][]byte

	leaveHeap func() // see [heapBound]; nil: the batch is small so far

	begun bool
	meta  *index.Meta // as of the next transaction; once begun
	words index.Words // of the documents; once begun
	part  uint32      // transactions written
	docs  int         // documents written, for the progress
}

// A docChange is one document before and after.
type docChange struct {
	old  storage.Document // zero Seq: absent
	body []byte           // nil: deleted
	// vectors are those that change, by embedder; nil: none any more.
	vectors map[string]*vector.Document
}

// take applies one task. An error is the machine's.
func (b *docBatch) take(ctx context.Context, w *task.Work) (_ task.Outcome, err error) {
	p, inline, err := decodePayload(w.Payload)
	if errors.Is(err, errNewer) {
		return task.Outcome{Err: task.Fail(errNewer)}, nil
	}
	if err != nil {
		return task.Outcome{}, err
	}
	if w.Type == task.DocumentDeletion {
		return b.delete(ctx, p)
	}
	a := addition{payload: p, open: bodyOf(w, inline), batch: b}
	defer func() { err = errors.Join(err, b.unstage()) }()
	if err := a.survey(ctx); err != nil {
		if e, ok := errors.AsType[*apierr.Error](err); ok {
			return task.Outcome{Err: task.Fail(e), Details: a.details(w, 0)}, nil
		}
		return task.Outcome{}, err
	}
	b.made = true
	if a.n > 0 {
		b.key = a.key
	}
	for _, f := range a.fields {
		b.fields[f] = struct{}{}
	}
	err = a.each(ctx, func(d ingest.Received) error { return b.put(ctx, d, p.Partial) })
	return task.Outcome{Details: a.details(w, a.n)}, err
}

// partDocs bounds the documents that are changed by one part.
const partDocs = 10_000

// put adds one document to the part.
func (b *docBatch) put(ctx context.Context, d ingest.Received, partial bool) error {
	c, err := b.change(d.ID)
	if err != nil {
		return err
	}
	b.size += int64(len(d.Body) - len(c.body))
	fresh := c.body == nil || !partial
	if partial && c.body != nil {
		d.Body = rawjson.Merge(c.body, d.Body)
	}
	if err := b.putVectors(ctx, c, d, fresh); err != nil {
		return err
	}
	c.body = d.Body
	return b.flushIfFull(ctx)
}

func (b *docBatch) flushIfFull(ctx context.Context) error {
	if len(b.order) < partDocs && b.size < b.service.indexes.PartBytes() {
		return nil
	}
	return b.flush(ctx, false)
}

// change returns what is to be done to a document.
func (b *docBatch) change(id string) (*docChange, error) {
	if c := b.changes[id]; c != nil {
		return c, nil
	}
	old, err := b.stored(id)
	if err != nil {
		return nil, err
	}
	c := &docChange{old: old, body: old.Body}
	b.size += 2 * int64(len(c.body))
	b.changes[id] = c
	b.order = append(b.order, id)
	b.size += int64(len(id)) + 100 // what keeping it costs
	return c, nil
}

// stored returns a document as it was written last; with a zero Seq where it is absent.
func (b *docBatch) stored(id string) (storage.Document, error) {
	m := b.record()
	if m == nil {
		return storage.Document{}, nil
	}
	docs, err := b.service.indexes.DB.Documents(m.Docs, []string{id})
	if err != nil {
		return storage.Document{}, fmt.Errorf("read document: %w", err)
	}
	return docs[0], nil
}

// has reports whether the index has a document after the changes so far.
func (b *docBatch) has(id string) (bool, error) {
	if c := b.changes[id]; c != nil {
		return c.body != nil, nil
	}
	d, err := b.stored(id)
	return d.Seq != 0, err
}

// record is that of the index as the changes find it, nil where there is none.
func (b *docBatch) record() *index.Meta {
	switch {
	case b.meta != nil:
		return b.meta
	case b.ix != nil:
		return b.ix.Meta()
	}
	return nil
}

// delete applies a task of task.DocumentDeletion.
func (b *docBatch) delete(ctx context.Context, p payload) (task.Outcome, error) {
	var wrote any
	if p.Filter != nil {
		wrote = string(p.Filter)
	}
	result := func(n int, err error) (task.Outcome, error) {
		return task.Outcome{Details: details("providedIds", len(p.IDs), "deletedDocuments", n, "originalFilter", wrote)}, err
	}
	failed := func(why error) (task.Outcome, error) {
		o, _ := result(0, nil)
		o.Err = task.Fail(why)
		return o, nil
	}
	switch {
	case b.ix == nil && !b.made:
		return failed(index.NotFound(b.uid))
	case p.All:
		return result(b.deleteAll(ctx))
	case p.Filter != nil:
		if err := b.flush(ctx, false); err != nil {
			return task.Outcome{}, err
		}
		cond, err := b.ix.ParseFilter(b.meta, p.Filter, indexerr.InvalidDocumentFilter, nil)
		if err != nil {
			return failed(err)
		}
		return result(b.deleteChosen(ctx, cond))
	}
	n := 0
	for _, id := range p.IDs {
		deleted, err := b.remove(ctx, id)
		if err != nil {
			return result(0, err)
		}
		if deleted {
			n++
		}
	}
	return result(n, nil)
}

// remove deletes one document and reports whether there was one.
func (b *docBatch) remove(ctx context.Context, id string) (bool, error) {
	c, err := b.change(id)
	if err != nil {
		return false, err
	}
	was := c.body != nil
	b.size -= int64(len(c.body))
	c.body = nil
	return was, b.flushIfFull(ctx)
}

// deleteAll begins anew, see startEmpty.
func (b *docBatch) deleteAll(ctx context.Context) (int, error) {
	if err := b.flush(ctx, false); err != nil {
		return 0, err
	}
	n := b.meta.Count
	clear(b.fields)
	return n, b.startEmpty()
}

// deleteChosen deletes what a filter chooses of all that is written.
func (b *docBatch) deleteChosen(ctx context.Context, cond *filter.Node) (n int, err error) {
	err = b.service.indexes.DB.Scan(ctx, b.meta.Docs, func(d storage.Document) error {
		if !cond.Matches(d.Body) {
			return nil
		}
		n++
		_, err := b.remove(ctx, d.ID)
		return err
	})
	return n, err
}
