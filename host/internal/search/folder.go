package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveapi "github.com/blevesearch/bleve_index_api"
	"github.com/google/uuid"
)

// A folder is one open bleve index: the words and columns of an index's
// documents, derived from them under one schema.
type folder struct {
	dir    string
	idx    bleve.Index
	schema *schema
	next   atomic.Uint32 // the changes of all tasks below it are here

	behind bool // it lacks what much of the outbox says; of the writer

	mu      sync.Mutex
	readers int
	retired func() // run once the last reader is gone; nil while in use
}

const (
	batchDocs  = 1000
	batchBytes = 4 << 20
	leastBatch = 128 << 10
)

// bleveConfig are the settings of every folder. bolt_timeout turns a folder
// that is open elsewhere into an error instead of a wait without end.
func bleveConfig() map[string]any {
	return map[string]any{"bolt_timeout": "5s"}
}

// createFolder makes an empty folder in a directory of a new name.
func createFolder(parent string, sc *schema) (*folder, error) {
	dir := filepath.Join(parent, uuid.NewString())
	// The mapping is never used: documents come ready (see docBuilder).
	idx, err := bleve.NewUsing(dir, bleve.NewIndexMapping(), scorch.Name, scorch.Name, bleveConfig())
	if err != nil {
		return nil, fmt.Errorf("make index folder: %w", err)
	}
	f := &folder{dir: dir, idx: idx, schema: sc}
	if err := idx.SetInternal(keySchema, sc.encode()); err != nil {
		return nil, errors.Join(fmt.Errorf("write schema of index folder: %w", err), f.remove())
	}
	return f, nil
}

// openFolder opens the folder of a directory.
func openFolder(dir string) (f *folder, err error) {
	defer func() {
		// Damaged bytes may trip bleve anywhere; they are no reason to end.
		if p := recover(); p != nil {
			err = fmt.Errorf("open index folder: damaged: %v", p)
		}
	}()
	if _, err := os.Stat(filepath.Join(dir, "index_meta.json")); err != nil {
		return nil, fmt.Errorf("open index folder: %w", err)
	}
	idx, err := bleve.OpenUsing(dir, bleveConfig())
	if err != nil {
		return nil, fmt.Errorf("open index folder: %w", err)
	}
	f = &folder{dir: dir, idx: idx, schema: new(schema)}
	b, err := idx.GetInternal(keySchema)
	if err == nil {
		err = json.Unmarshal(b, f.schema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read schema of index folder: %w", err), idx.Close())
	}
	b, err = idx.GetInternal(keyNext)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read state of index folder: %w", err), idx.Close())
	}
	if len(b) == 4 {
		f.next.Store(binary.BigEndian.Uint32(b))
	}
	return f, nil
}

// acquire keeps f open until release is called; ok is false where it is
// retired already.
func (f *folder) acquire() (release func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retired != nil {
		return nil, false
	}
	f.readers++
	return f.release, true
}

func (f *folder) release() {
	f.mu.Lock()
	f.readers--
	run := f.retired
	last := f.readers == 0
	f.mu.Unlock()
	if last && run != nil {
		run()
	}
}

// retire runs end once no reader is left, maybe at once.
func (f *folder) retire(end func()) {
	f.mu.Lock()
	f.retired = end
	last := f.readers == 0
	f.mu.Unlock()
	if last {
		end()
	}
}

// size is what f takes of the disk, and what of it is in use: segments that
// were merged stay for a while.
func (f *folder) size() (bytes, used int64) {
	figures, _ := f.idx.StatsMap()["index"].(map[string]any)
	segments, _ := figures["num_bytes_used_disk_by_root"].(uint64)
	used = int64(segments)
	_ = filepath.WalkDir(f.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // gone meanwhile
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
			if filepath.Ext(name) != ".zap" {
				used += info.Size()
			}
		}
		return nil
	})
	return max(bytes, used), used
}

func (f *folder) name() string { return filepath.Base(f.dir) }

// remove closes f and deletes its directory.
func (f *folder) remove() error {
	return errors.Join(f.idx.Close(), os.RemoveAll(f.dir))
}

