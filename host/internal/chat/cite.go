package chat

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

const (
	maxCitedDocuments = 20  // where the text names none
	maxCitations      = 100 // of marks in the text
)

// A citable is a document that a search gave the model, or a place in it that
// has a link of its own.
type citable struct{ index, id, title, url string }

// mark is how a text names a document: [INDEX/ID], or a link [TITLE](URL).
var mark = regexp.MustCompile(`\[([^\[\]\n]*)\](?:\(([^()\s]+)\))?`)

// called reports whether a mark with this text and link names c.
func (c *citable) called(text, link string) bool {
	if link != "" {
		return c.url == link
	}
	return c.index+"/"+c.id == text
}

// addCitable notes the documents of a search, each place once. base is where
// documents without a link of their own are found.
func addCitable(list []citable, base, index string, hits []Hit) []citable {
	for _, h := range hits {
		c := citable{index: index, id: h.ID, title: h.Name(), url: h.Link(base, index)}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// Name is what people call the document: a title of its own, or its id.
func (h *Hit) Name() string { return cmp.Or(titleOf(h.Document), h.Title, h.ID) }

// Link is where the document, of an index, is found: a link of its own, or its
// place below base, the URL of this host.
func (h *Hit) Link(base, index string) string {
	return cmp.Or(h.URL, linkOf(h.Document), base+"/indexes/"+index+"/documents/"+url.PathEscape(h.ID))
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
func firstText(document []byte, good func(string) bool, names ...string) string {
	values := make([]json.RawMessage, len(names))
	if !jsonbody.Pick(document, values, names...) {
		return ""
	}
	for _, v := range values {
		if text, ok := rawjson.String(v); ok && text != "" && good(text) {
			return text
		}
	}
	return ""
}

// cite returns the documents that text names by their marks, or else all that were
// found, for the whole of it.
func cite(text []byte, found []citable) (citations []Citation) {
	at, points := 0, 0 // so many bytes are so many code points
	for _, m := range mark.FindAllSubmatchIndex(text, -1) {
		name, link := string(text[m[2]:m[3]]), ""
		if m[4] >= 0 {
			link = string(text[m[4]:m[5]])
		}
		i := slices.IndexFunc(found, func(c citable) bool { return c.called(name, link) })
		if i < 0 || len(citations) == maxCitations {
			continue
		}
		points += utf8.RuneCount(text[at:m[0]])
		at = m[0]
		citations = append(citations, Citation{found[i].url, found[i].title, points, points + utf8.RuneCount(text[m[0]:m[1]])})
	}
	if len(citations) > 0 {
		return citations
	}
	whole := utf8.RuneCount(text)
	for i := range found {
		c := &found[i]
		if len(citations) < maxCitedDocuments && !slices.ContainsFunc(found[:i], func(o citable) bool { return o.index == c.index && o.id == c.id }) {
			citations = append(citations, Citation{c.url, c.title, 0, whole})
		}
	}
	return citations
}
