package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/reader"
	"github.com/parley-search/parley/host/internal/search/reader/pdf"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// DocumentFormats lists what documents can come in, as [DocumentReader] takes it.
func DocumentFormats() []string { return []string{"json", "ndjson", "csv"} }

// A DocumentReader reads documents before a service gets them.
type DocumentReader struct {
	// Format is that of the bytes: an array of JSON objects (or one), an object a line, or CSV with a line
	// of names. See [DocumentFormats].
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
func (d *DocumentReader) Each(r io.Reader, f func(document []byte) error) error {
	known := map[string]ingest.BodyFormat{"json": ingest.JSON, "ndjson": ingest.NDJSON, "csv": ingest.CSV}
	kind, ok := known[d.Format]
	if !ok {
		return fmt.Errorf("documents of format %q: want one of %v", d.Format, DocumentFormats())
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
func (d *DocumentReader) refusal(err error) error {
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

// What turns files into documents, see package reader.
type (
	// A FileReader reads pages out of files.
	FileReader = reader.Reader
	// A FileSelection says which files of a folder or archive are taken.
	FileSelection = reader.Selection
	// A File is one that was found.
	File = reader.File
	// A FileSource says where pages come from, and cuts them into documents.
	FileSource = reader.Source
	// A FileDocument is a passage of a page.
	FileDocument = reader.Document
	// A FilePage is the text of a file.
	FilePage = reader.Page
	// A FileLeftOut counts the words of a file that a rule leaves out.
	FileLeftOut = reader.LeftOut
	// A FileSite knows what is the same on the pages of a site.
	FileSite = reader.Site
)

// FileIndexSettings are the settings of an index that is made for documents of files.
const FileIndexSettings = reader.IndexSettings

// NewFileReader returns a reader that keeps the compiled sandbox for PDF files in cacheDir; empty: it is
// compiled anew in each process. Compiler is as in [Options]. Call the function at the end.
func NewFileReader(cacheDir string, compiler []string) (*FileReader, func() error) {
	p := pdf.New(cacheDir, compiler)
	return &FileReader{PDF: p}, p.Close
}

// prepareAfter is how long a host serves before it prepares for files: whoever waited for its start is
// being answered by then.
const prepareAfter = 10 * time.Second

// openFiles returns what reads the files that clients send. What PDF files need is compiled some time after
// the start, not with the first of them, and in a process of its own.
func (h *Host) openFiles(c config.Config, o Options) *reader.Reader {
	p := pdf.New(PluginCacheDir(c), o.Compiler)
	h.onClose("the reader of PDF files", p.Close)
	if len(o.Compiler) > 0 {
		h.onClose("the preparation for PDF files", h.runInBackground(func(ctx context.Context) {
			select {
			case <-time.After(prepareAfter):
			case <-ctx.Done():
				return
			}
			if err := p.Prepare(ctx); err != nil && ctx.Err() == nil {
				h.log.Warn().Err(err).Msg("not prepared for PDF files: the first one will try again")
			}
		}))
	}
	return &reader.Reader{PDF: p}
}

// CanReadFile reports whether the name of a file says a format that can be read.
func CanReadFile(name string) bool { return reader.CanRead(name) }

// IsPage reports whether the name of a file says a page of the web.
func IsPage(name string) bool { return reader.IsPage(name) }

// IsArchive reports whether the name of a file says an archive whose files can be read.
func IsArchive(name string) bool { return reader.IsArchive(name) }

// FileExtensions lists the extensions of the names of files that can be read, sorted.
func FileExtensions() []string { return reader.Extensions() }

// ErrEmptyFile is what a file without text gives.
var ErrEmptyFile = reader.ErrEmpty

// EachFile calls f for each file of a file, folder or archive, see reader.EachFile.
var EachFile = reader.EachFile
