package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/storage"
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
	b.meta, b.folder = b.ix.Meta().Clone(), b.ix.State().Folder
	b.begun = true
	return nil
}

// startEmpty begins anew under another id for the documents and in a new
// folder. Readers have the old ones until the batch is finished.
func (b *docBatch) startEmpty() error {
	m := b.meta
	m.Empty(b.first)
	if b.service.indexes.Shared() {
		b.emptied = true // the folder is built once the record names the documents
		return nil
	}
	f, err := bleveindex.Create(b.service.indexes.Dir, settings.SchemaOf(&m.Settings))
	if err != nil {
		return err
	}
	if err := f.Writer(nil, b.service.indexes.Limits).Finish(b.first); err != nil {
		return errors.Join(err, f.Remove())
	}
	if b.emptied {
		err = b.folder.Remove() // made by this batch as well
	}
	b.folder, m.Folder, b.emptied = f, f.Name(), true
	return err
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
	if !b.service.indexes.Shared() {
		if err := b.folder.Unite(ctx); err != nil {
			return err
		}
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
	if err := b.writeWords(ctx); err != nil {
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
	c := storage.Change{IndexUID: b.uid, Docs: m.Docs, Task: b.current, Part: b.part}
	if !b.service.indexes.Shared() {
		c.Prune = min(b.folder.Next.Load(), b.first)
	}
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
	if !b.service.indexes.Shared() {
		for _, p := range puts {
			b.service.indexes.Vectors.Put(m.Docs, p.set, p.id, p.v)
		}
		if visible {
			b.ix.Publish(m.Clone(), b.folder)
		}
	}
	if visible {
		b.emptied = false // the new folder is the index's now
	}
	return nil
}

// writeWords brings the folder up to date with the part. Where that fails, the
// folder is built anew: the documents are written.
func (b *docBatch) writeWords(ctx context.Context) error {
	if b.service.indexes.Shared() {
		if b.emptied {
			return nil
		}
		return b.service.indexes.Await(ctx, b.ix)
	}
	err := b.writePart()
	if err == nil || b.emptied || errors.Is(err, bleveindex.ErrNotWritable) {
		return err
	}
	b.service.indexes.Log(fmt.Sprintf("index %q is rebuilt from its documents", b.uid), err)
	if again := b.ix.Rebuild(ctx); again != nil {
		return errors.Join(err, again)
	}
	st := b.ix.State()
	b.meta, b.folder = st.Meta.Clone(), st.Folder
	return nil
}

func (b *docBatch) writePart() error {
	w := b.folder.Writer(b.meta.Fields, b.service.indexes.Limits)
	ids := b.order
	for len(ids) > 0 {
		n := min(len(ids), bleveindex.BatchDocs)
		// As they are written: with their Seq.
		docs, err := b.service.indexes.DB.Documents(b.meta.Docs, ids[:n])
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		if err := w.PutAll(ids[:n], docs); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return w.Finish(b.meta.Next)
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
