package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/task"
)

// resumeDocuments is applyDocuments for works of which some may have been
// written before a crash, or before a failure of the machine.
func (s *Service) resumeDocuments(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
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
	if ix := s.find(works[0].IndexUID); ix != nil && len(before) > 0 {
		unlock, err := ix.lock(ctx)
		if err != nil {
			return nil, err
		}
		err = ix.ready(ctx)
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

// applyDocuments applies document tasks of one index in order, as one batch:
// what counts is what is left at its end. A task that fails leaves nothing,
// the others go on.
func (s *Service) applyDocuments(ctx context.Context, r *task.Run, works []task.Work) ([]task.Outcome, error) {
	uid := works[0].IndexUID
	b := &docBatch{service: s, uid: uid, changes: map[string]*docChange{}, fields: map[string]struct{}{}}
	if b.ix = s.find(uid); b.ix != nil {
		unlock, err := b.ix.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer unlock()
		m := b.ix.meta()
		b.key, b.docs, b.keyFixed = m.PrimaryKey, m.Docs, m.PrimaryKey != ""
		for _, f := range m.Fields {
			b.fields[f] = struct{}{}
		}
	}
	outcomes := make([]task.Outcome, len(works))
	for i := range works {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if outcomes[i], err = b.take(&works[i]); err != nil {
			return nil, err
		}
	}
	if err := r.Begin(); err != nil {
		return nil, err
	}
	if err := b.commit(ctx, works, outcomes); err != nil {
		return nil, fmt.Errorf("apply documents to index %q: %w", uid, err)
	}
	return outcomes, nil
}

// A docBatch gathers what document tasks change, before anything is written.
type docBatch struct {
	service  *Service
	uid      string
	ix       *index // nil: the index is not there yet
	docs     string
	key      string
	keyFixed bool
	made     bool // a task succeeded that makes the index
	emptied  bool // the documents there before are all gone
	order    []string
	changes  map[string]*docChange
	fields   map[string]struct{} // of the index and of what is taken
}

// A docChange is one document before and after.
type docChange struct {
	old  Document // zero Seq: absent
	body []byte   // nil: deleted
	done bool     // touched by a task that succeeded
}

// take adds one task to the batch. An error is the machine's.
func (b *docBatch) take(w *task.Work) (task.Outcome, error) {
	p, body, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	if w.Type == task.DocumentDeletion {
		return b.delete(w, p)
	}
	failed := func(err error, n any) (task.Outcome, error) {
		return task.Outcome{Err: task.Fail(err), Details: details("receivedDocuments", n, "indexedDocuments", 0)}, nil
	}
	n, err := countDocuments(body)
	if err != nil {
		return failed(err, 0)
	}
	key := b.key
	if p.PrimaryKey != "" && p.PrimaryKey != key {
		if b.keyFixed {
			m := &meta{UID: b.uid, PrimaryKey: key}
			return failed(keyExists(m), n)
		}
		key = p.PrimaryKey
	}
	docs, key, err := receive(body, key)
	if err == nil {
		err = b.number(docs)
	}
	if err != nil {
		return failed(err, n)
	}
	b.made = true
	if len(docs) > 0 {
		b.key, b.keyFixed = key, true
	}
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].id
	}
	if err := b.load(ids); err != nil {
		return task.Outcome{}, err
	}
	for _, d := range docs {
		c := b.changes[d.id]
		if p.Partial && c.body != nil {
			d.body = merge(c.body, d.body)
		}
		c.body, c.done = d.body, true
	}
	return task.Outcome{Details: details("receivedDocuments", n, "indexedDocuments", len(docs))}, nil
}

// number makes sure that the fields of docs still have numbers.
func (b *docBatch) number(docs []received) error {
	var added []string
	for _, d := range docs {
		eachField(d.body, func(path string) {
			if _, ok := b.fields[path]; !ok {
				b.fields[path] = struct{}{}
				added = append(added, path)
			}
		})
	}
	if len(b.fields) <= maxFields {
		return nil
	}
	for _, f := range added {
		delete(b.fields, f)
	}
	return apierr.Newf(apierr.MaxFieldsLimitExceeded, "With these documents the index would have more than %d different fields. No document of this task was kept.", maxFields)
}

// delete adds a task of task.DocumentDeletion.
func (b *docBatch) delete(w *task.Work, p payload) (task.Outcome, error) {
	if b.ix == nil && !b.made {
		return task.Outcome{Err: task.Fail(notFound(b.uid)), Details: details("providedIds", len(p.IDs), "deletedDocuments", 0, "originalFilter", nil)}, nil
	}
	deleted := 0
	if p.All {
		if !b.emptied && b.ix != nil {
			deleted = b.ix.meta().Count
		}
		for _, c := range b.changes {
			// Count what was added by this batch, not what it deleted.
			switch {
			case c.body != nil && (c.old.Seq == 0 || b.emptied):
				deleted++
			case c.body == nil && c.old.Seq != 0 && !b.emptied:
				deleted--
			}
			c.body, c.done = nil, true
		}
		b.emptied = b.emptied || b.ix != nil
	} else {
		if err := b.load(p.IDs); err != nil {
			return task.Outcome{}, err
		}
		for _, id := range p.IDs {
			if c := b.changes[id]; c.body != nil {
				c.body, c.done = nil, true
				deleted++
			}
		}
	}
	return task.Outcome{Details: details("providedIds", len(p.IDs), "deletedDocuments", deleted, "originalFilter", nil)}, nil
}

// load makes sure that b.changes has the ids.
func (b *docBatch) load(ids []string) error {
	var want []string
	for _, id := range ids {
		if b.changes[id] == nil {
			b.changes[id] = &docChange{}
			b.order = append(b.order, id)
			want = append(want, id)
		}
	}
	if b.ix == nil || b.emptied || len(want) == 0 {
		return nil
	}
	docs, err := b.service.opts.DB.Documents(b.docs, want)
	if err != nil {
		return fmt.Errorf("read documents: %w", err)
	}
	for i, d := range docs {
		if d.Seq != 0 {
			b.changes[want[i]].old = d
			b.changes[want[i]].body = d.Body
		}
	}
	return nil
}

// commit writes the batch: first the documents, then the words.
func (b *docBatch) commit(ctx context.Context, works []task.Work, outcomes []task.Outcome) error {
	if b.ix == nil {
		if !b.made {
			return nil
		}
		ix, err := b.service.create(b.service.newMeta(b.uid, works[0].UID))
		if err != nil {
			return err
		}
		b.ix = ix
	}
	if err := b.ix.ready(ctx); err != nil {
		return err
	}
	w := docWriter{docBatch: b, first: works[0].UID, last: works[len(works)-1].UID, outcomes: map[uint32][]byte{}}
	for i := range works {
		w.outcomes[works[i].UID] = encodeOutcome(outcomes[i])
	}
	w.meta, w.folder = b.ix.meta().clone(), b.ix.state.Load().folder
	if b.emptied {
		if err := w.startEmpty(); err != nil {
			return err
		}
	}
	w.meta.PrimaryKey = b.key
	if err := w.writeDocuments(ctx); err != nil {
		if b.emptied {
			err = errors.Join(err, w.folder.remove())
		}
		return err
	}
	if b.emptied {
		if err := b.service.sweepDocuments(); err != nil {
			return err
		}
	}
	return b.ix.writeFolder(ctx, w.changed)
}