// A folderWriter puts documents into a folder in batches.
type folderWriter struct {
	f       *folder
	docs    *docBuilder
	heap    *heapBound
	threads int // that take documents apart at a time
	budget  int // bytes that a batch may take while it is written
	most    int // bytes of a batch's documents, by what those before took
	ops     []folderOp
	bytes   int
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

// A folderOp puts a document, or deletes one.
type folderOp struct {
	doc    Document // of a deletion, only its ID
	delete bool
}

// writer returns a writer into f. fields are the names of the fields by their
// numbers.
func (s *Service) writer(f *folder, fields []string) *folderWriter {
	// A quarter: the database and merges of what was written before go on
	// meanwhile, and there is garbage of all that.
	w := &folderWriter{f: f, docs: newDocBuilder(f.schema, fields), heap: s.heap, threads: s.opts.IndexingThreads, budget: int(s.opts.IndexingMemory / 4)}
	w.most = w.fits(firstCost)
	return w
}

// fits is how many bytes of documents fit into the budget where one costs so
// many.
func (w *folderWriter) fits(cost int) int {
	return min(max(w.budget/cost, leastBatch), batchBytes)
}

// put indexes d at the end of its batch: until then its bytes must stay.
func (w *folderWriter) put(d Document) error {
	return w.add(folderOp{doc: d}, len(d.Body))
}

func (w *folderWriter) delete(id string) error {
	return w.add(folderOp{Document{ID: id}, true}, len(id))
}

func (w *folderWriter) add(op folderOp, bytes int) error {
	w.ops = append(w.ops, op)
	w.bytes += bytes
	if len(w.ops) < batchDocs && w.bytes < w.most {
		return nil
	}
	return w.flush(nil)
}

// flush writes a batch; next is for the last one, see finish.
func (w *folderWriter) flush(next *uint32) error {
	docs, places := w.build()
	// A new one each time: bleve may still hold the documents of the old.
	batch := w.f.idx.NewBatch()
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
	if err := w.f.idx.Batch(batch); err != nil {
		return fmt.Errorf("write index batch: %w", err)
	}
	if w.bytes >= leastBatch {
		w.most = w.fits(byteCost + places*placeCost/w.bytes)
	}
	clear(w.ops)
	w.ops, w.bytes = w.ops[:0], 0
	w.heap.steer()
	return nil
}

// errNotWritable says that no file can be made in a folder. Building another one
// is of no use then.
var errNotWritable = errors.New("the index folder cannot be written to")

// writable finds out whether files can be made in f, by making one. bleve shows
// a batch to searches before it is on disk, and where it cannot be, what it
// shows is broken: so it must not come to that.
func (f *folder) writable() error {
	dir, err := os.MkdirTemp(f.dir, "probe-")
	if err == nil {
		err = os.Remove(dir)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotWritable, err)
	}
	return nil
}

// build takes the documents of a batch apart, several at a time: what is left
// for bleve to do is to write the words down. places is how many words and
// values there are in all.
func (w *folderWriter) build() (docs []*document.Document, places int) {
	docs = make([]*document.Document, len(w.ops))
	var sum atomic.Int64
	spread(w.threads, len(docs), func(i int) {
		if w.ops[i].delete {
			return
		}
		docs[i] = w.docs.build(w.ops[i].doc)
		docs[i].VisitFields(func(f bleveapi.Field) {
			f.Analyze()
			sum.Add(int64(f.AnalyzedLength()))
		})
	})
	return docs, int(sum.Load())
}

// finish writes what is left, and that the changes of all tasks below next are
// here, in the same batch.
func (w *folderWriter) finish(next uint32) error {
	if err := w.flush(&next); err != nil {
		return err
	}
	w.f.next.Store(next)
	return nil
}

// buildFolder makes a folder for m's documents under the schema sc. report is
// told, now and then, how many are in it.
func (s *Service) buildFolder(ctx context.Context, m *meta, sc *schema, report func(done int)) (*folder, error) {
	f, err := createFolder(s.opts.Dir, sc)
	if err != nil {
		return nil, err
	}
	if m.Bytes > s.partBytes() {
		defer s.heap.enter()()
	}
	w := s.writer(f, m.Fields)
	done := 0
	err = s.opts.DB.Scan(ctx, m.Docs, func(d Document) error {
		if done%batchDocs == 0 {
			report(done)
		}
		done++
		// bleve analyses at the batch's end, when the scan's bytes are gone.
		d.Body = bytes.Clone(d.Body)
		return w.put(d)
	})
	if err == nil {
		err = w.finish(m.Next)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("build index folder: %w", err), f.remove())
	}
	return f, nil
}
