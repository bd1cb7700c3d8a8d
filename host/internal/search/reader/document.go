package reader

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// PassageBytes is the size that passages are cut to, at most.
const PassageBytes = 1500

// IndexSettings are the settings of an index that is made for documents of files.
const IndexSettings = `{"searchableAttributes":["title","headings","text","path"],"filterableAttributes":["group","kind","lang","n","path"]}`

// A Document is a passage of a page as an index has it, or with SplitWhole a page.
type Document struct {
	ID    string `json:"id"`
	Group string `json:"group"` // the source's name: what is imported and pruned together
	Path  string `json:"path"`
	URL   string `json:"url,omitempty"`
	// Anchor leads to the passage's heading, or page, in the file.
	Anchor   string   `json:"anchor,omitempty"`
	Title    string   `json:"title"`
	Headings []string `json:"headings,omitempty"`
	Lvl0     string   `json:"lvl0"`
	Lvl1     string   `json:"lvl1,omitempty"`
	Lvl2     string   `json:"lvl2,omitempty"`
	Lvl3     string   `json:"lvl3,omitempty"`
	Text     string   `json:"text"`
	N        int      `json:"n"` // place in the page, from 0
	// Page and Line are where it begins in the file, from 1; 0: not known, or the file has none. PageEnd is
	// where it ends, if that is another page.
	Page    int `json:"page,omitempty"`
	PageEnd int `json:"pageEnd,omitempty"`
	Line    int `json:"line,omitempty"`
	// Listing: it is a list of links, or a table of contents.
	Listing     bool           `json:"listing,omitempty"`
	Kind        string         `json:"kind"`
	Lang        string         `json:"lang,omitempty"`
	ContentHash string         `json:"contentHash"`      // of all members but id, readAt and itself
	ReadAt      string         `json:"readAt,omitempty"` // as Source.Now says, in RFC 3339
	Meta        map[string]any `json:"meta,omitempty"`
}

// A Source says where pages come from.
type Source struct {
	Name string // of the group
	// BaseURL is put before paths to make URLs; empty: documents have none.
	BaseURL string
	// FileURLs has URLs end as the files do, as where sources are browsed. Sites leave the extension of
	// Markdown out.
	FileURLs bool
	Whole    bool // a page is one document
	// Now is when pages are read; zero: documents do not say.
	Now time.Time
}

// FilterOf is the filter that the source's documents fit.
func (s *Source) FilterOf() string { return "group = " + quote(s.Name) }

// FilterOfPages is the filter that the documents of the source's pages at paths fit.
func (s *Source) FilterOfPages(paths []string) string {
	return s.FilterOf() + " AND " + FilterOfPaths(paths)
}

// FilterOfPaths is the filter that the documents of pages at paths fit, of any source.
func FilterOfPaths(paths []string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = quote(p)
	}
	return "path IN [" + strings.Join(quoted, ", ") + "]"
}

// quote writes a value of a filter.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// letters writes a hash with letters and digits that ids may have.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func hash(n int, parts ...string) string { return hashBytes(n, []byte(strings.Join(parts, "\x00"))) }

func hashBytes(n int, data []byte) string {
	sum := sha256.Sum256(data)
	return letters.EncodeToString(sum[:])[:n]
}

// PagePrefix is what the ids of a page's documents begin with.
func (s *Source) PagePrefix(path string) string { return hash(20, s.Name, path) + "-" }

// Read reads a file and cuts it into documents, at least one.
func (s *Source) Read(ctx context.Context, r *Reader, path, name string, data []byte) (*Page, []Document, error) {
	page, err := r.Read(ctx, name, data)
	if err != nil {
		return nil, nil, err
	}
	docs, err := s.Documents(path, page)
	if err == nil && len(docs) == 0 {
		err = ErrEmpty
	}
	return page, docs, err
}

// AreMoved reports whether documents are those of a file that was at from, but for its path: hashOf says
// which hash one had there by what its id ends with behind [Source.PagePrefix].
func (s *Source) AreMoved(docs []Document, from string, hashOf func(idEnd string) string) bool {
	prefix := s.PagePrefix(from)
	for _, d := range docs {
		if titleOf(d.Path) == d.Title {
			d.Title = titleOf(from)
			d.Lvl0 = d.Title
		}
		end := d.ID[len(prefix):]
		d.Path = from
		if d.URL != "" {
			d.URL = s.urlOf(from)
		}
		if hash, err := d.hash(); err != nil || hash != hashOf(end) {
			return false
		}
	}
	return true
}

// hash is the hash of all members but the id.
func (d *Document) hash() (string, error) {
	body := *d
	body.ID, body.ContentHash, body.ReadAt = "", "", ""
	b, err := json.Marshal(&body)
	return hashBytes(16, b), err
}

