package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-search/parley/host/internal/base/lines"
	"github.com/parley-search/parley/host/internal/task"
)

// A Kind is one kind of record, as a dump has it: a stream of lines.
type Kind struct {
	Name   string
	prefix string
}

// Kinds are all kinds of records that a dump holds. What is not among them is
// derived from these: the notes for bleve, which is built anew, and what tasks
// are found by; or of one host alone: what its keys and workspaces have spent.
func Kinds() []Kind {
	return []Kind{
		{"switches", prefixMeta},
		{"keys", prefixKey},
		{"workspaces", prefixWorkspace},
		{"feedback", prefixFeedback},
		{"indexes", prefixIndex},
		{"documents", prefixDocument},
		{"vectors", prefixVector},
		{"tasks", prefixTask},
		{"payloads", prefixPayload},
		{"outcomes", prefixOutcome},
		{"batches", prefixBatch},
		{"exports", prefixExport},
	}
}

// derived are the prefixes of records that a dump leaves out.
func derived() []string {
	return []string{prefixOutbox, prefixTrait, prefixDate, prefixAnew, prefixSpent, prefixCounts, prefixModule, prefixLocal, prefixNote, prefixFolder}
}

// ownSwitches are meta records that belong to one database alone.
func ownSwitch(key string) bool {
	return slices.Contains([]string{prefixMeta + "format", prefixMeta + "traits", keyLaunched, keySealing, keyImported, keyAnew}, key)
}

// An exported is a record as a line of JSON. Keys and values that are no text
// are in base64.
type exported struct {
	Key      string          `json:"key,omitempty"`
	KeyBytes []byte          `json:"keyBytes,omitempty"`
	Seq      *uint64         `json:"seq,omitempty"` // of a document
	Value    json.RawMessage `json:"value,omitempty"`
	Bytes    []byte          `json:"bytes,omitempty"`
}

// Export calls each for every kind with what writes its records, a line each;
// all are of one moment. Nothing of the task without is among them.
func (s *Store) Export(ctx context.Context, without uint32, each func(k Kind, write func(io.Writer) error) error) error {
	left := string(binary.BigEndian.AppendUint32(nil, without))
	return s.db.View(func(tx *badger.Txn) error {
		for _, k := range Kinds() {
			err := each(k, func(w io.Writer) error {
				lines := json.NewEncoder(w)
				lines.SetEscapeHTML(false) // values stay as they are
				return scan(tx, []byte(k.prefix), func(key, value []byte) (bool, error) {
					if err := ctx.Err(); err != nil {
						return false, err
					}
					rest := key[len(k.prefix):]
					if ownSwitch(string(key)) || k.ofTask() && string(rest) == left {
						return true, nil
					}
					return true, lines.Encode(lineOf(k, rest, value))
				})
			})
			if err != nil {
				return fmt.Errorf("export %s: %w", k.Name, err)
			}
		}
		return nil
	})
}

// ofTask reports whether the records belong to a task, whose number is their
// key.
func (k Kind) ofTask() bool {
	return k.prefix == prefixTask || k.prefix == prefixPayload || k.prefix == prefixOutcome || k.prefix == prefixExport
}

// lineOf is the line of a record.
func lineOf(k Kind, key, value []byte) (e exported) {
	if utf8.Valid(key) && bytes.IndexByte(key, 0) < 0 {
		e.Key = string(key)
	} else {
		e.KeyBytes = key
	}
	if k.prefix == prefixDocument && len(value) > 8 {
		seq := binary.BigEndian.Uint64(value)
		e.Seq, value = &seq, value[8:]
	}
	if json.Valid(value) {
		e.Value = value
	} else {
		e.Bytes = value
	}
	return e
}

// record is the record of a line.
func (e *exported) record(k Kind) (key, value []byte, err error) {
	switch {
	case e.Key != "" && e.KeyBytes == nil:
		key = []byte(k.prefix + e.Key)
	case e.Key == "" && e.KeyBytes != nil:
		key = append([]byte(k.prefix), e.KeyBytes...)
	default:
		return nil, nil, errors.New("it has no key, or two")
	}
	if ownSwitch(string(key)) {
		return nil, nil, fmt.Errorf("it sets %s, which is a database's own", key)
	}
	if e.Seq != nil {
		value = binary.BigEndian.AppendUint64(nil, *e.Seq)
	}
	if e.Value != nil && e.Bytes != nil {
		return nil, nil, errors.New("it has two values")
	}
	return key, append(append(value, e.Value...), e.Bytes...), nil
}

