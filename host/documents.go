package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parley-search/parley/host/internal/search/ingest"
)

// DocumentFormats lists what documents can come in, as [EachDocument] takes it.
func DocumentFormats() []string { return []string{"json", "ndjson", "csv"} }

// EachDocument calls f for each document of r, which is an array of JSON objects
// (or one), an object a line, or CSV with a line of names; delimiter stands
// between its columns. The bytes are one line of JSON, good within f only. An
// error of the documents names the place.
func EachDocument(r io.Reader, format string, delimiter byte, f func(document []byte) error) error {
	known := map[string]ingest.BodyFormat{"json": ingest.JSON, "ndjson": ingest.NDJSON, "csv": ingest.CSV}
	kind, ok := known[format]
	if !ok {
		return fmt.Errorf("documents of format %q: want one of %v", format, DocumentFormats())
	}
	err := ingest.EachDocument(r, kind, delimiter, func(document []byte) error {
		if bytes.IndexByte(document, '\n') >= 0 {
			document = bytes.ReplaceAll(document, []byte("\n"), []byte(" ")) // between values: in a string it would be escaped
		}
		return f(document)
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
