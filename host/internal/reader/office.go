package reader

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// maxChapters bounds the files of a book that are read.
const maxChapters = 2000

// openZip opens a file that is a ZIP archive.
func openZip(data []byte) (*zip.Reader, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("open the archive that it is: %w", err)
	}
	return z, nil
}

// unpack returns a file of an archive, of at most left bytes, which it counts down.
func unpack(z *zip.Reader, name string, left *int) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s in it: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(*left)+1))
	if err != nil {
		return nil, fmt.Errorf("unpack %s in it: %w", name, err)
	}
	if *left -= len(data); *left < 0 {
		return nil, fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
	}
	return data, nil
}

// readDOCX reads a document of a word processor: its paragraphs, headings by their style, and tables.
func readDOCX(_ context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openZip(data)
	if err != nil {
		return nil, err
	}
	left := maxUnpacked
	body, err := unpack(z, "word/document.xml", &left)
	if err != nil {
		return nil, err
	}
	p := &Page{}
	if core, err := unpack(z, "docProps/core.xml", &left); err == nil {
		p.Title = elementText(core, "title")
	}
	text, err := docxText(body)
	if err != nil {
		return nil, err
	}
	p.Text = takeTitle(text, &p.Title)
	return p, nil
}

// maxNested bounds how deep paragraphs and tables stand within each other: text boxes and cells have some.
const maxNested = 64

// docxText writes WordprocessingML as Markdown.
func docxText(body []byte) (string, error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	w := docxWriter{}
	for skipped := 0; ; {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return w.out.String(), nil
		}
		if err != nil {
			return "", fmt.Errorf("read word/document.xml: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			// What stands in for those who cannot show the choice before it says the same again.
			if skipped > 0 || t.Name.Local == "Fallback" {
				skipped++
			} else if err := w.start(t); err != nil {
				return "", err
			}
		case xml.EndElement:
			if skipped > 0 {
				skipped--
			} else {
				w.end(t.Name.Local)
			}
		case xml.CharData:
			if w.inText && skipped == 0 {
				w.paragraph().text.Write(t)
			}
		}
	}
}

// A docxWriter writes the elements of a document as Markdown.
type docxWriter struct {
	out    strings.Builder
	nested []*docxParagraph // those that have begun
	inText bool
	rows   int             // rows of tables within each other
	cell   strings.Builder // of the outermost row
}

type docxParagraph struct {
	text  strings.Builder
	style string
}

// paragraph is the innermost one.
func (w *docxWriter) paragraph() *docxParagraph {
	if len(w.nested) == 0 {
		w.nested = append(w.nested, &docxParagraph{})
	}
	return w.nested[len(w.nested)-1]
}

func (w *docxWriter) start(t xml.StartElement) error {
	switch t.Name.Local {
	case "p":
		if len(w.nested) == maxNested {
			return fmt.Errorf("paragraphs stand more than %d deep in word/document.xml", maxNested)
		}
		w.nested = append(w.nested, &docxParagraph{})
	case "pStyle":
		w.paragraph().style = attributeOf(t, "val")
	case "outlineLvl":
		if n, err := strconv.Atoi(attributeOf(t, "val")); err == nil && n < 6 {
			w.paragraph().style = "heading" + strconv.Itoa(n+1)
		}
	case "t":
		w.inText = true
	case "tab":
		w.paragraph().text.WriteByte(' ')
	case "br", "cr":
		w.paragraph().text.WriteByte('\n')
	case "tr":
		w.rows++
	}
	return nil
}

func (w *docxWriter) end(name string) {
	switch name {
	case "t":
		w.inText = false
	case "p":
		p := w.paragraph()
		w.nested = w.nested[:len(w.nested)-1]
		w.write(p)
	case "tc":
		if w.rows == 1 {
			w.endCell()
		}
	case "tr":
		if w.rows == 1 {
			if w.cell.Len() > 0 {
				w.endCell()
			}
			w.out.WriteString("|\n")
		}
		w.rows = max(w.rows-1, 0)
	case "tbl":
		if w.rows == 0 {
			w.out.WriteByte('\n')
		}
	}
}

func (w *docxWriter) endCell() {
	w.out.WriteString("| " + strings.Join(strings.Fields(w.cell.String()), " ") + " ")
	w.cell.Reset()
}

func (w *docxWriter) write(p *docxParagraph) {
	text := strings.TrimSpace(p.text.String())
	switch level := headingLevel(p.style); {
	case text == "":
	case w.rows > 0:
		w.cell.WriteString(text + " ")
	case level > 0:
		w.out.WriteString(strings.Repeat("#", level) + " " + strings.Join(strings.Fields(text), " ") + "\n\n")
	case strings.HasPrefix(strings.ToLower(p.style), "list"):
		w.out.WriteString("- " + text + "\n")
	default:
		w.out.WriteString(text + "\n\n")
	}
}

