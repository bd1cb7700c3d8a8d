package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search/folder"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// Process implements [task.Processor]. It is not for concurrent use; searches
// go on meanwhile.
//
// Whatever the crash, applying the same works again ends in the same state:
// documents are put and deleted by id, a settings patch over itself changes
// nothing, an index knows the task that made it, and of a deletion the outcome
// is kept with it.
func (s *Service) Process(ctx context.Context, r *task.Run) ([]task.Outcome, error) {
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
		return one(s.applyCreation(w))
	case task.IndexUpdate:
		return one(s.applyUpdate(ctx, w))
	case task.IndexDeletion:
		return one(s.applyDeletion(ctx, w))
	case task.IndexSwap:
		return one(s.applySwap(ctx, w))
	}
	return nil, fmt.Errorf("apply task of unknown type %q", w.Type)
}

func one(o task.Outcome, err error) ([]task.Outcome, error) {
	return []task.Outcome{o}, err
}

// find returns the index of a uid, or nil.
func (s *Service) find(uid string) *index {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.indexes[uid]
}

// newMeta is the record of a new index.
func (s *Service) newMeta(uid string, by uint32) *meta {
	now := s.opts.Now().UTC()
	return &meta{
		UID: uid, CreatedAt: now, UpdatedAt: now, CreatedBy: by,
		Settings: settings.DefaultSettings(), Docs: uuid.NewString(), Next: by, Pruned: by, Vectors: &vectorCount{},
	}
}

// create makes an index with the record m, and serves it.
func (s *Service) create(m *meta) (*index, error) {
	f, err := folder.Create(s.opts.Dir, settings.SchemaOf(&m.Settings))
	if err != nil {
		return nil, err
	}
	if err := f.Writer(nil, s.limits).Finish(m.Next); err != nil {
		return nil, err
	}
	ix := newIndex(s, m)
	if err := ix.swap(f, m); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexes[m.UID] = ix
	return ix, nil
}

func (s *Service) applyCreation(w *task.Work) (task.Outcome, error) {
	p, _, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	if ix := s.find(w.IndexUID); ix != nil {
		if m := ix.meta(); m.Created && m.CreatedBy == w.UID {
			return task.Outcome{}, nil // made before the crash
		}
		return task.Outcome{Err: task.Fail(apierr.Newf(apierr.IndexAlreadyExists, "Index `%s` already exists.", w.IndexUID))}, nil
	}
	m := s.newMeta(w.IndexUID, w.UID)
	m.Created = true
	m.PrimaryKey = p.PrimaryKey
	_, err = s.create(m)
	return task.Outcome{}, err
}

// applyUpdate sets the primary key, which only an index without documents lets
// happen.
func (s *Service) applyUpdate(ctx context.Context, w *task.Work) (task.Outcome, error) {
	p, _, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	ix := s.find(w.IndexUID)
	if ix == nil {
		return task.Outcome{Err: task.Fail(notFound(w.IndexUID))}, nil
	}
	unlock, err := ix.lock(ctx)
	if err != nil {
		return task.Outcome{}, err
	}
	defer unlock()
	m := ix.meta().clone()
	if p.PrimaryKey == "" || p.PrimaryKey == m.PrimaryKey {
		return task.Outcome{}, nil
	}
	if m.Count > 0 && m.PrimaryKey != "" {
		return task.Outcome{Err: task.Fail(keyExists(m))}, nil
	}
	m.PrimaryKey = p.PrimaryKey
	m.UpdatedAt = s.opts.Now().UTC()
	return task.Outcome{}, ix.putMeta(m)
}

func keyExists(m *meta) *apierr.Error {
	return apierr.Newf(apierr.IndexPrimaryKeyAlreadyExists, "Index `%s` already has a primary key: `%s`. To change it, delete the documents first.", m.UID, m.PrimaryKey)
}

func (s *Service) applyDeletion(ctx context.Context, w *task.Work) (task.Outcome, error) {
	if o, ok, err := s.outcome(w.UID); ok || err != nil {
		return o, err // deleted before the crash
	}
	ix := s.find(w.IndexUID)
	if ix == nil {
		return task.Outcome{Err: task.Fail(notFound(w.IndexUID))}, nil
	}
	unlock, err := ix.lock(ctx)
	if err != nil {
		return task.Outcome{}, err
	}
	defer unlock()
	out := task.Outcome{Details: details("deletedDocuments", ix.meta().Count)}
	if err := s.opts.DB.PutMetas(map[string][]byte{w.IndexUID: nil}, map[uint32][]byte{w.UID: encodeOutcome(out)}); err != nil {
		return task.Outcome{}, fmt.Errorf("delete index: %w", err)
	}
	s.mu.Lock()
	delete(s.indexes, w.IndexUID)
	s.mu.Unlock()
	ix.drop()
	return out, s.sweepDocuments()
}

