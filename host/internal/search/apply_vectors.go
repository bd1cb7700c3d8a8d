package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-search/parley/host/internal/apierr"
)

// stagedSet holds, while a task is applied, the vectors that embedders made for
// it, by what they were made of: asking may fail, and must have ended well
// before the first of the task's documents is written.
const stagedSet = 0

// surveyed is how many documents are looked at together.
const surveyed = vectorChunk

// A vectorSurvey checks the vectors that documents of a task bring, and has
// those made that they will need.
type vectorSurvey struct {
	batch   *docBatch
	partial bool
	docs    []received
}

// add looks at one more document. An [apierr.Error] is the task's failure.
func (v *vectorSurvey) add(ctx context.Context, d received) error {
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
	for _, name := range sortedKeys(m.Settings.Embedders) {
		e := m.Settings.Embedders[name]
		old, err := v.batch.oldVectors(name, docs)
		if err != nil {
			return err
		}
		want := map[uint64]string{}
		var order []uint64
		for i, d := range docs {
			g := d.given[name]
			if g.brings() {
				if err := v.batch.fit(d.id, name, &e, g.vectors); err != nil {
					return err
				}
				continue
			}
			text, hash, err := v.batch.textFor(name, &e, g, old[d.id], fresh[i], bodies[i])
			if err != nil {
				return err
			}
			if _, again := want[hash]; text != "" && !again {
				want[hash] = text
				order = append(order, hash)
			}
		}
		if err := v.batch.stage(ctx, name, &e, order, want); err != nil {
			return err
		}
	}
	return nil
}

// brings reports whether a document has vectors of its own, or says that it is
// to have none.
func (g *givenVectors) brings() bool { return g != nil && (!g.regenerate || g.vectors != nil) }

// bodies returns the documents as the task will leave them, and which of them
// take nothing over from before.
func (b *docBatch) bodies(docs []received, partial bool) (bodies [][]byte, fresh []bool, err error) {
	bodies, fresh = make([][]byte, len(docs)), make([]bool, len(docs))
	var read []string
	for i, d := range docs {
		bodies[i], fresh[i] = d.body, true
		if partial && b.changes[d.id] == nil {
			read = append(read, d.id)
		}
	}
	if !partial {
		return bodies, fresh, nil
	}
	before := map[string][]byte{}
	kept, err := b.service.opts.DB.Documents(b.record().Docs, read)
	if err != nil {
		return nil, nil, fmt.Errorf("read documents: %w", err)
	}
	for i, d := range kept {
		if d.Seq != 0 {
			before[read[i]] = d.Body
		}
	}
	for i, d := range docs {
		old, ok := before[d.id]
		if c := b.changes[d.id]; !ok && c != nil {
			old = c.body
		}
		if old != nil {
			bodies[i], fresh[i] = merge(old, d.body), false
		}
		before[d.id] = bodies[i] // it may come again
	}
	return bodies, fresh, nil
}

// textFor returns the text of a document that an embedder has to be asked
// about, "" where it has not to be, and the text's hash.
func (b *docBatch) textFor(name string, e *Embedder, g *givenVectors, old *docVectors, fresh bool, body []byte) (text string, hash uint64, err error) {
	if e.Source != Rest || g == nil && !fresh && old != nil && !old.made {
		return "", 0, nil
	}
	r := b.renderers[name]
	if r == nil {
		if r, err = e.documentRenderer(&b.record().Settings); err != nil {
			return "", 0, fmt.Errorf("read the template of embedder %q: %w", name, err)
		}
		b.renderers[name] = r
	}
	text = r.render(body)
	hash = hashText(text)
	if old != nil && old.made && old.text == hash {
		return "", hash, nil
	}
	return text, hash, nil
}

// fit checks the vectors that a document brings. The first ones of an embedder
// decide on the dimensions where nothing did before.
func (b *docBatch) fit(id, name string, e *Embedder, vectors [][]float32) error {
	if len(vectors) == 0 {
		return nil
	}
	dims := cmp.Or(b.dimensions(name, e), len(vectors[0]))
	if err := checkDimensions(name, vectors, dims); err != nil {
		failure := apierr.From(err)
		return apierr.Newf(failure.Code, "Document `%.511s`: %s. No document of this task was kept.", id, failure.Message)
	}
	b.dims[name] = dims
	return nil
}

