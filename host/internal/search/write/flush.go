package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/storage"
	"github.com/parley-search/parley/host/internal/search/vector"
	"github.com/parley-search/parley/host/internal/task"
)

// chunkDocs and chunkBytes bound one transaction.
const (
	chunkDocs  = 500
	chunkBytes = 384 << 10
)

// begin makes sure that there is an index to write to, and a folder in step
// with it. From here on it is too late to cancel.
func (b *docBatch) begin(ctx context.Context) error {
	if b.begun {
		return nil
	}
	if err := b.run.Begin(); err != nil {
		return err
	}
	if b.ix == nil {
		ix, err := b.service.indexes.Create(ctx, b.service.indexes.NewMeta(b.uid, b.first))
		if err != nil {
			return err
		}
		b.ix = ix
	}
	if err := b.ix.MakeReady(ctx); err != nil {
		return err
	}
	b.meta, b.words = b.ix.Meta().Clone(), b.ix.Words(b.first)
	b.begun = true
	return nil
}

// startEmpty begins anew under another id for the documents.
func (b *docBatch) startEmpty() error {
	b.meta.Empty(b.first)
	b.emptied = true
	return b.words.Empty(b.meta)
}

// finish writes what is left, and the outcomes.
func (b *docBatch) finish(ctx context.Context) error {
	if b.ix == nil && !b.made {
		return nil // all failed
	}
	sweep := b.emptied
	if err := b.flush(ctx, true); err != nil {
		return err
	}
	if err := b.words.Finish(ctx); err != nil {
		return err
	}
	if sweep {
		return b.service.indexes.SweepDocuments()
	}
	return nil
}

// flush writes the part: first the documents, in transactions that each leave
// record and documents in step, the last one with the outcomes; then the words.
func (b *docBatch) flush(ctx context.Context, final bool) error {
	if !final && !b.made && b.ix == nil {
		return nil // nothing to write, and nothing to write it to
	}
	if err := b.begin(ctx); err != nil {
		return err
	}
	if !final && b.leaveHeap == nil {
		b.leaveHeap = b.service.indexes.Limits.Enter()
	}
	b.meta.PrimaryKey = b.key
	b.meta.UpdatedAt = b.service.indexes.Now().UTC()
	var chunk []string
	size := 0
	for _, id := range b.order {
		chunk = append(chunk, id)
		if size += len(b.changes[id].body); len(chunk) < chunkDocs && size < chunkBytes {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.write(chunk, false, false); err != nil {
			return err
		}
		chunk, size = nil, 0
	}
	if err := b.write(chunk, true, final); err != nil {
		return err
	}
	var err error
	if b.meta, err = b.words.Put(ctx, b.meta, b.order); err != nil {
		return err
	}
	b.docs += len(b.order)
	b.run.Report(task.Progress{Step: "writing documents", Done: b.docs, Total: b.total()})
	b.order, b.changes, b.size = nil, map[string]*docChange{}, 0
	return nil
}

// total is how many documents the batch has received.
func (b *docBatch) total() int {
	n := 0
	for i := range b.run.Works {
		n += receivedDocuments(b.run.Works[i].Details)
	}
	return n
}

// write writes some documents with the record as it is after them, in halves
// where they are too much for one transaction. last: they are the last of the
// part. final: of the batch.
func (b *docBatch) write(ids []string, last, final bool) error {
	m := b.meta.Clone()
	c := storage.Change{IndexUID: b.uid, Docs: m.Docs, Task: b.current, Part: b.part, Prune: b.words.Pruned()}
	var puts []vectorPut
	for _, id := range ids {
		d := b.changes[id]
		m.CountDocument(d.old.Body, -1)
		if d.body == nil {
			// One that was not there is written as well: an attempt before a crash
			// may have taken it from here but not from bleve.
			c.Delete = append(c.Delete, id)
			puts = append(puts, d.vectorPuts(m, id, 0)...)
			if d.old.Seq != 0 {
				m.Count--
			}
			continue
		}
		seq := d.old.Seq
		if seq == 0 {
			m.LastSeq++
			m.Count++
			seq = m.LastSeq
		}
		m.CountDocument(d.body, 1)
		c.Put = append(c.Put, storage.Document{ID: id, Seq: seq, Body: d.body})
		puts = append(puts, d.vectorPuts(m, id, seq)...)
	}
	if err := b.service.countVectors(m, puts); err != nil {
		return err
	}
	c.Vectors = stored(puts)
	m.Pruned = max(m.Pruned, c.Prune)
	visible := final || !b.emptied
	if visible && last {
		c.Outcomes = b.outcomes
		m.Next = max(m.Next, b.current)
	}
	if final {
		m.Next = b.current + 1
	}
	if visible {
		c.Meta = m.Encode()
	}
	err := b.service.indexes.DB.Write(c)
	if errors.Is(err, storage.ErrTooBig) && len(ids) > 1 {
		if err := b.write(ids[:len(ids)/2], false, false); err != nil {
			return err
		}
		return b.write(ids[len(ids)/2:], last, final)
	}
	if err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	b.part++
	b.meta = m
	b.words.Wrote(m, visible, func(to *vector.Memory) {
		for _, p := range puts {
			to.Put(m.Docs, p.set, p.id, p.v)
		}
	})
	b.emptied = b.emptied && !visible
	return nil
}

func encodeOutcome(o task.Outcome) []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("encode outcome: %v", err)) // details are JSON of ours
	}
	return b
}

// receivedDocuments is how many documents a task's details speak of.
func receivedDocuments(details json.RawMessage) int {
	var d struct{ ReceivedDocuments int }
	_ = json.Unmarshal(details, &d) // an object of ours
	return d.ReceivedDocuments
}
