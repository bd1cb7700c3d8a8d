package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/task"
)

func one(o task.Outcome, err error) ([]task.Outcome, error) {
	return []task.Outcome{o}, err
}

func (s *Writer) applyCreation(ctx context.Context, w *task.Work) (task.Outcome, error) {
	p, _, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	if ix := s.indexes.Find(w.IndexUID); ix != nil {
		if m := ix.Meta(); m.Created && m.CreatedBy == w.UID {
			return task.Outcome{}, nil // made before the crash
		}
		return task.Outcome{Err: task.Fail(apierr.Newf(indexerr.IndexAlreadyExists, "Index `%s` already exists.", w.IndexUID))}, nil
	}
	m := s.indexes.NewMeta(w.IndexUID, w.UID)
	m.Created = true
	m.PrimaryKey = p.PrimaryKey
	_, err = s.indexes.Create(ctx, m)
	if e, ok := taskFailure(err); ok {
		return task.Outcome{Err: task.Fail(e)}, nil
	}
	return task.Outcome{}, err
}

// applyUpdate sets the primary key, which only an index without documents lets
// happen, and the uid.
func (s *Writer) applyUpdate(ctx context.Context, w *task.Work) (task.Outcome, error) {
	if o, ok, err := s.outcome(w.UID); ok || err != nil {
		return o, err // renamed before the crash
	}
	p, _, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	ix := s.indexes.Find(w.IndexUID)
	if ix == nil {
		return task.Outcome{Err: task.Fail(index.NotFound(w.IndexUID))}, nil
	}
	unlock, err := ix.Lock(ctx)
	if err != nil {
		return task.Outcome{}, err
	}
	defer unlock()
	m := ix.Meta().Clone()
	switch rekeyed := p.PrimaryKey != "" && p.PrimaryKey != m.PrimaryKey; {
	case rekeyed && m.Count > 0 && m.PrimaryKey != "":
		return task.Outcome{Err: task.Fail(keyExists(m))}, nil
	case rekeyed:
		m.PrimaryKey = p.PrimaryKey
	case p.UID == "":
		return task.Outcome{}, nil
	}
	m.UpdatedAt = s.indexes.Now().UTC()
	if p.UID == "" {
		return task.Outcome{}, ix.PutMeta(ctx, m)
	}
	if s.indexes.Find(p.UID) != nil {
		return task.Outcome{Err: task.Fail(uidTaken(p.UID))}, nil
	}
	m.UID = p.UID
	return task.Outcome{}, s.putRenamed(ctx, w, map[string][]byte{w.IndexUID: nil, m.UID: m.Encode()}, map[*index.Index]*index.Meta{ix: m})
}

func keyExists(m *index.Meta) *apierr.Error {
	return apierr.Newf(indexerr.IndexPrimaryKeyAlreadyExists, "Index `%s` already has a primary key: `%s`. To change it, delete the documents first.", m.UID, m.PrimaryKey)
}

func (s *Writer) applyDeletion(ctx context.Context, w *task.Work) (task.Outcome, error) {
	if o, ok, err := s.outcome(w.UID); ok || err != nil {
		return o, err // deleted before the crash
	}
	ix := s.indexes.Find(w.IndexUID)
	if ix == nil {
		return task.Outcome{Err: task.Fail(index.NotFound(w.IndexUID))}, nil
	}
	unlock, err := ix.LockToRemove(ctx)
	if err != nil {
		return task.Outcome{}, err
	}
	defer unlock()
	out := task.Outcome{Details: details("deletedDocuments", ix.Meta().Count)}
	if err := s.indexes.DB.PutMetas(map[string][]byte{w.IndexUID: nil}, map[uint32][]byte{w.UID: encodeOutcome(out)}); err != nil {
		return task.Outcome{}, fmt.Errorf("delete index: %w", err)
	}
	if err := s.indexes.Remove(ctx, ix); err != nil {
		return task.Outcome{}, err
	}
	return out, s.indexes.SweepDocuments()
}

// applySettings patches the settings. Where they want another folder, it is
// built first, while the old one answers under the old settings; then both
// change at once.
func (s *Writer) applySettings(ctx context.Context, r *task.Run, w *task.Work) (task.Outcome, error) {
	p, body, err := decodePayload(w.Payload)
	if err != nil {
		return task.Outcome{}, err
	}
	ix := s.indexes.Find(w.IndexUID)
	if ix == nil && p.Reset {
		return task.Outcome{Err: task.Fail(index.NotFound(w.IndexUID))}, nil
	}
	if ix == nil {
		m := s.indexes.NewMeta(w.IndexUID, w.UID)
		if err := m.Settings.Apply(body); err != nil {
			return task.Outcome{Err: task.Fail(err)}, nil
		}
		if err := r.Begin(); err != nil {
			return task.Outcome{}, err
		}
		_, err := s.indexes.Create(ctx, m)
		return task.Outcome{Err: p.Refused}, err
	}
	unlock, err := ix.Lock(ctx)
	if err != nil {
		return task.Outcome{}, err
	}
	defer unlock()
	m := ix.Meta().Clone()
	if err := m.Settings.Apply(body); err != nil {
		return task.Outcome{Err: task.Fail(err)}, nil
	}
	m.UpdatedAt = s.indexes.Now().UTC()
	vectors, err := s.changeVectors(ctx, r, ix, m)
	if e, ok := taskFailure(err); ok {
		return task.Outcome{Err: task.Fail(e)}, nil
	}
	if err != nil {
		return task.Outcome{}, err
	}
	report := func(done int) {
		r.Report(task.Progress{Step: "building the index anew", Done: done, Total: m.Count})
	}
	if err = ix.PutSettings(ctx, m, r.Begin, report); err == nil {
		if err := s.indexes.Await(ctx, ix); err != nil {
			return task.Outcome{}, err // who leads next removes what is left
		}
	}
	err = errors.Join(err, vectors.end(ctx, err == nil))
	if err != nil {
		return task.Outcome{Err: p.Refused}, err
	}
	return task.Outcome{Err: p.Refused, Details: s.warnOfTemplate(ctx, m, w.Details)}, nil
}

// outcome returns what is kept for a task that was applied before a crash.
func (s *Writer) outcome(uid uint32) (o task.Outcome, ok bool, err error) {
	b, err := s.indexes.DB.Outcome(uid)
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