// Documents cuts a page into documents. The id of one depends on its source, path, headings and its
// place below these, so that an edit elsewhere in the page changes no other id.
func (s *Source) Documents(path string, p *Page) ([]Document, error) {
	parts := []passage.Part{{Text: p.Text}}
	if !s.Whole {
		parts = passage.Split(p.Text, PassageBytes)
	}
	prefix, seen := s.PagePrefix(path), map[string]int{}
	docs := make([]Document, 0, len(parts))
	for n, part := range parts {
		headings := part.Headings
		if len(headings) > 0 && strings.EqualFold(headings[0], p.Title) {
			headings = headings[1:]
		}
		headings = slices.Concat(headings, part.Joined)
		key := strings.Join(part.Headings, "\x00")
		seen[key]++
		d := Document{
			ID: prefix + hash(8, key, strconv.Itoa(seen[key])), Group: s.Name, Path: path, Title: p.Title, Headings: headings,
			Lvl0: p.Title, Text: part.Text, N: n, Kind: p.Kind, Lang: p.Lang, Meta: p.Meta,
		}
		d.Listing = p.isListing(part.From, part.Text)
		begin := p.placeOf(part.From)
		d.Page, d.Line = begin.Page, begin.Line
		if end := p.placeOf(part.From + len(part.Text) - 1); end.Page > begin.Page {
			d.PageEnd = end.Page
		}
		for i, l := range []*string{&d.Lvl1, &d.Lvl2, &d.Lvl3} {
			if i < len(headings) {
				*l = headings[i]
			}
		}
		if s.BaseURL != "" {
			d.URL = s.urlOf(path)
		}
		switch {
		case d.Page > 0 && p.Kind == "pdf":
			d.Anchor = "page=" + strconv.Itoa(d.Page) // as viewers of PDF files have it, RFC 8118
		case len(part.Headings) > 0:
			d.Anchor = anchorOf(p.Kind, part.Headings[len(part.Headings)-1], part.Anchor)
		}
		if !s.Now.IsZero() {
			d.ReadAt = s.Now.Format(time.RFC3339)
		}
		var err error
		if d.ContentHash, err = d.hash(); err != nil {
			return nil, fmt.Errorf("write document of %s: %w", path, err) // front matter with what JSON lacks
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// minListing is how many entries a list of links or a table of contents has, at least.
const minListing = 4

// isListing reports whether a passage that begins at a place is for most of it in lists of links, or in lines that
// dots or spaces lead from a name to a page.
func (p *Page) isListing(from int, text string) bool {
	in := 0
	for _, l := range p.listings {
		in += max(min(l.to, from+len(text))-max(l.from, from), 0)
	}
	if 10*in >= 6*len(text) {
		return len(text) > 0
	}
	if !strings.Contains(text, "..") && !strings.Contains(text, ". . ") && !strings.Contains(text, "…") {
		return false // most texts
	}
	lines, led := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines++
		name := strings.TrimRight(line, "0123456789ivxlc")
		if len(name) < len(line) && (strings.HasSuffix(name, "...") || strings.HasSuffix(name, ". . ") || strings.HasSuffix(name, "... ") || strings.HasSuffix(name, "…")) {
			led++
		}
	}
	return led >= minListing && 10*led >= 6*lines
}

// placeOf says where in the file a place of the text is.
func (p *Page) placeOf(at int) Mark {
	next, _ := slices.BinarySearchFunc(p.Marks, at+1, func(m Mark, at int) int { return cmp.Compare(m.At, at) })
	if next == 0 {
		return Mark{}
	}
	return p.Marks[next-1]
}

// anchorOf is what leads to a heading of a page of that kind, where the page has anchor for it; empty:
// nothing is known to do.
func anchorOf(kind, heading, anchor string) string {
	switch kind {
	case "md", "rst", "adoc": // sites are made of these
		return cmp.Or(anchor, passage.Anchor(heading))
	}
	return anchor
}

// urlOf is the address of a page.
func (s *Source) urlOf(path string) string {
	for _, ext := range []string{".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc"} {
		if rest, ok := strings.CutSuffix(path, ext); ok && !s.FileURLs {
			path = rest
			if rest, ok := strings.CutSuffix("/"+path, "/index"); ok {
				path = strings.TrimPrefix(rest, "/")
				path = cmp.Or(path+"/", "/")
			}
			break
		}
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, x := range segments {
		segments[i] = url.PathEscape(x)
	}
	return strings.TrimSuffix(s.BaseURL, "/") + "/" + strings.Join(segments, "/")
}
