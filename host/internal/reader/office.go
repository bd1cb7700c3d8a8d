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
