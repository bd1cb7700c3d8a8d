package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/task"
)

// chunkDocs and chunkBytes bound one transaction.
const (
	chunkDocs  = 500
	chunkBytes = 1 << 20
)

// A docWriter writes a docBatch to the database, in transactions that each
// leave record and documents in step. The last one carries the outcomes: a
// task that has one is wholly written.
type docWriter struct {
	*docBatch
	first, last uint32 // tasks of the batch
	outcomes    map[uint32][]byte
	meta        *meta   // as of the next transaction
	folder      *folder // that the words go to
	part        uint32  // transactions written
	changed     []string
}

// startEmpty begins anew under another id for the documents and in a new
// folder. The index has the old ones until the last transaction.
func (w *docWriter) startEmpty() error {
	m := w.meta
	m.Docs, m.Count, m.LastSeq, m.Fields, m.FieldCounts, m.numbers = uuid.NewString(), 0, 0, nil, nil, nil
	m.Next, m.Pruned = w.first, w.first
	f, err := createFolder(w.service.opts.Dir, m.Settings.schema())
	if err != nil {
		return err
	}
	if err := f.writer(nil).finish(w.first); err != nil {
		return errors.Join(err, f.remove())
	}
	w.folder, m.Folder = f, f.name()
	for _, c := range w.changes {
		c.old = Document{}
	}
	return nil
}

func (w *docWriter) writeDocuments(ctx context.Context) error {
	w.meta.UpdatedAt = w.service.opts.Now().UTC()
	var chunk []string
	size := 0
	for _, id := range w.order {
		c := w.changes[id]
		if !c.done {
			continue
		}
		// A document that is deleted and was not there is written as well: an
		// attempt before a crash may have taken it from here but not from bleve.
		chunk = append(chunk, id)
		w.changed = append(w.changed, id)
		if size += len(c.body); len(chunk) < chunkDocs && size < chunkBytes {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.write(chunk, false); err != nil {
			return err
		}
		chunk, size = nil, 0
	}
	return w.write(chunk, true)
}

// write writes some documents with the record as it is after them, in halves
// where they are too much for one transaction.
func (w *docWriter) write(ids []string, final bool) error {
	m := w.meta.clone()
	c := Change{IndexUID: w.uid, Docs: m.Docs, Task: w.last, Part: w.part, Prune: min(w.folder.next.Load(), w.first)}
	for _, id := range ids {
		d := w.changes[id]
		m.count(d.old.Body, -1)
		if d.body == nil {
			c.Delete = append(c.Delete, id)
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
		m.count(d.body, 1)
		c.Put = append(c.Put, Document{ID: id, Seq: seq, Body: d.body})
	}
	m.Pruned = max(m.Pruned, c.Prune)
	if final {
		m.Next = w.last + 1
		c.Outcomes = w.outcomes
	}
	visible := final || !w.emptied
	if visible {
		c.Meta = m.encode()
	}
	err := w.service.opts.DB.Write(c)
	if errors.Is(err, ErrTooBig) && len(ids) > 1 {
		if err := w.write(ids[:len(ids)/2], false); err != nil {
			return err
		}
		return w.write(ids[len(ids)/2:], final)
	}
	if err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	w.part++
	w.meta = m
	if visible {
		w.ix.publish(&state{m.clone(), w.folder})
	}
	return nil
}

// writeFolder brings the folder up to date with the documents of the ids. Where
// that fails, the folder is built anew: the documents are written.
func (ix *index) writeFolder(ctx context.Context, ids []string) error {
	err := ix.update(ids)
	if err == nil {
		return nil
	}
	ix.service.opts.Log(fmt.Sprintf("index %q is built anew from its documents", ix.uid), err)
	if again := ix.rebuild(ctx); again != nil {
		return errors.Join(err, again)
	}
	return nil
}

func (ix *index) update(ids []string) error {
	st := ix.state.Load()
	w := st.folder.writer(st.meta.Fields)
	for len(ids) > 0 {
		n := min(len(ids), batchDocs)
		docs, err := ix.service.opts.DB.Documents(st.meta.Docs, ids[:n])
		if err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
		if err := writeDocs(w, ids[:n], docs); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return w.finish(st.meta.Next)
}

func encodeOutcome(o task.Outcome) []byte {
	b, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("encode outcome: %v", err)) // details are JSON of ours
	}
	return b
}
