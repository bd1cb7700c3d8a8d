package reader

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxChapters bounds the files of a book that are read.
const maxChapters = 2000

// readEPUB reads a book: its chapters in the order of its spine. A chapter that cannot be read is left out,
// and said.
func readEPUB(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	z, err := openPacked(ctx, data)
	if err != nil {
		return nil, err
	}
	b, err := openBook(z)
	if err != nil {
		return nil, err
	}
	p := &Page{Title: b.title, Lang: b.lang}
	w, failed, read := newWriter(ctx), error(nil), map[string]bool{}
	w.leaveOut("what the book says of itself", b.about)
	for _, name := range b.spine {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if read[name] {
			w.noteLeft("chapters that the book names again", 1)
			continue
		}
		if read[name] = true; len(read) > maxChapters {
			return nil, fmt.Errorf("it has more than %d chapters: split it into several files", maxChapters)
		}
		if b.locked[name] {
			failed = errors.New("its chapters are encrypted: it is protected against copying")
			w.noteLeft("chapters that are encrypted", 1)
			continue
		}
		if err := b.chapter(w, name); err != nil {
			failed = err
			w.noteLeft("chapters that cannot be read: "+err.Error(), 1)
		}
	}
	for _, name := range b.contents {
		if source, err := z.xml(name); err == nil && !read[name] {
			w.leaveOut("the book's list of contents", charData(ctx, source))
		}
	}
	if w.b.Len() == 0 && failed != nil {
		return nil, failed
	}
	w.finish(p)
	return p, nil
}

type book struct {
	z           *packed
	title, lang string
	about       string            // what else the book says of itself
	spine       []string          // the files of chapters, those last that the order of the book does not name
	contents    []string          // the files with a list of contents
	names       map[string]string // of chapters, by these
	locked      map[string]bool   // files that are encrypted
}

// openBook reads what a book says of itself.
func openBook(z *packed) (*book, error) {
	root := ""
	if container, err := z.xml("META-INF/container.xml"); err == nil {
		_ = eachElement(z.ctx, container, func(e xml.StartElement) {
			if e.Name.Local == "rootfile" && root == "" {
				root = attributeOf(e, "full-path")
			}
		})
	}
	if z.find(root) == nil {
		for _, f := range z.z.File {
			if extensionOf(f.Name) == ".opf" {
				root = f.Name
			}
		}
	}
	if root == "" {
		return nil, errors.New("META-INF/container.xml names no book")
	}
	opf, err := z.xml(root)
	if err != nil {
		return nil, err
	}
	b := &book{z: z, title: elementText(z.ctx, opf, "title"), lang: elementText(z.ctx, opf, "language"), names: map[string]string{}, locked: z.lockedFiles()}
	b.about = strings.Replace(charData(z.ctx, opf), b.title, "", 1)
	files, pages, named := map[string]string{}, []string{}, map[string]bool{}
	err = eachElement(z.ctx, opf, func(e xml.StartElement) {
		switch e.Name.Local {
		case "item":
			file, kind := b.fileOf(path.Dir(root), attributeOf(e, "href")), attributeOf(e, "media-type")
			files[attributeOf(e, "id")] = file
			switch {
			case strings.Contains(attributeOf(e, "properties"), "nav"), kind == "application/x-dtbncx+xml":
				b.contents = append(b.contents, file)
			case kind == "application/xhtml+xml", kind == "text/html", kind == "text/x-oeb1-document":
				pages = append(pages, file)
			}
		case "itemref":
			file := files[attributeOf(e, "idref")]
			b.spine = append(b.spine, file)
			named[file] = true
		}
	})
	if err != nil && len(b.spine) == 0 {
		return nil, fmt.Errorf("read the book's list of files: %w", err)
	}
	for _, page := range pages {
		if !named[page] {
			b.spine = append(b.spine, page)
		}
	}
	for _, file := range b.contents {
		b.readContents(file)
	}
	return b, nil
}

// lockedFiles are the files that a book is said to have encrypted.
func (p *packed) lockedFiles() map[string]bool {
	locked := map[string]bool{}
	if source, err := p.xml("META-INF/encryption.xml"); err == nil {
		_ = eachElement(p.ctx, source, func(e xml.StartElement) {
			if e.Name.Local == "CipherReference" {
				name, _ := url.PathUnescape(attributeOf(e, "URI"))
				locked[name] = true
			}
		})
	}
	return locked
}

// readContents reads the names of chapters out of a page of navigation, or an NCX file.
func (b *book) readContents(file string) {
	text, err := b.z.xml(file)
	if err != nil {
		return
	}
	doc, err := parseXHTML(b.z.ctx, text)
	if err != nil {
		return
	}
	label := ""
	find(doc, func(n *html.Node) bool {
		switch {
		case n.Data == "navLabel":
			label = innerText(n)
		case n.Data == "content" && attribute(n, "src") != "":
			b.name(file, attribute(n, "src"), label)
		case n.DataAtom == atom.A && attribute(n, "href") != "":
			b.name(file, attribute(n, "href"), innerText(n))
		}
		return false
	})
}

func (b *book) name(from, reference, name string) {
	reference, _, within := strings.Cut(reference, "#")
	file := b.fileOf(path.Dir(from), reference)
	if _, known := b.names[file]; !known && (!within || b.names[file] == "") {
		b.names[file] = strings.Join(strings.Fields(name), " ")
	}
}

// chapter writes a chapter. One without a heading has the name that the list of contents gives it.
func (b *book) chapter(w *writer, name string) error {
	data, err := b.z.unpack(name)
	if err != nil {
		return err
	}
	source, _, err := decode(data, declaredXML(data))
	if err != nil {
		return fmt.Errorf("%s in it: %w", name, err)
	}
	if !strings.HasPrefix(strings.TrimSpace(source), "<?xml") {
		source = "<?xml?>" + source // a book has no other pages
	}
	doc, err := parsePage(b.z.ctx, source)
	if err != nil {
		return fmt.Errorf("%s in it: %w", name, err)
	}
	if isHeading := func(n *html.Node) bool {
		return len(n.Data) == 2 && n.Data[0] == 'h' && '1' <= n.Data[1] && n.Data[1] <= '3'
	}; b.names[name] != "" && find(doc, isHeading) == nil {
		w.heading(1, b.names[name], "")
	}
	p, h := Page{}, htmlWriter{w: w}
	h.readPage(doc, &p, nil)
	return nil
}

// fileOf is the file of an archive that a reference from dir leads to. References are escaped as those of
// the web are, but by some that write them.
func (b *book) fileOf(dir, reference string) string {
	if name, err := url.PathUnescape(reference); err == nil {
		if part := b.z.find(path.Join(dir, name)); part != nil {
			return part.Name
		}
	}
	return path.Join(dir, reference)
}
