// Package pdf reads the text of PDF files in a WebAssembly sandbox: PDFium without files, without
// sockets, with a bound on memory and time.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"

	"github.com/parley-search/parley/host/internal/plugin/wasm"
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

// A Text is what can be read in a file.
type Text struct {
	Title string // that the file gives itself
	Pages []Page
}

// A Page is the text of a page, line by line.
type Page struct {
	Text string
	// Notes are the values of fields of forms, and what notes say.
	Notes []string
	// Outline has what the file's outline calls what begins on the page.
	Outline []Heading
}

// A Heading is an entry of an outline, the outermost ones of level 1.
type Heading struct {
	Level int
	Text  string
}

// Text returns what can be read in a file. One that makes the sandbox fail, or takes too long, ends the
// sandbox and is an error.
func (r *Reader) Text(ctx context.Context, data []byte) (text *Text, err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	type result struct {
		text *Text
		err  error
	}
	done := make(chan result, 1)
	s := r.sandbox
	go func() {
		t, err := readText(ctx, s.pool, data)
		done <- result{t, err}
	}()
	timer := time.NewTimer(maxTime)
	defer timer.Stop()
	select {
	case res := <-done:
		if res.err != nil {
			r.discard()
		}
		return res.text, res.err
	case <-timer.C:
		err = fmt.Errorf("reading it takes longer than %v", maxTime)
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.stop()
	<-done
	r.discard()
	return nil, err
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

func readText(ctx context.Context, pool pdfium.Pool, data []byte) (text *Text, err error) {
	defer func() {
		if v := recover(); v != nil {
			text, err = nil, fmt.Errorf("the sandbox for PDF files failed: %v", v)
		}
	}()
	instance, err := pool.GetInstance(30 * time.Second)
	if err != nil {
		return nil, fmt.Errorf("start the sandbox for PDF files: %w", err)
	}
	defer instance.Close()
	doc, err := instance.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return nil, errors.New("it is protected by a password")
	case err != nil:
		return nil, fmt.Errorf("it is not a PDF file that can be opened: %w", plain(err))
	}
	defer instance.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: doc.Document}) //nolint:errcheck // closed with the instance
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return nil, fmt.Errorf("count its pages: %w", err)
	}
	text = &Text{}
	if meta, err := instance.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: doc.Document, Tag: "Title"}); err == nil {
		text.Title = meta.Value
	}
	size := 0
	if count.PageCount > maxPages {
		return nil, fmt.Errorf("it has %d pages, and at most %d are read: split it into several files", count.PageCount, maxPages)
	}
	for i := range count.PageCount {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		page := requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document, Index: i}}
		read, err := textOf(instance, page)
		if err != nil {
			return nil, fmt.Errorf("read page %d: %w", i+1, plain(err))
		}
		text.Pages = append(text.Pages, Page{Text: read, Notes: notesOf(instance, page)})
		if size += len(read); size > maxText {
			break
		}
	}
	if len(text.Pages) == 0 {
		return nil, errors.New("it has no pages")
	}
	text.readOutline(instance, doc.Document)
	return text, nil
}

// textOf is the text of a page. The library's own GetPageText asks for one character after the other, and
// loses those beyond the first 65,536 of Unicode.
func textOf(instance pdfium.Pdfium, page requests.Page) (string, error) {
	loaded, err := instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	count, err := instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	text := ""
	if err == nil && count.Count > 0 {
		var got *responses.FPDFText_GetText
		// Each character takes up to two units.
		if got, err = instance.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: loaded.TextPage, Count: 2 * count.Count}); err == nil {
			p := placer{instance: instance, page: loaded.TextPage, text: []rune(got.Text)}
			p.isPlain = len(p.text) == count.Count
			text = unitsAsText.Replace(p.inReadingOrder())
		}
	}
	_, closing := instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	return text, errors.Join(err, closing)
}

// unitsAsText has a hyphen at the end of a line as [CutMark], and leaves out what has no character.
var unitsAsText = strings.NewReplacer(string(cut), CutMark, "\x00", "")

// CutMark is what stands for a hyphen at the end of a line, and for that end.
const CutMark = "\x02"

// Bounds of what is beside the text of pages.
const (
	maxNotes   = 500  // of a page
	maxOutline = 5000 // entries, of which some may lead in a circle
	maxLevel   = 6
)

// notesOf are the values of the fields on a page, and its notes.
func notesOf(instance pdfium.Pdfium, page requests.Page) (notes []string) {
	count, err := instance.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return nil
	}
	for i := range min(count.Count, maxNotes) {
		a, err := instance.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		value := func(key string) string {
			v, err := instance.FPDFAnnot_GetStringValue(&requests.FPDFAnnot_GetStringValue{Annotation: a.Annotation, Key: key})
			if err != nil {
				return ""
			}
			return strings.TrimSpace(v.Value)
		}
		for _, key := range []string{"V", "Contents"} {
			if text := value(key); text != "" && text != "Off" {
				if name := value("T"); key == "V" && name != "" {
					text = name + ": " + text
				}
				notes = append(notes, text)
			}
		}
		_, _ = instance.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a.Annotation})
	}
	return notes
}

// readOutline gives pages the entries of the outline that lead to them.
func (t *Text) readOutline(instance pdfium.Pdfium, doc references.FPDF_DOCUMENT) {
	type entry struct {
		bookmark *references.FPDF_BOOKMARK
		level    int
	}
	child := func(of *references.FPDF_BOOKMARK, level int) []entry {
		if r, err := instance.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: doc, Bookmark: of}); err == nil && r.Bookmark != nil && level <= maxLevel {
			return []entry{{r.Bookmark, level}}
		}
		return nil
	}
	todo := child(nil, 1) // the next one last
	for n := 0; len(todo) > 0 && n < maxOutline; n++ {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if r, err := instance.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: doc, Bookmark: *e.bookmark}); err == nil && r.Bookmark != nil {
			todo = append(todo, entry{r.Bookmark, e.level})
		}
		todo = append(todo, child(e.bookmark, e.level+1)...)
		title, err := instance.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: *e.bookmark})
		if err != nil {
			continue
		}
		dest, err := instance.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: doc, Bookmark: *e.bookmark})
		if err != nil || dest.Dest == nil {
			continue
		}
		page, err := instance.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: doc, Dest: *dest.Dest})
		if err != nil || page.Index < 0 || page.Index >= len(t.Pages) {
			continue
		}
		outline := &t.Pages[page.Index].Outline
		if !slices.ContainsFunc(*outline, func(h Heading) bool { return h.Text == title.Title }) {
			*outline = append(*outline, Heading{e.level, title.Title})
		}
	}
}
