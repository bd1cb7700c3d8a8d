package reader

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxEntries bounds the files of a document that is an archive. An entry of its directory takes four times its
// size in memory, whatever is in the file.
const maxEntries = 20_000

// A packed document is a ZIP archive of parts.
type packed struct {
	ctx   context.Context
	z     *zip.Reader
	parts map[string]*zip.File // by their names, also in small letters
	left  int                  // bytes that may be unpacked
}

// openPacked opens a document that is a ZIP archive.
func openPacked(ctx context.Context, data []byte) (*packed, error) {
	if bytes.HasPrefix(data, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) {
		return nil, errors.New("it is protected by a password, or of the format before 2007: save it anew without")
	}
	z, err := openZip(bytes.NewReader(data), int64(len(data)), maxEntries)
	if err != nil {
		return nil, err
	}
	p := &packed{ctx, z, map[string]*zip.File{}, maxUnpacked}
	for _, f := range z.File {
		f.Name = strings.ReplaceAll(f.Name, `\`, "/") // as some programs write them
		if p.parts[f.Name] == nil {
			p.parts[f.Name] = f
		}
	}
	for _, f := range z.File {
		if name := strings.ToLower(f.Name); p.parts[name] == nil {
			p.parts[name] = f
		}
	}
	return p, nil
}

// openZip opens an archive of at most so many files, which it counts before it reads their names.
func openZip(r io.ReaderAt, size int64, most int) (*zip.Reader, error) {
	if n := countEntries(r, size, most); n > most {
		return nil, fmt.Errorf("it has more than %d files: split it into several", most)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("open the archive that it is: %w", err)
	}
	if len(z.File) > most {
		return nil, fmt.Errorf("it has %d files: at most %d are read", len(z.File), most)
	}
	return z, nil
}

// countEntries counts the entries of an archive's directory, up to one more than most. What the archive says
// of their number is not believed. It counts from where the end of the archive says that the directory
// begins, and from where it would begin by its size.
func countEntries(r io.ReaderAt, size int64, most int) int {
	const endSize, farEndSize = 22, 56
	tail := make([]byte, min(size, 1<<16+endSize+20+farEndSize))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < 0 || len(tail)-at < endSize {
		return 0
	}
	length, from := int64(binary.LittleEndian.Uint32(tail[at+12:])), int64(binary.LittleEndian.Uint32(tail[at+16:]))
	end := size - int64(len(tail)) + int64(at)
	if far := bytes.LastIndex(tail[:at], []byte("PK\x06\x06")); far >= 0 && at-far >= farEndSize {
		length, from = int64(binary.LittleEndian.Uint64(tail[far+40:])), int64(binary.LittleEndian.Uint64(tail[far+48:]))
		end = size - int64(len(tail)) + int64(far)
	}
	return max(countFrom(r, from, size, most), countFrom(r, end-length, size, most))
}

// countFrom counts the entries of a directory that begins at from.
func countFrom(r io.ReaderAt, from, size int64, most int) (n int) {
	if from < 0 || from >= size {
		return 0
	}
	const headerSize = 46
	var header [headerSize]byte
	buffered := newWindow(r, size)
	for ; n <= most; n++ {
		if !buffered.read(header[:], from) || !bytes.HasPrefix(header[:], []byte("PK\x01\x02")) {
			return n
		}
		lengths := header[28:]
		from += headerSize + int64(binary.LittleEndian.Uint16(lengths)) + int64(binary.LittleEndian.Uint16(lengths[2:])) + int64(binary.LittleEndian.Uint16(lengths[4:]))
	}
	return n
}

// A window reads from a file in large steps.
type window struct {
	r    io.ReaderAt
	size int64
	at   int64
	data []byte
}

func newWindow(r io.ReaderAt, size int64) *window { return &window{r: r, size: size} }

func (w *window) read(b []byte, at int64) bool {
	if at < w.at || at+int64(len(b)) > w.at+int64(len(w.data)) {
		if at+int64(len(b)) > w.size {
			return false
		}
		w.data = make([]byte, min(64<<10, w.size-at))
		if n, err := w.r.ReadAt(w.data, at); err != nil && !errors.Is(err, io.EOF) || n < len(b) {
			return false
		}
		w.at = at
	}
	copy(b, w.data[at-w.at:])
	return true
}

// find returns the part of a name, with its capitals or with others; nil: there is none.
func (p *packed) find(name string) *zip.File {
	name = strings.TrimPrefix(path.Clean(name), "/")
	if part := p.parts[name]; part != nil {
		return part
	}
	return p.parts[strings.ToLower(name)]
}

// unpack returns a part, and counts its bytes.
func (p *packed) unpack(name string) ([]byte, error) {
	part := p.find(name)
	if part == nil {
		return nil, fmt.Errorf("open %s in it: %w", name, fs.ErrNotExist)
	}
	f, err := part.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s in it: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(p.left)+1))
	if err != nil {
		return nil, fmt.Errorf("unpack %s in it: %w", name, err)
	}
	if p.left -= len(data); p.left < 0 {
		panic(refusal{fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)})
	}
	return data, nil
}

// xml returns a part that is XML, as text.
func (p *packed) xml(name string) (string, error) {
	data, err := p.unpack(name)
	if err != nil {
		return "", err
	}
	text, _, err := decode(data, declaredXML(data))
	return text, err
}

// A relation leads from a part to another, or out of the document.
type relation struct {
	kind, target string // kind is the last part of its type, such as "footnotes"
	outside      bool
}

// relations are where a part leads, by id, or with no part the document. There may be none.
func (p *packed) relations(part string) map[string]relation {
	dir, name := path.Split(part) // of the document itself: nothing
	text, err := p.xml(dir + "_rels/" + name + ".rels")
	if err != nil {
		return nil
	}
	list := map[string]relation{}
	_ = eachElement(p.ctx, text, func(e xml.StartElement) {
		if e.Name.Local != "Relationship" {
			return
		}
		kind := attributeOf(e, "Type")
		r := relation{kind: kind[strings.LastIndexByte(kind, '/')+1:], target: attributeOf(e, "Target"), outside: attributeOf(e, "TargetMode") == "External"}
		if !r.outside {
			if strings.HasPrefix(r.target, "/") {
				r.target = r.target[1:]
			} else {
				r.target = path.Join(path.Dir(part), r.target)
			}
		}
		list[attributeOf(e, "Id")] = r
	})
	return list
}

// related returns the parts of a kind that a part leads to, sorted.
func related(list map[string]relation, kind string) (parts []string) {
	for _, r := range list {
		if r.kind == kind && !r.outside {
			parts = append(parts, r.target)
		}
	}
	slices.Sort(parts)
	return parts
}

// beside returns the parts of a kind that a part leads to, or where it leads to none those beside it that are
// called so.
func (p *packed) beside(part string, list map[string]relation, kind string) []string {
	parts := related(list, kind)
	if len(parts) == 0 {
		for _, f := range p.z.File {
			if name, ok := strings.CutPrefix(f.Name, path.Join(path.Dir(part), kind)); ok && strings.TrimLeft(name, "0123456789") == ".xml" {
				parts = append(parts, f.Name)
			}
		}
		slices.Sort(parts)
	}
	return parts
}

// mainPart is the part of an Office document that the others belong to.
func (p *packed) mainPart(usual string) string {
	if parts := related(p.relations(""), "officeDocument"); len(parts) > 0 {
		return parts[0]
	}
	return usual
}

// title is the title that a document gives itself, if it is worth it.
func (p *packed) title() string {
	for _, part := range append(related(p.relations(""), "core-properties"), "docProps/core.xml", "meta.xml") {
		if text, err := p.xml(part); err == nil {
			if title := elementText(p.ctx, text, "title"); isTitle(title) {
				return title
			}
		}
	}
	return ""
}

// isTitle reports whether what a file calls itself says anything: programs fill in their own words.
func isTitle(title string) bool {
	title = strings.ToLower(strings.TrimSpace(title))
	for _, prefix := range []string{"microsoft word - ", "microsoft powerpoint - ", "untitled", "document1", "powerpoint presentation", "slide 1", "unknown", "(anonymous)", "none", "title"} {
		if title == "" || title == strings.TrimSpace(prefix) || strings.HasSuffix(prefix, " - ") && strings.HasPrefix(title, prefix) {
			return false
		}
	}
	return true
}

// eachToken calls f for each token of XML, up to an error, or one of f.
func eachToken(ctx context.Context, text string, f func(xml.Token) error) error {
	d := newXML(ctx, text)
	d.Strict = false
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(t)
		}
		if err != nil {
			return err
		}
	}
}

// eachElement calls f for each element of XML that begins.
func eachElement(ctx context.Context, text string, f func(xml.StartElement)) error {
	return eachToken(ctx, text, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok {
			f(e)
		}
		return nil
	})
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// isOn reports whether an element that switches something does so: it has no value, or one that says so.
func isOn(e xml.StartElement) bool {
	v := attributeOf(e, "val")
	return v != "0" && v != "false" && v != "off" && v != "none"
}

// charData is all text in XML.
func charData(ctx context.Context, text string) string {
	b := textBuilder{ctx: ctx}
	_ = eachToken(ctx, text, func(t xml.Token) error {
		if c, ok := t.(xml.CharData); ok {
			b.WriteString(string(c) + " ")
		}
		return nil
	})
	return b.String()
}

// elementText returns the text of the first element called name, empty where there is none.
func elementText(ctx context.Context, text, name string) (found string) {
	inside := false
	_ = eachToken(ctx, text, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			inside = t.Name.Local == name
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				found = strings.TrimSpace(string(t))
				return io.EOF
			}
		}
		return nil
	})
	return found
}
