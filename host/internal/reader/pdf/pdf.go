// Package pdf reads the text of PDF files in a WebAssembly sandbox: PDFium without files, without
// sockets, with a bound on memory and time.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"

	"github.com/parley-search/parley/host/internal/wasm"
)

const (
	maxMemoryPages = 192 << 20 / (64 << 10) // 192 MiB
	maxPages       = 5000
	maxText        = 16 << 20
	// maxTime bounds the reading of one file.
	maxTime = 2 * time.Minute
)

// Library is what the sandbox is called where it is compiled aside, see [wasm.CompileLibrary].
const Library = "pdf"

// A Reader reads PDF files, one after the other. Safe for concurrent use.
type Reader struct {
	cacheDir string
	compiler []string
	turn     chan struct{} // full while somebody uses pool
	sandbox  *sandbox      // nil: not started
}

// A sandbox runs PDFium.
type sandbox struct {
	pool pdfium.Pool
	stop context.CancelFunc // ends what is under way
}

// close ends the sandbox, in which nothing is under way: its memory goes at once.
func (s *sandbox) close() error {
	s.stop()
	return s.pool.Close()
}

// New returns a reader that has its sandbox compiled into cacheDir, by a child of the program compiler: see
// [wasm.CompileLibrary]. Without a program the first file has it compiled in process, which takes 300 MB
// for some seconds; without cacheDir, anew in each process.
func New(cacheDir string, compiler []string) *Reader {
	return &Reader{cacheDir: cacheDir, compiler: compiler, turn: make(chan struct{}, 1)}
}

// Compile compiles the sandbox into cacheDir.
func Compile(cacheDir string) error {
	s, err := start(cacheDir)
	if err != nil {
		return err
	}
	return s.close()
}

// Prepare compiles the sandbox where the cache lacks it, so that the first file need not wait for it. It
// does nothing where there is no program for it.
func (r *Reader) Prepare(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return r.prepare(ctx)
}

func (r *Reader) prepare(ctx context.Context) error {
	if err := wasm.CompileLibrary(ctx, r.compiler, r.cacheDir, Library, "github.com/klippa-app/go-pdfium"); err != nil {
		return fmt.Errorf("compile the sandbox for PDF files: %w", err)
	}
	return nil
}

// open starts the sandbox.
func (r *Reader) open(ctx context.Context) (err error) {
	if r.sandbox != nil {
		return nil
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.sandbox, err = start(r.cacheDir)
	if wasm.IsDamaged(r.cacheDir, err) {
		if err = r.prepare(ctx); err == nil {
			r.sandbox, err = start(r.cacheDir)
		}
	}
	return err
}

func start(cacheDir string) (*sandbox, error) {
	config, files := wasm.LibraryConfig(cacheDir, maxMemoryPages)
	ctx, stop := context.WithCancel(wasm.WithLibraryMemory(context.Background(), maxMemoryPages))
	pool, err := webassembly.Init(webassembly.Config{
		Context:  ctx,
		MaxTotal: 1, MaxIdle: 1,
		FSConfig:      files,
		RuntimeConfig: config,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("start the sandbox for PDF files: %w", err)
	}
	return &sandbox{pool, stop}, nil
}

// Close ends the sandbox.
func (r *Reader) Close() error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.sandbox == nil {
		return nil
	}
	err := r.sandbox.close()
	r.sandbox = nil
	return err
}

// Text returns the text of each page, and the title that the file gives itself. A file that makes the
// sandbox fail, or takes too long, ends the sandbox and is an error.
func (r *Reader) Text(ctx context.Context, data []byte) (pages []string, title string, err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	if err := r.open(ctx); err != nil {
		return nil, "", err
	}
	type result struct {
		pages []string
		title string
		err   error
	}
	done := make(chan result, 1)
	s := r.sandbox
	go func() {
		p, t, err := readText(ctx, s.pool, data)
		done <- result{p, t, err}
	}()
	timer := time.NewTimer(maxTime)
	defer timer.Stop()
	select {
	case res := <-done:
		if res.err != nil {
			r.discard()
		}
		return res.pages, res.title, res.err
	case <-timer.C:
		err = fmt.Errorf("reading it takes longer than %v", maxTime)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.stop()
	<-done
	r.discard()
	return nil, "", err
}

// discard ends a sandbox that may be in an unknown state.
func (r *Reader) discard() {
	_ = r.sandbox.close()
	r.sandbox = nil
}

// plain says in words what was a trap in the sandbox.
func plain(err error) error {
	if strings.HasPrefix(err.Error(), "wasm error") {
		return fmt.Errorf("what reads PDF files fails on it, or needs more than %d MiB of memory for it", maxMemoryPages>>4)
	}
	return err
}

func readText(ctx context.Context, pool pdfium.Pool, data []byte) (pages []string, title string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the sandbox for PDF files failed: %v", v)
		}
	}()
	instance, err := pool.GetInstance(30 * time.Second)
	if err != nil {
		return nil, "", fmt.Errorf("start the sandbox for PDF files: %w", err)
	}
	defer instance.Close()
	doc, err := instance.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		return nil, "", fmt.Errorf("it is not a PDF file that can be opened: %w", plain(err))
	}
	defer instance.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: doc.Document}) //nolint:errcheck // closed with the instance
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return nil, "", fmt.Errorf("count its pages: %w", err)
	}
	if meta, err := instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: doc.Document, Tag: "Title"}); err == nil {
		title = meta.Value
	}
	size := 0
	if count.PageCount > maxPages {
		return nil, "", fmt.Errorf("it has %d pages, and at most %d are read: split it into several files", count.PageCount, maxPages)
	}
	for i := range count.PageCount {
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		text, err := instance.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document, Index: i}}})
		if err != nil {
			return nil, "", fmt.Errorf("read page %d: %w", i+1, plain(err))
		}
		pages = append(pages, text.Text)
		if size += len(text.Text); size > maxText {
			break
		}
	}
	if len(pages) == 0 {
		return nil, "", errors.New("it has no pages")
	}
	return pages, title, nil
}
