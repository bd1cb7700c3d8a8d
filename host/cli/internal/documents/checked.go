package documents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/ingest"
)

// documentFormats lists what documents can come in, as [checkedReader] takes it.
func documentFormats() []string { return []string{"json", "ndjson", "csv"} }

// A checkedReader reads documents before a service gets them.
type checkedReader struct {
	// Format is that of the bytes: an array of JSON objects (or one), an object a line, or CSV with a line
	// of names. See [documentFormats].
	Format    string
	Delimiter byte   // what stands between the columns of CSV
	Key       string // the primary key; "": not known, or with Check found in the first document
	// GenerateIDs gives documents without an id one that is made of what they hold. It needs Key.
	GenerateIDs bool
	// Check refuses documents whose id the service would refuse.
	Check bool
}

// Each calls f for each document of r. The bytes are one line of JSON, good within f only. An error of
// the documents names the place.
func (d *checkedReader) Each(r io.Reader, f func(document []byte) error) error {
	known := map[string]ingest.BodyFormat{"json": ingest.JSON, "ndjson": ingest.NDJSON, "csv": ingest.CSV}
	kind, ok := known[d.Format]
	if !ok {
		return fmt.Errorf("documents of format %q: want one of %v", d.Format, documentFormats())
	}
	check := ingest.Checker{Key: d.Key}
	err := ingest.EachRecord(r, kind, d.Delimiter, func(rec ingest.Record) (err error) {
		if d.GenerateIDs && rec.Body[0] == '{' {
			if rec.Body, err = ingest.GenerateID(rec.Body, d.Key); err != nil {
				return err
			}
		}
		if d.Check {
			if _, err := check.Check(rec); err != nil {
				return d.refusal(err)
			}
			d.Key = check.Key
		}
		if bytes.IndexByte(rec.Body, '\n') >= 0 {
			rec.Body = bytes.ReplaceAll(rec.Body, []byte("\n"), []byte(" ")) // between values: in a string it would be escaped
		}
		return f(rec.Body)
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// refusal says what is wrong with a document in the words of who has not sent it yet.
func (d *checkedReader) refusal(err error) error {
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		return err
	}
	said := strings.TrimSuffix(strings.TrimSuffix(e.Message, ingest.NoneKept), ".")
	switch e.Code {
	case indexerr.IndexPrimaryKeyNoCandidate, indexerr.IndexPrimaryKeyMultipleCandidate:
		said = strings.ReplaceAll(said, "name one with the parameter primaryKey", "name the one that holds the id with --primary-key, or have ids made with --generate-ids")
	case indexerr.MissingDocumentID:
		said += ": name the field that holds the id with --primary-key, or have ids made with --generate-ids"
	}
	return errors.New(said)
}
