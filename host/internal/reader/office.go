package reader

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
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

// docxText writes WordprocessingML as Markdown.
func docxText(body []byte) (string, error) {
	var out, para strings.Builder
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	style, inText, rows := "", false, 0
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", fmt.Errorf("read word/document.xml: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "p":
				style = ""
				para.Reset()
			case "pStyle":
				style = attributeOf(t, "val")
			case "outlineLvl":
				if n, err := strconv.Atoi(attributeOf(t, "val")); err == nil && n < 6 {
					style = "heading" + strconv.Itoa(n+1)
				}
			case "t":
				inText = true
			case "tab":
				para.WriteByte(' ')
			case "br", "cr":
				para.WriteByte('\n')
			case "tr":
				rows++
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				inText = false
			case "p":
				text := strings.TrimSpace(para.String())
				switch level := headingLevel(style); {
				case text == "":
				case rows > 0:
					out.WriteString("| " + strings.Join(strings.Fields(text), " ") + " ")
				case level > 0:
					out.WriteString(strings.Repeat("#", level) + " " + text + "\n\n")
				case strings.HasPrefix(strings.ToLower(style), "list"):
					out.WriteString("- " + text + "\n")
				default:
					out.WriteString(text + "\n\n")
				}
			case "tr":
				rows = max(rows-1, 0)
				out.WriteString("|\n")
			case "tbl":
				out.WriteString("\n")
			}
		case xml.CharData:
			if inText {
				para.Write(t)
			}
		}
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
		files[i.ID] = path.Join(path.Dir(path.Clean(root.Files[0].Path)), i.Href)
	}
	p := &Page{Title: book.Title, Lang: book.Lang}
	var b strings.Builder
	for n, s := range book.Spine {
		if n == maxChapters || b.Len() > MaxText || ctx.Err() != nil {
			break
		}
		chapter, err := unpack(z, files[s.ID], &left)
		if err != nil {
			return nil, err
		}
		if c, err := readHTML(ctx, r, chapter); err == nil {
			if c.Title != "" {
				b.WriteString("# " + c.Title + "\n\n")
			}
			b.WriteString(c.Text + "\n\n")
		}
	}
	p.Text = b.String()
	return p, ctx.Err()
}

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
			fmt.Fprintf(&b, "## Page %d\n\n%s\n\n", i+1, paragraphs(text))
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
