package bleveindex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2/document"
	bleveapi "github.com/blevesearch/bleve_index_api"

	"github.com/parley-search/parley/host/internal/search/storage"
)

// A Writer puts documents into a folder in batches.
type Writer struct {
	f       *Folder
	docs    *docBuilder
	heap    *heapBound
	threads int // that take documents apart at a time
	budget  int // bytes that a batch may take while it is written
	most    int // bytes of a batch's documents, by what those before took
	ops     []folderOp
	bytes   int
}

// A folderOp puts a document, or deletes one.
type folderOp struct {
	doc    storage.Document // of a deletion, only its ID
	delete bool
}

// Limits are what all writers of a service share.
type Limits struct {
	threads int   // that take documents apart at a time
	memory  int64 // bytes that writing may take
	heap    *heapBound
}

// NewLimits returns limits for one service.
func NewLimits(threads int, memory int64) *Limits {
	return &Limits{threads, memory, newHeapBound(memory)}
}

// Enter begins to write a lot; call leave at its end.
func (l *Limits) Enter() (leave func()) { return l.heap.enter() }

// Writer returns a writer into f. fields are the names of the fields by their
// numbers.
func (f *Folder) Writer(fields []string, l *Limits) *Writer {
	// A quarter: the database and merges of what was written before go on
	// meanwhile, and there is garbage of all that.
	w := &Writer{f: f, docs: newDocBuilder(f.Schema, fields), heap: l.heap, threads: l.threads, budget: int(l.memory / 4)}
	w.most = w.fits(firstCost)
	return w
}

// fits is how many bytes of documents fit into the budget where one costs so
// many.
func (w *Writer) fits(cost int) int {
	return min(max(w.budget/cost, leastBatch), batchBytes)
}

// Put indexes d at the end of its batch: until then its bytes must stay.
func (w *Writer) Put(d storage.Document) error {
	return w.add(folderOp{doc: d}, len(d.Body))
}

func (w *Writer) Delete(id string) error {
	return w.add(folderOp{storage.Document{ID: id}, true}, len(id))
}

// PutAll puts each document, or deletes that of its id where it is absent.
func (w *Writer) PutAll(ids []string, docs []storage.Document) error {
	for i, d := range docs {
		var err error
		if d.Seq == 0 {
			err = w.Delete(ids[i])
		} else {
			err = w.Put(d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) add(op folderOp, bytes int) error {
	w.ops = append(w.ops, op)
	w.bytes += bytes
	if len(w.ops) < BatchDocs && w.bytes < w.most {
		return nil
	}
	return w.flush(nil)
}

// flush writes a batch; next is for the last one, see finish.
func (w *Writer) flush(next *uint32) error {
	docs, places, err := w.build()
	if err != nil {
		return err
	}
	// A new one each time: bleve may still hold the documents of the old.
	idx, letGo, err := w.f.hold()
	if err != nil {
		return fmt.Errorf("write index batch: %w", err)
	}
	defer letGo()
	batch := idx.NewBatch()
	for i := range w.ops {
		if w.ops[i].delete {
			batch.Delete(w.ops[i].doc.ID)
		} else if err := batch.IndexAdvanced(docs[i]); err != nil {
			return fmt.Errorf("index document: %w", err)
		}
	}
	if next != nil {
		batch.SetInternal(keyNext, encodeNext(*next))
	}
	if err := w.f.writable(); err != nil {
		return err
	}
	if err := idx.Batch(batch); err != nil {
		return fmt.Errorf("write index batch: %w", err)
	}
	if w.bytes >= leastBatch {
		w.most = w.fits(byteCost + places*placeCost/w.bytes)
	}
	w.f.written.Add(int64(len(w.ops)))
	clear(w.ops)
	w.ops, w.bytes = w.ops[:0], 0
	w.heap.steer()
	return nil
}

// build takes the documents of a batch apart, several at a time: what is left
// for bleve to do is to write the words down. places is how many words and
// values there are in all. The error is [ErrUnknownField].
func (w *Writer) build() (docs []*document.Document, places int, _ error) {
	docs = make([]*document.Document, len(w.ops))
	errs := make([]error, len(w.ops))
	var sum atomic.Int64
	spread(w.threads, len(docs), func(i int) {
		if w.ops[i].delete {
			return
		}
		if docs[i], errs[i] = w.docs.build(w.ops[i].doc); errs[i] != nil {
			return
		}
		docs[i].VisitFields(func(f bleveapi.Field) {
			f.Analyze()
			sum.Add(int64(len(f.AnalyzedTokenFrequencies())))
		})
	})
	return docs, int(sum.Load()), cmp.Or(errs...)
}

// Finish writes what is left, and that the changes of all tasks below next are
// here, in the same batch.
func (w *Writer) Finish(next uint32) error {
	if err := w.flush(&next); err != nil {
		return err
	}
	w.f.Next.Store(next)
	return nil
}

// Build makes a folder below parent of all documents that scan gives, in
// which the changes of all tasks below next are. The bytes of a document need to
// be good while scan's function has it only. report is told, now and then, how
// many are in the folder.
func Build(ctx context.Context, parent string, sc *Schema, fields []string, next uint32, l *Limits, scan func(func(storage.Document) error) error, report func(done int)) (*Folder, error) {
	f, err := Create(parent, sc)
	if err != nil {
		return nil, err
	}
	w := f.Writer(fields, l)
	done := 0
	err = scan(func(d storage.Document) error {
		if done%BatchDocs == 0 {
			report(done)
		}
		done++
		// bleve analyses at the batch's end, when the scan's bytes are gone.
		d.Body = bytes.Clone(d.Body)
		return w.Put(d)
	})
	if err == nil {
		err = w.Finish(next)
	}
	if err == nil {
		err = f.Unite(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("build index folder: %w", err), f.Remove())
	}
	return f, nil
}

// What a batch takes while it is written, by what the heap was seen to grow: of
// each place where a word or value stands, taken apart and on its way through
// zapx; and of each byte of the documents.
const (
	placeCost = 180
	byteCost  = 3
	// firstCost is what a byte is taken for before any was seen: words of five
	// letters.
	firstCost = 32
)
