// Package bleveindex keeps what is searched of an index's documents in a bleve index:
// a [Folder], made of the documents under one [Schema]. It owns bleve.
//
// A folder is derived from documents of the database and may be thrown away at
// any time. [Create] and [Build] make one, [Open] opens one, a [Writer] puts
// documents into it in batches that fit into the memory of its [Limits]. Readers
// [Folder.Acquire] it, so that one that was replaced is deleted only when nobody
// reads it any more.
//
// Searching is done over a [View], the folder at one moment: its [Segment]s have
// the dictionaries of words and the documents of each; columns have the values of
// attributes, to filter, sort and count by. What the fields of bleve hold is in
// fields.go: raise [LayoutVersion] with any change to it.
package bleveindex

import (
	"container/list"
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
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/google/uuid"
)

// A Folder is one open bleve index: the words and columns of an index's
// documents, derived from them under one schema.
type Folder struct {
	dir    string
	Schema *Schema
	Next   atomic.Uint32 // the changes of all tasks below it are here

	Behind bool // it lacks what much of the outbox says; of the writer

	written atomic.Int64 // documents, since all segments were last made one; see Unite

	mu      sync.Mutex
	readers int
	retired func() // run once the last reader is gone; nil while in use

	using            sync.Mutex
	idx              bleve.Index // nil while closed, see hold
	users            int
	bytes, usedBytes int64 // see Size; as it was closed

	opened atomic.Pointer[Opened] // nil: it stays open
	place  *list.Element          // in opened, whose lock guards it
}

const (
	BatchDocs  = 1000
	batchBytes = 4 << 20
	leastBatch = 128 << 10
)

// segmentsOfSize is how many segments of about one size there may be before they are
// merged. Each search looks into every segment, at much the same price: with the ten of
// bleve's own plan it costs a quarter more.
const segmentsOfSize = 3

// bleveConfig are the settings of every folder. bolt_timeout turns a folder
// that is open elsewhere into an error instead of a wait without end.
func bleveConfig() map[string]any {
	return map[string]any{
		"bolt_timeout":           "5s",
		"scorchMergePlanOptions": map[string]any{"MaxSegmentsPerTier": segmentsOfSize},
	}
}

// Create makes an empty folder in a directory of a new name.
func Create(parent string, sc *Schema) (*Folder, error) {
	dir := filepath.Join(parent, uuid.NewString())
	// The mapping is never used: documents come ready (see docBuilder).
	idx, err := bleve.NewUsing(dir, bleve.NewIndexMapping(), scorch.Name, scorch.Name, bleveConfig())
	if err != nil {
		return nil, fmt.Errorf("make index folder: %w", err)
	}
	f := &Folder{dir: dir, idx: idx, Schema: sc}
	if err := idx.SetInternal(keySchema, sc.Encode()); err != nil {
		return nil, errors.Join(fmt.Errorf("write schema of index folder: %w", err), f.Remove())
	}
	return f, nil
}

func openBleve(dir string) (idx bleve.Index, err error) {
	defer func() {
		// Damaged bytes may trip bleve anywhere; they are no reason to end.
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	if _, err := os.Stat(filepath.Join(dir, "index_meta.json")); err != nil {
		return nil, err
	}
	return bleve.OpenUsing(dir, bleveConfig())
}

// Open opens the folder of a directory.
func Open(dir string) (f *Folder, err error) {
	idx, err := openBleve(dir)
	if err != nil {
		return nil, fmt.Errorf("open index folder: %w", err)
	}
	f = &Folder{dir: dir, idx: idx, Schema: new(Schema)}
	b, err := idx.GetInternal(keySchema)
	if err == nil {
		err = json.Unmarshal(b, f.Schema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read schema of index folder: %w", err), idx.Close())
	}
	b, err = idx.GetInternal(keyNext)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read state of index folder: %w", err), idx.Close())
	}
	if len(b) == 4 {
		f.Next.Store(binary.BigEndian.Uint32(b))
	}
	return f, nil
}

// Acquire keeps f open until release is called; ok is false where it is
// retired already.
func (f *Folder) Acquire() (release func(), ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.retired != nil {
		return nil, false
	}
	f.readers++
	return f.release, true
}

func (f *Folder) release() {
	f.mu.Lock()
	f.readers--
	run := f.retired
	last := f.readers == 0
	f.mu.Unlock()
	if last && run != nil {
		run()
	}
}

// Retire runs end once no reader is left, maybe at once.
func (f *Folder) Retire(end func()) {
	f.mu.Lock()
	f.retired = end
	last := f.readers == 0
	f.mu.Unlock()
	if last {
		end()
	}
}

// Size is what f takes of the disk, and what of it is in use: segments that
// were merged stay for a while.
func (f *Folder) Size() (bytes, used int64) {
	f.using.Lock()
	defer f.using.Unlock()
	if f.idx == nil {
		return f.bytes, f.usedBytes
	}
	return f.size()
}

// size is Size while f is open.
func (f *Folder) size() (bytes, used int64) {
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

func (f *Folder) Name() string { return filepath.Base(f.dir) }

// Remove closes f and deletes its directory.
func (f *Folder) Remove() error {
	return errors.Join(f.closeNow(), os.RemoveAll(f.dir))
}

// ErrNotWritable says that no file can be made in a folder. Building another one
// is of no use then.
var ErrNotWritable = errors.New("the index folder cannot be written to")

// writable finds out whether files can be made in f, by making one. bleve shows
// a batch to searches before it is on disk, and where it cannot be, what it
// shows is broken: so it must not come to that.
func (f *Folder) writable() error {
	dir, err := os.MkdirTemp(f.dir, "probe-")
	if err == nil {
		err = os.Remove(dir)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotWritable, err)
	}
	return nil
}

// Copy copies f, as it is now, to a directory that is made if absent.
func (f *Folder) Copy(to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	idx, letGo, err := f.hold()
	if err != nil {
		return err
	}
	defer letGo()
	copyable, ok := idx.(bleve.IndexCopyable)
	if !ok {
		return fmt.Errorf("%T cannot be copied", idx)
	}
	return copyable.CopyTo(bleve.FileSystemDirectory(to))
}

// Close closes f, which nobody reads any more.
func (f *Folder) Close() error { return f.closeNow() }