// dimensions is what vectors of an embedder must have; 0: not known yet.
func (b *docBatch) dimensions(name string, e *Embedder) int {
	return cmp.Or(e.Dimensions, b.record().VectorSets[name].Dimensions, b.dims[name])
}

// stage has the vectors made of texts that are not staged yet.
func (b *docBatch) stage(ctx context.Context, name string, e *Embedder, hashes []uint64, texts map[uint64]string) error {
	if len(hashes) == 0 {
		return nil
	}
	docs := b.record().Docs
	ids := make([]string, len(hashes))
	for i, h := range hashes {
		ids[i] = stagedID(name, h)
	}
	have, err := b.service.opts.DB.Vectors(docs, stagedSet, ids)
	if err != nil {
		return fmt.Errorf("read staged vectors: %w", err)
	}
	var asked []string
	var missing []int
	for i, h := range hashes {
		if have[i] == nil {
			asked, missing = append(asked, texts[h]), append(missing, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	made, err := b.service.embedTexts(ctx, name, e, b.dimensions(name, e), asked, documentTries)
	if err != nil {
		return err
	}
	b.dims[name] = len(made[0])
	puts := make([]vectorPut, len(made))
	for i, v := range made {
		puts[i] = vectorPut{stagedSet, ids[missing[i]], &docVectors{made: true, text: hashes[missing[i]], vectors: [][]float32{v}}}
	}
	b.staged = true
	return writeVectors(b.service.opts.DB, docs, puts)
}

// stagedID is what a vector is staged under.
func stagedID(name string, hash uint64) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, hashText(name))) + hex.EncodeToString(binary.BigEndian.AppendUint64(nil, hash))
}

// unstage removes what was staged for a task.
func (b *docBatch) unstage() error {
	if !b.staged {
		return nil
	}
	b.staged = false
	if err := b.service.opts.DB.DropVectors(b.record().Docs, stagedSet); err != nil {
		return fmt.Errorf("remove staged vectors: %w", err)
	}
	return nil
}

// putVectors works out what d changes of the vectors of c's document, which is
// to be d.body. fresh: it takes nothing over from before.
func (b *docBatch) putVectors(ctx context.Context, c *docChange, d received, fresh bool) error {
	var settings Settings
	var sets map[string]vectorSet
	if m := b.record(); m != nil {
		settings, sets = m.Settings, m.VectorSets
	}
	if len(settings.Embedders)+len(sets)+len(d.given)+len(c.vectors) == 0 {
		return nil
	}
	names := slices.Concat(sortedKeys(settings.Embedders), sortedKeys(sets), sortedKeys(d.given), sortedKeys(c.vectors))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		g := d.given[name]
		e, configured := settings.Embedders[name]
		switch {
		case g.brings():
			c.setVectors(name, &docVectors{made: g.regenerate, vectors: g.vectors})
		case configured && e.Source == Rest:
			old, err := b.oldVectors(name, []received{d})
			if err != nil {
				return err
			}
			text, hash, err := b.textFor(name, &e, g, old[d.id], fresh, d.body)
			if err != nil {
				return err
			}
			switch o := old[d.id]; {
			case text != "":
				v, err := b.madeOf(ctx, name, &e, text, hash)
				if err != nil {
					return err
				}
				c.setVectors(name, v)
			case hash != 0 && (o == nil || !o.made || o.text != hash):
				c.setVectors(name, &docVectors{made: true, text: hash}) // of a document without text
			}
		case fresh:
			c.setVectors(name, nil)
		}
		if v := c.vectors[name]; v != nil && len(v.vectors) > 0 {
			b.size += int64(4 * len(v.vectors) * len(v.vectors[0]))
		}
	}
	return nil
}

func (c *docChange) setVectors(name string, v *docVectors) {
	if c.vectors == nil {
		c.vectors = map[string]*docVectors{}
	}
	c.vectors[name] = v
}

