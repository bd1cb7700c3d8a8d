package write

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// surveyed is how many documents are looked at together.
const surveyed = vectorChunk

// A vectorSurvey checks the vectors that documents of a task bring, and has
// those made that they will need.
type vectorSurvey struct {
	batch   *docBatch
	partial bool
	docs    []ingest.Received
}

// add looks at one more document. An [apierr.Error] is the task's failure.
func (v *vectorSurvey) add(ctx context.Context, d ingest.Received) error {
	if m := v.batch.record(); m == nil || len(m.Settings.Embedders) == 0 {
		return nil
	}
	if v.docs = append(v.docs, d); len(v.docs) < surveyed {
		return nil
	}
	return v.run(ctx)
}

// run looks at what was added.
func (v *vectorSurvey) run(ctx context.Context) error {
	docs := v.docs
	if v.docs = nil; len(docs) == 0 {
		return nil
	}
	bodies, fresh, err := v.batch.bodies(docs, v.partial)
	if err != nil {
		return err
	}
	m := v.batch.record()
	for _, name := range slices.Sorted(maps.Keys(m.Settings.Embedders)) {
		e := m.Settings.Embedders[name]
		old, err := v.batch.oldVectors(name, docs)
		if err != nil {
			return err
		}
		want := map[uint64]bool{}
		var inputs []input
		size := 0
		for i, d := range docs {
			g := d.Given[name]
			if bringsVectors(g) {
				if err := v.batch.fit(d.ID, name, &e, g.Vectors); err != nil {
					return err
				}
				continue
			}
			in, err := v.batch.inputFor(ctx, name, &e, g, old[d.ID], fresh[i], bodies[i])
			if err != nil {
				return err
			}
			if len(in.texts) == 0 || want[in.hash] {
				continue
			}
			want[in.hash] = true
			inputs = append(inputs, in)
			if size += in.size(); size > maxInputs {
				if err := v.batch.stage(ctx, name, &e, inputs); err != nil {
					return err
				}
				inputs, size = nil, 0
			}
		}
		if err := v.batch.stage(ctx, name, &e, inputs); err != nil {
			return err
		}
	}
	return nil
}

// brings reports whether a document has vectors of its own, or says that it is
// to have none.
func bringsVectors(g *ingest.GivenVectors) bool {
	return g != nil && (!g.Regenerate || g.Vectors != nil)
}

// bodies returns the documents as the task will leave them, and which of them
// take nothing over from before.
func (b *docBatch) bodies(docs []ingest.Received, partial bool) (bodies [][]byte, fresh []bool, err error) {
	bodies, fresh = make([][]byte, len(docs)), make([]bool, len(docs))
	var read []string
	for i, d := range docs {
		bodies[i], fresh[i] = d.Body, true
		if partial && b.changes[d.ID] == nil {
			read = append(read, d.ID)
		}
	}
	if !partial {
		return bodies, fresh, nil
	}
	before := map[string][]byte{}
	kept, err := b.service.indexes.DB.Documents(b.record().Docs, read)
	if err != nil {
		return nil, nil, fmt.Errorf("read documents: %w", err)
	}
	for i, d := range kept {
		if d.Seq != 0 {
			before[read[i]] = d.Body
		}
	}
	for i, d := range docs {
		old, ok := before[d.ID]
		if c := b.changes[d.ID]; !ok && c != nil {
			old = c.body
		}
		if old != nil {
			bodies[i], fresh[i] = rawjson.Merge(old, d.Body), false
		}
		before[d.ID] = bodies[i] // it may come again
	}
	return bodies, fresh, nil
}

// inputFor returns what an embedder has to be asked about for a document:
// without texts where it has not to be, and without a hash where the document's
// vectors are not the embedder's.
func (b *docBatch) inputFor(ctx context.Context, name string, e *settings.Embedder, g *ingest.GivenVectors, old *vector.Document, fresh bool, body []byte) (in input, err error) {
	if !e.Makes() || g == nil && !fresh && old != nil && !old.Made {
		return input{}, nil
	}
	m := b.inputs[name]
	if m == nil {
		if m, err = documentInputs(e, &b.record().Settings); err != nil {
			return input{}, fmt.Errorf("read the templates of embedder %q: %w", name, err)
		}
		b.inputs[name] = m
	}
	if in, err = m.of(ctx, body); err != nil {
		return input{}, err
	}
	if old != nil && old.Made && old.Text == in.hash {
		in.texts = nil
	}
	return in, nil
}

// fit checks the vectors that a document brings. The first ones of an embedder
// decide on the dimensions where nothing did before.
func (b *docBatch) fit(id, name string, e *settings.Embedder, vectors [][]float32) error {
	if len(vectors) == 0 {
		return nil
	}
	dims := cmp.Or(b.dimensions(name, e), len(vectors[0]))
	if err := vector.CheckDimensions(name, vectors, dims); err != nil {
		failure := apierr.From(err)
		return apierr.Newf(failure.Code, "Document `%.511s`: %s. No document of this task was kept.", id, failure.Message)
	}
	b.dims[name] = dims
	return nil
}

// dimensions is what vectors of an embedder must have; 0: not known yet.
func (b *docBatch) dimensions(name string, e *settings.Embedder) int {
	return cmp.Or(e.VectorDimensions(), b.record().VectorSets[name].Dimensions, b.dims[name])
}

// taskFailure returns the error that is a task's failure; ok is false for one
// of the machine.
func taskFailure(err error) (e *apierr.Error, ok bool) { return errors.AsType[*apierr.Error](err) }