// maxLine bounds a line of an import: a document in base64, generously.
const maxLine = 512 << 20

// Import writes the records of a kind that r has a line each of. Into an empty
// database, before anything else is done with it.
func (s *Store) Import(ctx context.Context, k Kind, r io.Reader) (n int, err error) {
	batch := s.newBatch(s.HasRoom)
	defer batch.Cancel()
	for in := lines.NewReader(r, maxLine); ; {
		line, err := in.Next()
		if err == io.EOF {
			break
		}
		if n++; err != nil {
			return n, fmt.Errorf("import %s, line %d: %w", k.Name, n, err)
		}
		var e exported
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		err = d.Decode(&e)
		var key, value []byte
		if err == nil {
			key, value, err = e.record(k)
		}
		if err == nil {
			err = batch.Set(key, value)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return n, fmt.Errorf("import %s, line %d: %w", k.Name, n, err)
		}
	}
	if err := batch.Flush(); err != nil {
		return n, fmt.Errorf("import %s: %w", k.Name, err)
	}
	return n, nil
}

// Backup writes the whole database, as it is at the call, in Badger's own form.
func (s *Store) Backup(w io.Writer) error {
	if _, err := s.db.Backup(w, 0); err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	return nil
}

// Restore fills an empty database with what Backup wrote.
func (s *Store) Restore(r io.Reader) error {
	if err := s.db.Load(&checkedBackup{from: bufio.NewReaderSize(roomReader{r, s}, 64<<10)}, 16); err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	return s.checkFormat()
}

// A roomReader reads what is written as it is read, while the disk has room.
type roomReader struct {
	io.Reader
	s *Store
}

func (r roomReader) Read(p []byte) (int, error) {
	if err := r.s.HasRoom(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// maxBackupPart bounds a part of a backup: Badger writes parts of some megabytes, and one
// record more, of which a document is the largest.
const maxBackupPart = 512 << 20

// A checkedBackup reads a backup of Badger's own form, which is parts with their lengths
// before them: Badger makes room for whatever length it reads, and panics where that
// cannot be had.
type checkedBackup struct {
	from *bufio.Reader
	head []byte // the length of a part, as it goes on to the reader
	left uint64 // bytes of the part
}

// Read implements [io.Reader].
func (c *checkedBackup) Read(p []byte) (int, error) {
	if c.left == 0 && len(c.head) == 0 {
		head := make([]byte, 8)
		if _, err := io.ReadFull(c.from, head); err != nil {
			return 0, err // io.EOF where no part begins
		}
		c.head, c.left = head, binary.LittleEndian.Uint64(head)
		if c.left > maxBackupPart {
			return 0, fmt.Errorf("a part of the backup has a length of %d bytes, and there are none over %d: the backup is damaged", c.left, maxBackupPart)
		}
	}
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	n, err := c.from.Read(p[:min(uint64(len(p)), c.left)])
	c.left -= uint64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// EndImport ends an import: tasks are found again, and those of the types made
// the archive itself, which is there: they are not made again. See [Store.Imported].
func (s *Store) EndImport(ctx context.Context, made []task.Type) error {
	err := s.update(func(tx txn) error {
		// A snapshot has all records, those of the other database's own, too.
		return errors.Join(tx.Set([]byte(keyImported), []byte("1")), tx.Delete([]byte(prefixMeta+"traits")), tx.Delete([]byte(keyLaunched)))
	})
	if err == nil {
		err = s.deleteHere([]byte(prefixLocal)) // of a cluster that it is of no more
	}
	if err == nil {
		err = s.addTraits()
	}
	if err != nil {
		return fmt.Errorf("note what tasks are found by: %w", err)
	}
	pending, err := s.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, p := range pending {
		if slices.Contains(made, p.Task.Type) {
			p.Task.Status, p.Task.FinishedAt = task.Succeeded, time.Now().UTC()
			if err := s.PutTasks(ctx, []task.Task{p.Task}, nil); err != nil {
				return fmt.Errorf("finish task %d: %w", p.Task.UID, err)
			}
		}
	}
	return nil
}
