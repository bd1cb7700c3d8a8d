package write

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/task"
)

// inlineBody is the largest body that a task's payload holds; a larger one is
// written to a file while it arrives.
const inlineBody = 128 << 10

// Bodies keeps bodies that are too large for memory. See package store.
type Bodies interface {
	// CreateBody makes a body to be written. It goes with the next start
	// where no task was given its name.
	CreateBody() (BodyWriter, error)
}

// A BodyWriter is a body on its way to the disk. Call Keep or Discard.
type BodyWriter interface {
	io.Writer
	// Open returns what was written, from its beginning.
	Open() (io.ReadCloser, error)
	// Keep makes the body survive a crash and returns its name.
	Keep() (name string, err error)
	Discard() error
}

// Incoming says how a body of documents is to be taken.
type Incoming struct {
	Format     ingest.BodyFormat
	Delimiter  byte   // between the columns of CSV; 0: a comma
	PrimaryKey string // "": the index's, or found in the first document
	// Partial keeps the fields of a document that the new one does not name.
	Partial bool
	// SkipCreation leaves out the documents that the index does not have yet.
	SkipCreation bool
	// Lend is asked for the bytes that a document is larger than those before it, which are
	// held in memory; nil: nobody is.
	Lend func(n int) error
}

// AddDocuments is the task that puts documents into an index, which it makes
// where there is none. body is a JSON object or an array of them.
func AddDocuments(uid, primaryKey string, partial bool, body []byte) (task.New, error) {
	in := Incoming{Format: ingest.JSON, PrimaryKey: primaryKey, Partial: partial}
	n, err := in.check(uid, bytes.NewReader(body))
	if err != nil {
		return task.New{}, err
	}
	return in.task(uid, n, body), nil
}

// ReadDocuments is [AddDocuments] for a body of any format and size, which it
// reads to its end with little memory. A JSON body must be JSON; a broken line
// of the other formats fails the task, not the call.
func (s *Writer) ReadDocuments(uid string, in Incoming, body io.Reader) (task.New, error) {
	w := s.NewSpool()
	n, err := in.check(uid, io.TeeReader(body, w))
	if err == nil && w.failed == nil {
		_, err = io.Copy(w, body) // what check left unread
	}
	if err = errors.Join(err, w.failed); err != nil {
		w.Discard()
		return task.New{}, err
	}
	t := in.task(uid, n, w.memory.Bytes())
	if w.file == nil {
		return t, nil
	}
	t.Payload = in.payload().encode(nil)
	t.BodySize = w.size
	if t.Body, err = w.file.Keep(); err != nil {
		w.Discard()
		return task.New{}, fmt.Errorf("keep body: %w", err)
	}
	return t, nil
}

// check reads the documents of a body as far as they can be read, and counts
// them.
func (in *Incoming) check(uid string, body io.Reader) (n int, err error) {
	if err := errors.Join(index.CheckUID(uid), checkPrimaryKey(in.PrimaryKey)); err != nil {
		return 0, apierr.From(err)
	}
	start := bufio.NewReader(body)
	if _, err := start.Peek(1); errors.Is(err, io.EOF) && in.Format == ingest.CSV {
		return 0, apierr.Newf(apierr.MissingPayload, "A csv payload is missing: the body is empty; expected a line of names, then a line a document.")
	}
	records := ingest.NewRecords(start, in.Format, in.Delimiter, in.Lend)
	for {
		_, err := records.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 && in.Format == ingest.NDJSON {
				return 0, apierr.Newf(apierr.MissingPayload, "The body is empty; expected a JSON object a line.")
			}
			return n, nil
		}
		if e, ok := errors.AsType[*apierr.Error](err); ok && e.Code == apierr.MalformedPayload && in.Format != ingest.JSON {
			return n, nil // the task will say so
		}
		if err != nil {
			return 0, err
		}
		n++
	}
}

func (in *Incoming) payload() *payload {
	return &payload{PrimaryKey: in.PrimaryKey, Partial: in.Partial, SkipCreation: in.SkipCreation, Format: in.Format, Delimiter: in.Delimiter}
}

func (in *Incoming) task(uid string, documents int, body []byte) task.New {
	needs := ""
	if in.SkipCreation {
		needs = "skipCreation"
	}
	return task.New{
		Needs: needs,
		Type:  task.DocumentAddition, IndexUID: uid, Payload: in.payload().encode(body),
		Details: details("receivedDocuments", documents, "indexedDocuments", nil),
	}
}

// NewSpool returns where a body goes that is kept for a while.
func (s *Writer) NewSpool() *Spool { return &Spool{bodies: s.bodies} }

// A Spool takes a body into memory, and past inlineBody into a file.
type Spool struct {
	bodies Bodies
	memory bytes.Buffer
	file   BodyWriter
	size   int64
	failed error
}

// Write implements [io.Writer].
func (s *Spool) Write(p []byte) (int, error) {
	if s.failed == nil {
		s.failed = s.write(p)
	}
	if s.failed != nil {
		return 0, s.failed
	}
	s.size += int64(len(p))
	return len(p), nil
}

func (s *Spool) write(p []byte) (err error) {
	if s.file == nil {
		if s.memory.Len()+len(p) <= inlineBody {
			s.memory.Write(p)
			return nil
		}
		if s.file, err = s.bodies.CreateBody(); err != nil {
			return fmt.Errorf("make file for body: %w", err)
		}
		if _, err := s.file.Write(s.memory.Bytes()); err != nil {
			return fmt.Errorf("write body: %w", err)
		}
		s.memory = bytes.Buffer{}
	}
	if _, err := s.file.Write(p); err != nil {
		return fmt.Errorf("write body: %w", err)
	}
	return nil
}

// Open returns what was written, from its beginning. Close it before Discard.
func (s *Spool) Open() (io.ReadCloser, error) {
	if s.file == nil {
		return io.NopCloser(bytes.NewReader(s.memory.Bytes())), nil
	}
	f, err := s.file.Open()
	if err != nil {
		return nil, fmt.Errorf("open body: %w", err)
	}
	return f, nil
}

// Discard removes what was written.
func (s *Spool) Discard() {
	if s.file != nil {
		_ = s.file.Discard() // else the next start does it
	}
}
