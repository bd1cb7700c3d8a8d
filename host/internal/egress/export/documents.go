package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/parley-search/parley/host/internal/search"
)

// documents sends what is not sent yet of an index's documents.
func (x *run) documents(ctx context.Context, ix *search.Exported, name string) error {
	path := indexPath(ix.UID) + "/documents"
	if ix.PrimaryKey != "" {
		path += "?primaryKey=" + url.QueryEscape(ix.PrimaryKey)
	}
	for !x.Whole {
		part, err := x.part(ctx, ix.UID, x.Patterns[name].Filter)
		if err != nil {
			return err
		}
		if part.documents > 0 {
			if _, err := x.send(ctx, Request{Method: http.MethodPost, Path: path, Body: part.packed, Packed: true}); err != nil {
				return err
			}
		}
		x.Whole = part.last
		x.After = part.after
		x.Looked += part.looked
		x.Matched[name] += part.documents
		if err := x.keep(); err != nil {
			return err
		}
		x.report()
	}
	return nil
}

// A part is what goes into one request.
type part struct {
	packed            []byte
	documents, looked int
	after             string // id of its last document
	last              bool
}

// part reads the next documents: as many as the payload may hold, and one at
// least.
func (x *run) part(ctx context.Context, uid string, filter json.RawMessage) (p part, err error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	size := 0
	p.after, p.last = x.After, true
	end, err := x.opts.Indexes.ExportDocuments(ctx, uid, x.After, filter, func(id string, document []byte, looked int) bool {
		if p.documents > 0 && size+len(document)+1 > x.Payload {
			p.last = false
			return false
		}
		_, _ = z.Write(document) // into memory
		_, _ = z.Write([]byte{'\n'})
		size += len(document) + 1
		p.documents++
		p.looked += looked
		p.after = id
		return true
	})
	p.looked += end
	if err == nil {
		err = z.Close()
	}
	p.packed = b.Bytes()
	return p, err
}
