package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
	"github.com/parley-search/parley/host/internal/task"
)

// A setWork fills one set.
type setWork struct {
	change   *vectorChange
	name     string
	embedder *settings.Embedder // nil: it was taken out of the settings
	from     vector.StoredSet   // the one before; ID 0: none
	set      vector.StoredSet
	count    int
	// resumed: some of the set is there already. SameModel: the embedder makes
	// the same of the same text as the one before.
	resumed, sameModel bool
}

// copy takes over what documents brought themselves, and of the rest what fits.
func (w *setWork) copy(ctx context.Context) error {
	var puts []vectorPut
	db := w.change.service.indexes.DB
	err := db.ScanVectors(ctx, w.change.docs, w.from.ID, func(id string, b []byte) error {
		v, err := vector.Decode(b)
		if err != nil {
			return fmt.Errorf("read vectors of document %q: %w", id, err)
		}
		if v.Made && w.embedder == nil {
			return nil
		}
		if w.embedder != nil {
			if err := vector.CheckDimensions(w.name, v.Vectors, w.set.Dimensions); err != nil {
				if v.Made {
					return nil
				}
				return w.misfit(id, err)
			}
		}
		if puts = append(puts, vectorPut{w.set.ID, id, v}); len(puts) < vectorChunk {
			return nil
		}
		err = w.write(puts)
		puts = nil
		return err
	})
	return errors.Join(err, w.write(puts))
}

// misfit says that a document's own vectors are not those of the new settings.
func (w *setWork) misfit(id string, err error) error {
	e := apierr.From(err)
	return apierr.Newf(e.Code, "Document `%.511s`: %s. Update its `%s`, or the embedder's `dimensions`; the settings are as they were.", id, e.Message, vector.Field)
}

// vectorChunk is how many documents' vectors are written at once.
const vectorChunk = 256

// embed asks the embedder about all documents but those that brought vectors
// themselves.
func (w *setWork) embed(ctx context.Context) error {
	maker, err := documentInputs(w.embedder, &w.change.new.Settings)
	if err != nil {
		return fmt.Errorf("read the templates of embedder %q: %w", w.name, err)
	}
	var chunk []storage.Document
	run := func() error {
		err := w.embedChunk(ctx, maker, chunk)
		chunk = nil
		return err
	}
	done := 0
	err = w.change.service.indexes.DB.Scan(ctx, w.change.docs, func(d storage.Document) error {
		d.Body = slices.Clone(d.Body)
		if chunk = append(chunk, d); len(chunk) < vectorChunk {
			return nil
		}
		done += len(chunk)
		w.change.run.Report(task.Progress{Step: "making vectors", Done: done - len(chunk), Total: w.change.new.Count})
		return run()
	})
	if err == nil {
		err = run()
	}
	if err != nil || !w.resumed {
		return err
	}
	return w.dropStrays(ctx)
}

// dropStrays removes vectors of documents that went between two tries.
func (w *setWork) dropStrays(ctx context.Context) error {
	db := w.change.service.indexes.DB
	var strays []vectorPut
	var ids []string
	look := func() error {
		docs, err := db.Documents(w.change.docs, ids)
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		for i := range docs {
			if docs[i].Seq == 0 {
				strays = append(strays, vectorPut{w.set.ID, ids[i], nil})
			}
		}
		ids = nil
		return nil
	}
	err := db.ScanVectors(ctx, w.change.docs, w.set.ID, func(id string, _ []byte) error {
		if ids = append(ids, id); len(ids) < vectorChunk {
			return nil
		}
		return look()
	})
	if err == nil {
		err = look()
	}
	return errors.Join(err, writeVectors(db, w.change.docs, strays))
}

func (w *setWork) embedChunk(ctx context.Context, maker *inputMaker, docs []storage.Document) error {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	before, err := w.vectors(w.from.ID, ids, true)
	if err != nil {
		return err
	}
	begun, err := w.vectors(w.set.ID, ids, w.resumed)
	if err != nil {
		return err
	}
	var puts []vectorPut
	var asked []*vector.Document
	var inputs []input
	size := 0
	for i, d := range docs {
		old := before[i]
		if old != nil && !old.Made {
			if err := w.fit(d.ID, old.Vectors); err != nil {
				return err
			}
			puts = append(puts, vectorPut{w.set.ID, d.ID, old})
			continue
		}
		in, err := maker.of(ctx, d.Body)
		if err != nil {
			return err
		}
		v := &vector.Document{Seq: d.Seq, Made: true, Text: in.hash}
		switch {
		case madeOfInput(begun[i], v):
			w.keep(v, begun[i])
		case w.sameModel && madeOfInput(old, v):
			w.keep(v, old)
		case len(in.texts) > 0:
			asked, inputs = append(asked, v), append(inputs, in)
			size += in.size()
		}
		puts = append(puts, vectorPut{w.set.ID, d.ID, v})
		if size > maxInputs {
			if err := w.ask(ctx, asked, inputs); err != nil {
				return err
			}
			asked, inputs, size = nil, nil, 0
		}
	}
	if err := w.ask(ctx, asked, inputs); err != nil {
		return err
	}
	return w.write(puts)
}

// ask has the vectors made that inputs stand for.
func (w *setWork) ask(ctx context.Context, asked []*vector.Document, inputs []input) error {
	if len(inputs) == 0 {
		return nil
	}
	made, err := w.change.service.embedInputs(ctx, w.name, w.embedder, w.set.Dimensions, inputs)
	if err != nil {
		return err
	}
	w.set.Dimensions = len(made[0][0])
	for i, v := range asked {
		v.Vectors = made[i]
	}
	return nil
}

// vectors returns what documents have in a set, where it is to be looked at.
func (w *setWork) vectors(set uint32, ids []string, look bool) ([]*vector.Document, error) {
	out := make([]*vector.Document, len(ids))
	if set == 0 || !look {
		return out, nil
	}
	kept, err := w.change.service.indexes.DB.Vectors(w.change.docs, set, ids)
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	for i, b := range kept {
		if b == nil {
			continue
		}
		if out[i], err = vector.Decode(b); err != nil {
			return nil, fmt.Errorf("read vectors of document %q: %w", ids[i], err)
		}
	}
	return out, nil
}

// isOf reports whether v was made of the same document's same text as next is
// to be.
func madeOfInput(v *vector.Document, next *vector.Document) bool {
	return v != nil && v.Made && v.Text == next.Text && v.Seq == next.Seq
}

// keep takes over what was made before.
func (w *setWork) keep(v, from *vector.Document) {
	v.Vectors = from.Vectors
	if w.set.Dimensions == 0 && len(v.Vectors) > 0 {
		w.set.Dimensions = len(v.Vectors[0])
	}
}

// fit checks a document's own vectors against the set's, whose dimensions they
// decide where nothing did before.
func (w *setWork) fit(id string, vectors [][]float32) error {
	if len(vectors) == 0 {
		return nil
	}
	if w.set.Dimensions == 0 {
		w.set.Dimensions = len(vectors[0])
	}
	if err := vector.CheckDimensions(w.name, vectors, w.set.Dimensions); err != nil {
		return w.misfit(id, err)
	}
	return nil
}

func (w *setWork) write(puts []vectorPut) error {
	w.count += len(puts)
	return writeVectors(w.change.service.indexes.DB, w.change.docs, puts)
}
