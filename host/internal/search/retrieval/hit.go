package retrieval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A File is where in an imported file a document is.
type File struct {
	Path, Group string
	Page, Line  int // from 1; 0: not known
	N           *int
	Headings    []string
	Text        string
	ContentHash string
}

// File returns where in an imported file the hit is; ok is false where it is of none.
// The document is read once: a hit is asked for its name and link several times.
func (h *Hit) File() (f *File, ok bool) {
	if h.place == nil {
		h.place = &File{}
		if bytes.Contains(h.Document, []byte(`"contentHash"`)) {
			if json.Unmarshal(h.Document, h.place) != nil {
				*h.place = File{} // another's members of these names
			}
		}
	}
	f = h.place
	return f, f.Path != "" && f.N != nil && f.ContentHash != ""
}

// heading is the last of the headings above the text. Those of sections that joined it are lines in it.
func (f *File) heading() (last string) {
	for _, h := range f.Headings {
		if strings.Contains(f.Text, "\n\n"+h+"\n") || strings.Contains(f.Text, "\n\n"+h+" > ") || strings.HasSuffix(f.Text, "\n\n"+h) {
			break
		}
		last = h
	}
	return last
}

// maxNamed bounds the text that a document without a title is called by, in bytes.
const maxNamed = 80

// Name is what people call the place that the hit is: a file and its section or page, as in "handbook.docx ›
// Expenses" and "invoice.pdf, page 2", else a title and its sections, else the document's first short text,
// else its id.
func (h *Hit) Name() string {
	if f, ok := h.File(); ok {
		heading := f.heading()
		switch {
		case f.Page > 0:
			return f.Path + ", page " + strconv.Itoa(f.Page)
		case heading != "":
			return f.Path + " › " + heading
		}
		return f.Path
	}
	name := cmp.Or(strings.ReplaceAll(h.Title, " > ", " › "), titleOf(h.Document))
	rawjson.EachMember(h.Document, func(_, value []byte) bool {
		if text, ok := rawjson.String(value); ok && name == "" && len(text) <= maxNamed && text != h.ID {
			name = strings.TrimSpace(text)
		}
		return name == ""
	})
	return cmp.Or(name, h.ID)
}

// Link is where the hit, of an index, is found: a link of its own, or its place below base, the URL of this
// host: in the view of its file, or its document.
func (h *Hit) Link(base, index string) string {
	if own := cmp.Or(h.URL, linkOf(h.Document)); own != "" {
		return own
	}
	base += "/indexes/" + index
	f, ok := h.File()
	if !ok {
		return base + "/documents/" + url.PathEscape(h.ID)
	}
	segments := strings.Split(f.Path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return base + "/files/" + strings.Join(segments, "/") + "?source=" + url.QueryEscape(f.Group) + "#p" + strconv.Itoa(*f.N)
}

// titleOf returns a document's title, empty where it has none.
func titleOf(document []byte) string {
	return firstText(document, func(string) bool { return true }, "title", "name", "heading", "label")
}

// linkOf returns a document's own link, empty where it has none.
func linkOf(document []byte) string {
	return firstText(document, func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	}, "url", "link", "href")
}

// firstText returns the first of the fields called names that is a text and good.
func firstText(document []byte, good func(string) bool, names ...string) (first string) {
	m, ok := rawjson.MembersOf(document)
	for ok && len(names) > 0 && m.Next() {
		at := slices.IndexFunc(names, m.Called)
		if at < 0 {
			continue
		}
		if text, ok := rawjson.String(m.Value); ok && text != "" && good(text) {
			first, names = text, names[:at] // those before it are better
		}
	}
	return first
}