// headingLevel returns the level of a paragraph's style, 0 for one that is no heading.
func headingLevel(style string) int {
	s := strings.ToLower(strings.ReplaceAll(style, " ", ""))
	if s == "title" {
		return 1
	}
	for _, prefix := range []string{"heading", "berschrift", "überschrift", "titre"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= 6 {
				return n
			}
		}
	}
	return 0
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// elementText returns the text of the first element called name, empty where there is none.
func elementText(data []byte, name string) string {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	inside := false
	for {
		t, err := d.RawToken()
		if err != nil {
			return ""
		}
		switch t := t.(type) {
		case xml.StartElement:
			inside = t.Name.Local == name
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				return strings.TrimSpace(string(t))
			}
		}
	}
}

// readEPUB reads a book: its chapters in the order of its spine.
func readEPUB(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	z, err := openZip(data)
	if err != nil {
		return nil, err
	}
	left := maxUnpacked
	container, err := unpack(z, "META-INF/container.xml", &left)
	if err != nil {
		return nil, err
	}
	var root struct {
		Files []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := xml.Unmarshal(container, &root); err != nil || len(root.Files) == 0 {
		return nil, errors.New("META-INF/container.xml names no book")
	}
	opf, err := unpack(z, path.Clean(root.Files[0].Path), &left)
	if err != nil {
		return nil, err
	}
	var book struct {
		Title string `xml:"metadata>title"`
		Lang  string `xml:"metadata>language"`
		Items []struct {
			ID   string `xml:"id,attr"`
			Href string `xml:"href,attr"`
		} `xml:"manifest>item"`
		Spine []struct {
			ID string `xml:"idref,attr"`
		} `xml:"spine>itemref"`
	}
	if err := xml.Unmarshal(opf, &book); err != nil {
		return nil, fmt.Errorf("read the book's list of contents: %w", err)
	}
	files := map[string]string{}
	for _, i := range book.Items {
		files[i.ID] = fileOf(z, path.Dir(path.Clean(root.Files[0].Path)), i.Href)
	}
	p := &Page{Title: book.Title, Lang: book.Lang}
	var b strings.Builder
	for n, s := range book.Spine {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case n == maxChapters:
			return nil, fmt.Errorf("it has more than %d chapters: split it into several files", maxChapters)
		case b.Len() > MaxText:
			return nil, errTooLong
		}
		chapter, err := unpack(z, files[s.ID], &left)
		if err != nil {
			return nil, err
		}
		c, err := readHTML(ctx, r, chapter)
		switch {
		case errors.Is(err, ErrEmpty): // a picture
			continue
		case err != nil:
			return nil, fmt.Errorf("%s in it: %w", files[s.ID], err)
		}
		if c.Title != "" {
			b.WriteString("# " + c.Title + "\n\n")
		}
		b.WriteString(c.Text + "\n\n")
	}
	p.Text = b.String()
	return p, nil
}

// fileOf is the file of an archive that a reference from dir leads to. References are escaped as those of
// the web are, but by some that write them.
func fileOf(z *zip.Reader, dir, reference string) string {
	if name, err := url.PathUnescape(reference); err == nil {
		if _, err := fs.Stat(z, path.Join(dir, name)); err == nil {
			return path.Join(dir, name)
		}
	}
	return path.Join(dir, reference)
}

// pdfPage begins the heading of a page of a PDF file, before its number.
const pdfPage = "Page "

// readPDF reads a PDF file, a section a page.
func readPDF(ctx context.Context, r *Reader, data []byte) (*Page, error) {
	if r.PDF == nil {
		return nil, errors.New("this program reads no PDF files")
	}
	pages, title, err := r.PDF.Text(ctx, data)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, text := range pages {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "## %s%d\n\n%s\n\n", pdfPage, i+1, paragraphs(text))
		}
	}
	return &Page{Title: title, Text: b.String()}, nil
}

// paragraphs puts a blank line where a paragraph of a page seems to end: behind a line that ends a
// sentence and is much shorter than the others.
func paragraphs(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	longest := 0
	for _, l := range lines {
		longest = max(longest, len(l))
	}
	var b strings.Builder
	for _, l := range lines {
		l = strings.TrimRight(l, " ")
		b.WriteString(l + "\n")
		if l != "" && strings.ContainsAny(l[len(l)-1:], ".:!?") && 4*len(l) < 3*longest {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