// sweepDocuments removes the documents that no index has.
func (s *Service) sweepDocuments() error {
	s.mu.RLock()
	known := map[string]bool{}
	for _, ix := range s.indexes {
		known[ix.meta().Docs] = true
	}
	s.mu.RUnlock()
	s.spaces.Keep(func(docs string, _ uint32) bool { return known[docs] })
	if err := s.opts.DB.Sweep(func(docs string) bool { return known[docs] }); err != nil {
		return fmt.Errorf("remove documents of deleted indexes: %w", err)
	}
	return nil
}

// applySettings patches the settings. Where they want another folder, it is
// built first, while the old one answers under the old settings; then both
// change at once.
func (s *Service) applySettings(ctx context.Context, r *task.Run, w *task.Work) (task.Outcome, error) {
	p, body, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	ix := s.find(w.IndexUID)
	if ix == nil && p.Reset {
		return task.Outcome{Err: task.Fail(notFound(w.IndexUID))}, nil
	}
	if ix == nil {
		m := s.newMeta(w.IndexUID, w.UID)
		if err := m.Settings.Apply(body); err != nil {
			return task.Outcome{Err: task.Fail(err)}, nil
		}
		if err := r.Begin(); err != nil {
			return task.Outcome{}, err
		}
		_, err := s.create(m)
		return task.Outcome{Err: p.Refused}, err
	}
	unlock, err := ix.lock(ctx)
	if err != nil {
		return task.Outcome{}, err
	}
	defer unlock()
	m := ix.meta().clone()
	if err := m.Settings.Apply(body); err != nil {
		return task.Outcome{Err: task.Fail(err)}, nil
	}
	m.UpdatedAt = s.opts.Now().UTC()
	vectors, err := s.changeVectors(ctx, r, ix, m)
	if e, ok := taskFailure(err); ok {
		return task.Outcome{Err: task.Fail(e)}, nil
	}
	if err != nil {
		return task.Outcome{}, err
	}
	err = s.commitSettings(ctx, r, ix, m)
	return task.Outcome{Err: p.Refused}, errors.Join(err, vectors.end(ctx, err == nil))
}

// commitSettings makes m, which has new settings, the index's record, with a
// folder that serves them.
func (s *Service) commitSettings(ctx context.Context, r *task.Run, ix *index, m *meta) error {
	if f := ix.state.Load().folder; f != nil && f.Schema.Serves(settings.SchemaOf(&m.Settings)) {
		if err := r.Begin(); err != nil {
			return err
		}
		if err := ix.putMeta(m); err != nil {
			return err
		}
		ix.slim()
		return nil
	}
	f, err := s.buildFolder(ctx, m, settings.SchemaOf(&m.Settings), func(done int) {
		r.Report(task.Progress{Step: "building the index anew", Done: done, Total: m.Count})
	})
	if err != nil {
		return err
	}
	if err := r.Begin(); err != nil {
		return errors.Join(err, f.Remove())
	}
	return ix.swap(f, m)
}

// slim builds the folder anew in the background where it has words that are not
// searched any more. Until then searches leave them out, which costs time.
func (ix *index) slim() {
	if st := ix.state.Load(); st.folder != nil && st.folder.Schema.Excess(settings.SchemaOf(&st.meta.Settings)) {
		ix.startRepair(ix.service.ctx, st.folder)
	}
}

// putMeta changes the index's record and nothing else.
func (ix *index) putMeta(m *meta) error {
	if err := ix.service.opts.DB.PutMeta(ix.uid(), m.encode()); err != nil {
		return fmt.Errorf("write record of index: %w", err)
	}
	ix.state.Store(&state{m, ix.state.Load().folder})
	return nil
}

// outcome returns what is kept for a task that was applied before a crash.
func (s *Service) outcome(uid uint32) (o task.Outcome, ok bool, err error) {
	b, err := s.opts.DB.Outcome(uid)
	if err != nil {
		return o, false, fmt.Errorf("read outcome of task %d: %w", uid, err)
	}
	if b == nil {
		return o, false, nil
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, false, fmt.Errorf("decode outcome of task %d: %w", uid, err)
	}
	return o, true, nil
}
