package write

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/task"
)

// keptBytes is how much of a body's documents is kept from the first look at
// them; a longer body is parsed again.
const keptBytes = 4 << 20

// An addition is a task that adds documents: looked at whole, then applied.
type addition struct {
	payload payload
	open    func() (io.ReadCloser, error)
	batch   *docBatch

	// What survey found.
	n      int // documents to write
	key    string
	fields []string          // new to the index
	kept   []ingest.Received // all documents, or nil: there are too many
}

// bodyOf returns what opens the documents that a task was sent with. inline are those of its payload.
func bodyOf(w *task.Work, inline []byte) func() (io.ReadCloser, error) {
	if w.Task.Body != "" {
		return w.OpenBody
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(inline)), nil }
}

// EachDocument calls f for each document that a task was sent with, as JSON. f must not keep it.
func EachDocument(w *task.Work, f func(doc []byte)) error {
	if w.Type != task.DocumentAddition {
		return apierr.Newf(apierr.TaskFileNotFound, "Task %d is a %s, which has no documents.", w.UID, w.Type)
	}
	p, inline, err := decodePayload(w.Payload)
	if err != nil {
		return err
	}
	body, err := bodyOf(w, inline)()
	if err != nil {
		return fmt.Errorf("open body: %w", err)
	}
	defer body.Close()
	records := ingest.NewRecords(body, p.Format, p.Delimiter, nil)
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f(r.Body)
	}
}

// survey checks the whole body. The error is an [apierr.Error] where the task
// is to fail.
func (a *addition) survey(ctx context.Context) error {
	c := ingest.Checker{Key: a.batch.key}
	if m := a.batch.record(); m != nil {
		c.Places = m.Settings.Places()
	}
	if k := a.payload.PrimaryKey; k != "" && k != c.Key {
		if c.Key != "" {
			return keyExists(&index.Meta{UID: a.batch.uid, PrimaryKey: c.Key})
		}
		c.Key = k
	}
	seen := map[string]struct{}{}
	size := 0
	vectors := vectorSurvey{batch: a.batch, partial: a.payload.Partial}
	err := a.read(ctx, &c, func(d ingest.Received) error {
		a.n++
		if size += len(d.Body); size <= keptBytes {
			a.kept = append(a.kept, d)
		}
		index.EachField(d.Body, func(path string) {
			if _, old := a.batch.fields[path]; old {
				return
			}
			if _, old := seen[path]; !old {
				seen[path] = struct{}{}
				a.fields = append(a.fields, path)
			}
		})
		if len(a.batch.fields)+len(seen) > index.MaxFields {
			return apierr.Newf(indexerr.MaxFieldsLimitExceeded, "With these documents the index would have more than %d different fields. No document of this task was kept.", index.MaxFields)
		}
		return vectors.add(ctx, d)
	})
	if err == nil {
		err = vectors.run(ctx)
	}
	if size > keptBytes {
		a.kept = nil
	}
	a.key = c.Key
	return err
}

// each calls f for the documents, which survey accepted.
func (a *addition) each(ctx context.Context, f func(ingest.Received) error) error {
	if len(a.kept) == a.n {
		for _, d := range a.kept {
			if err := f(d); err != nil {
				return err
			}
		}
		return nil
	}
	return a.read(ctx, &ingest.Checker{Key: a.key}, f)
}

// read calls f for each document of the body that is to be written.
func (a *addition) read(ctx context.Context, c *ingest.Checker, f func(ingest.Received) error) error {
	body, err := a.open()
	if err != nil {
		return fmt.Errorf("open body: %w", err)
	}
	defer body.Close()
	records := ingest.NewRecords(body, a.payload.Format, a.payload.Delimiter, nil)
	for i := 0; ; i++ {
		if i%100 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return spoilt(err)
		}
		d, err := c.Check(r)
		if err != nil {
			return err
		}
		if a.payload.SkipCreation {
			there, err := a.batch.has(d.ID)
			if err != nil {
				return err
			}
			if !there {
				continue
			}
		}
		if err := f(d); err != nil {
			return err
		}
	}
}

// spoilt says of an error in one record what it means for the others.
func spoilt(err error) error {
	if e, ok := errors.AsType[*apierr.Error](err); ok {
		return apierr.Newf(e.Code, "%s No document of this task was kept.", e.Message)
	}
	return fmt.Errorf("read body: %w", err)
}

// received is how many documents w was said to have, or more where more are
// known.
func (a *addition) received(w *task.Work) int {
	return max(a.n, receivedDocuments(w.Details))
}

// A SkippedFile is a file of an addition that became no document.
type SkippedFile struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// SkippedDetails are the details of an addition, with the files that it left out.
func SkippedDetails(before json.RawMessage, files []SkippedFile) json.RawMessage {
	return details("receivedDocuments", receivedDocuments(before), "indexedDocuments", nil, "skippedFiles", files)
}

// SkippedOf returns the files that the details of an addition name as left out.
func SkippedOf(addition json.RawMessage) []SkippedFile {
	if !bytes.Contains(addition, []byte("skippedFiles")) {
		return nil
	}
	var d struct{ SkippedFiles []SkippedFile }
	_ = json.Unmarshal(addition, &d) // an object of ours
	return d.SkippedFiles
}

// details are those of the task that indexed so many documents.
func (a *addition) details(w *task.Work, indexed int) json.RawMessage {
	received := a.received(w)
	if skipped := SkippedOf(w.Details); skipped != nil {
		return details("receivedDocuments", received, "indexedDocuments", indexed, "skippedFiles", skipped)
	}
	return details("receivedDocuments", received, "indexedDocuments", indexed)
}