// madeOf returns the vectors of a text. Where a document comes twice in a task,
// far apart, its text may not have been known before.
func (b *docBatch) madeOf(ctx context.Context, name string, e *Embedder, text string, hash uint64) (*docVectors, error) {
	for range 2 {
		found, err := b.service.opts.DB.Vectors(b.record().Docs, stagedSet, []string{stagedID(name, hash)})
		if err != nil {
			return nil, fmt.Errorf("read staged vectors: %w", err)
		}
		if found[0] != nil {
			return decodeVectors(found[0])
		}
		if err := b.stage(ctx, name, e, []uint64{hash}, map[uint64]string{hash: text}); err != nil {
			// Some of the task may be written: it is put off, not failed.
			return nil, fmt.Errorf("make vectors: %s", err)
		}
	}
	return nil, fmt.Errorf("staged vectors of embedder %q are gone", name)
}

// oldVectors returns what documents have of vectors, by id.
func (b *docBatch) oldVectors(name string, docs []received) (map[string]*docVectors, error) {
	out := map[string]*docVectors{}
	m := b.record()
	if m == nil {
		return out, nil
	}
	var read []string
	set, ok := m.VectorSets[name]
	for _, d := range docs {
		c := b.changes[d.id]
		if c == nil {
			c = &docChange{}
		}
		if v, changed := c.vectors[name]; changed {
			out[d.id] = v
		} else if ok {
			read = append(read, d.id)
		}
	}
	if len(read) == 0 {
		return out, nil
	}
	kept, err := b.service.opts.DB.Vectors(m.Docs, set.ID, read)
	if err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	for i, bytes := range kept {
		if bytes == nil {
			continue
		}
		if out[read[i]], err = decodeVectors(bytes); err != nil {
			return nil, fmt.Errorf("read vectors of document %q: %w", read[i], err)
		}
	}
	return out, nil
}

// A vectorPut is one change of vectors, for the database and for the memory.
type vectorPut struct {
	set uint32
	id  string
	v   *docVectors // nil: none any more
}

// vectorPuts returns what a change of a document writes of vectors; seq is the
// document's. Sets that are not there yet are added to m.
func (d *docChange) vectorPuts(m *meta, id string, seq uint64) (puts []vectorPut) {
	if d.body == nil {
		for _, name := range sortedKeys(m.VectorSets) {
			puts = append(puts, vectorPut{m.VectorSets[name].ID, id, nil})
		}
		return puts
	}
	for _, name := range sortedKeys(d.vectors) {
		v := d.vectors[name]
		set, ok := m.VectorSets[name]
		if v == nil {
			if ok && d.old.Seq != 0 { // else there was none to take away
				puts = append(puts, vectorPut{set.ID, id, nil})
			}
			continue
		}
		if !ok {
			m.LastSet++
			set.ID = m.LastSet
		}
		if e, configured := m.Settings.Embedders[name]; configured && set.Dimensions == 0 {
			set.Dimensions = e.Dimensions
			if len(v.vectors) > 0 {
				set.Dimensions = len(v.vectors[0])
			}
		}
		m.VectorSets[name] = set
		kept := *v
		kept.seq = seq
		puts = append(puts, vectorPut{set.ID, id, &kept})
	}
	return puts
}

// stored is puts as the database takes them.
func stored(puts []vectorPut) []StoredVectors {
	out := make([]StoredVectors, len(puts))
	for i, p := range puts {
		out[i] = StoredVectors{Set: p.set, ID: p.id}
		if p.v != nil {
			out[i].Bytes = p.v.encode()
		}
	}
	return out
}

// writeVectors writes vectors alone, in halves where they are too much for one
// transaction.
func writeVectors(db DB, docs string, puts []vectorPut) error {
	if len(puts) == 0 {
		return nil
	}
	err := db.Write(Change{Docs: docs, Vectors: stored(puts)})
	if errors.Is(err, ErrTooBig) && len(puts) > 1 {
		half := len(puts) / 2
		if err := writeVectors(db, docs, puts[:half]); err != nil {
			return err
		}
		return writeVectors(db, docs, puts[half:])
	}
	if err != nil {
		return fmt.Errorf("write vectors: %w", err)
	}
	return nil
}

// taskFailure returns the error that is a task's failure; ok is false for one
// of the machine.
func taskFailure(err error) (e *apierr.Error, ok bool) { return errors.AsType[*apierr.Error](err) }
