package documents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// An Importer sends the documents of a file.
type Importer struct {
	Client                    *cmdutil.Client
	Index, format, PrimaryKey string
	delimiter                 byte // of CSV; 0: what its first line has most of
	partial, json             bool
	generateIDs               bool
	dryRun                    bool // say what would be done, and do nothing
	Size                      int  // bytes of one request
	Bar                       *cmdutil.Bar

	body  bytes.Buffer // of the next request: NDJSON
	tasks []uint32
}

// Run sends the file and waits for its tasks. A file whose documents the index would refuse is refused
// before any of it is sent; of the standard input, each document is looked at as it comes.
func (in *Importer) run(ctx context.Context, name string, stdin io.Reader, out io.Writer) error {
	reader, err := in.documentReader(ctx)
	if err != nil {
		return err
	}
	file, size := stdin, int64(0)
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("open documents: %w", err)
		}
		defer f.Close()
		if st, err := f.Stat(); err == nil {
			size = st.Size()
		}
		file = f
		if size > 0 { // else a pipe, which is read once
			if file, err = in.shaped(reader, f, size); err != nil {
				return fmt.Errorf("import %s: %w (nothing was sent)", name, err)
			}
		}
	}
	if reader.Delimiter == 0 {
		reader.Delimiter = ','
	}
	counted := &counter{r: file}
	n := 0
	err = reader.Each(counted, func(document []byte) error {
		if n++; in.dryRun {
			return nil
		}
		if err := in.add(ctx, document); err != nil {
			return err
		}
		in.Bar.Show("sending", counted.n, size)
		return nil
	})
	if err == nil && in.body.Len() > 0 {
		err = in.send(ctx)
	}
	in.Bar.End()
	if err != nil && (n > 0 || counted.n > 0 || counted.err != nil) {
		return fmt.Errorf("import %s: %w (%d requests were accepted before)", name, err, len(in.tasks))
	}
	if n == 0 {
		return fmt.Errorf("import %s: it holds no document of the format %s, and nothing was sent: name the right file, or another --format", name, in.format)
	}
	if err := in.wait(ctx, "indexing"); err != nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	if in.dryRun && !in.json {
		_, err = fmt.Fprintf(out, "%d documents would be sent to index %s\n", n, in.Index)
		return err
	}
	if in.json {
		return cmdutil.WriteJSON(out, map[string]any{"index": in.Index, "documents": n, "tasks": in.tasks})
	}
	_, err = fmt.Fprintf(out, "imported %s in %s into index %s\n", cmdutil.FormatCount(n, "document", "documents"), cmdutil.FormatCount(len(in.tasks), "task", "tasks"), in.Index)
	return err
}

// add puts a document into the next request, and sends that before where it is full.
func (in *Importer) add(ctx context.Context, document []byte) error {
	if in.body.Len() > 0 && in.body.Len()+len(document)+1 > in.Size {
		if err := in.send(ctx); err != nil {
			return err
		}
	}
	in.body.Write(document)
	in.body.WriteByte('\n')
	return nil
}

// documentReader reads documents as the index takes them. It asks the service what their primary key is.
func (in *Importer) documentReader(ctx context.Context) (*checkedReader, error) {
	r := &checkedReader{Format: in.format, Delimiter: in.delimiter, GenerateIDs: in.generateIDs, Check: true}
	var index struct{ PrimaryKey string }
	err := in.Client.Call(ctx, http.MethodGet, "/indexes/"+url.PathEscape(in.Index), nil, &index)
	failed, refused := errors.AsType[*cmdutil.StatusError](err)
	switch {
	case err == nil, refused && failed.Code == "index_not_found":
	case refused && failed.Status == http.StatusForbidden: // the key may add documents and no more
		r.Check = in.PrimaryKey != ""
	default:
		return nil, fmt.Errorf("look at the index: %w", err)
	}
	if index.PrimaryKey != "" && in.PrimaryKey != "" && index.PrimaryKey != in.PrimaryKey {
		return nil, fmt.Errorf("index %s has the primary key %q, and --primary-key is %q: leave it out, or import into another index", in.Index, index.PrimaryKey, in.PrimaryKey)
	}
	r.Key = cmp.Or(in.PrimaryKey, index.PrimaryKey)
	if in.generateIDs {
		r.Key = cmp.Or(r.Key, "id")
		in.PrimaryKey = r.Key
	}
	return r, nil
}

// shaped returns the documents of a file, looked through once where that is asked for.
func (in *Importer) shaped(r *checkedReader, f *os.File, size int64) (documents io.Reader, err error) {
	open := func() io.Reader {
		if r.Format == "json" {
			return withinMember(f, size, r.Key)
		}
		return io.NewSectionReader(f, 0, size)
	}
	if r.Format == "csv" && r.Delimiter == 0 {
		if r.Delimiter, err = delimiterOf(f, size); err != nil {
			return nil, err
		}
	}
	if !r.Check {
		return open(), nil
	}
	checked := &counter{r: open()}
	err = r.Each(checked, func([]byte) error {
		in.Bar.Show("checking", checked.n, size)
		return nil
	})
	in.Bar.End()
	r.Check = false
	return open(), err
}

// send posts what is gathered.
func (in *Importer) send(ctx context.Context) error {
	method, path := http.MethodPost, "/indexes/"+url.PathEscape(in.Index)+"/documents"
	if in.partial {
		method = http.MethodPut
	}
	if in.PrimaryKey != "" {
		path += "?primaryKey=" + url.QueryEscape(in.PrimaryKey)
	}
	uid, err := in.Client.Begin(ctx, method, path, cmdutil.NDJSON(in.body.Bytes()))
	if err != nil {
		return fmt.Errorf("send documents: %w", err)
	}
	in.tasks = append(in.tasks, uid)
	in.body.Reset()
	return nil
}

// wait waits until all tasks are finished, shows how many of them are as a step of this name, and names those
// that failed.
func (in *Importer) wait(ctx context.Context, step string) error {
	defer in.Bar.End()
	var failed []error
	for i, uid := range in.tasks {
		in.Bar.Show(step, int64(i), int64(len(in.tasks)))
		_, err := in.Client.Await(ctx, uid)
		if _, ended := errors.AsType[*cmdutil.TaskError](err); !ended && err != nil {
			return err
		}
		failed = append(failed, err)
	}
	in.Bar.Show(step, int64(len(in.tasks)), int64(len(in.tasks)))
	return errors.Join(failed...)
}

// A counter counts what is read of r.
type counter struct {
	r   io.Reader
	n   int64
	err error // why it could not be read to its end
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += int64(n); err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
