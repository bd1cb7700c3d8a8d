package search

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/passage"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// Attributes that name a document, the first one that it has.
var (
	titleAttributes = []string{"title", "name", "heading", "label"}
	urlAttributes   = []string{"url", "link", "href"}
	pathAttributes  = []string{"path", "file", "slug"}
)

const (
	headingsAttribute = "headings" // of a passage that was imported: an array, from the top one down
	anchorAttribute   = "anchor"   // of its last heading
	groupAttribute    = "group"    // the source of its page
	placeAttribute    = "n"        // its place in its page
	hashAttribute     = "contentHash"
	listingAttribute  = "listing" // of a passage that is a list of links
)

// textAttributes are texts whatever their length.
var textAttributes = []string{"text", "content", "body"}

// longText is the length from which a value is a text, and shown without its attribute's name.
const longText = 200

// A documentReader makes texts of documents.
type documentReader struct {
	settings *settings.Settings
	key      string   // the primary key: a hit has it anyway
	on       []string // the attributes that are searched; nil: all that are searchable
	size     int      // a document that is at most so long is one passage
}

// read returns what of a document is displayed as text to find passages in: its searchable attributes but
// for those that name it.
func (r *documentReader) read(id string, body []byte) passage.Document {
	members := map[string]string{}
	rawjson.EachMember(body, func(rawKey, value []byte) bool {
		if text, ok := rawjson.ScalarText(value); ok {
			members[rawjson.Unquote(rawKey)] = text
		}
		return true
	})
	d := passage.Document{ID: id}
	titled, located, named := pick(members, titleAttributes, isText), pick(members, urlAttributes, isURL), pick(members, pathAttributes, isText)
	d.Title, d.URL, d.Path = members[titled], members[located], members[named]
	if n, err := strconv.Atoi(members[placeAttribute]); err == nil && members[hashAttribute] != "" && d.Path != "" {
		d.Page, d.Place = members[groupAttribute]+"\x00"+d.Path, n
	}
	d.Listing = members[listingAttribute] == "true" && d.Page != ""
	var lines, text strings.Builder
	var headings []string
	rawjson.EachMember(body, func(rawKey, value []byte) bool {
		name := rawjson.Unquote(rawKey)
		switch {
		case name == headingsAttribute && value[0] == '[' && json.Unmarshal(value, &headings) == nil:
		case name == titled || name == located || name == named || value[0] == 'n' || name == r.key || !r.searches(name):
		case value[0] == '"' && (len(value) >= longText || slices.Contains(textAttributes, name)):
			if text.Len() > 0 {
				text.WriteString("\n\n")
			}
			text.WriteString(members[name])
		default:
			settings.WriteLine(&lines, name, value)
		}
		return true
	})
	d.Headings = headings
	for i, h := range headings {
		if i > 0 || !strings.EqualFold(h, d.Title) {
			d.Title += " > " + h
		}
	}
	d.Title = strings.TrimPrefix(d.Title, " > ")
	if a := members[anchorAttribute]; a != "" && d.URL != "" && !strings.Contains(d.URL, "#") {
		d.URL += "#" + a
	}
	d.Text = lines.String()
	if d.Text != "" && text.Len() > 0 {
		d.Text += "\n"
	}
	d.Text += text.String()
	if d.Text == "" {
		d.Text = d.Title
	}
	d.Whole = len(d.Text) <= r.size
	return d
}

// searches reports whether an attribute, or something in it, is searched.
func (r *documentReader) searches(name string) bool {
	if !r.settings.SearchableTop(name) {
		return false
	}
	return r.on == nil || slices.ContainsFunc(r.on, func(a string) bool { return a == "*" || attribute.Covers(name, a) || attribute.Covers(a, name) })
}

// pick returns the first of names that members has with a text that fits, or nothing.
func pick(members map[string]string, names []string, fits func(text string) bool) string {
	for _, name := range names {
		if text, ok := members[name]; ok && fits(text) {
			return name
		}
	}
	return ""
}

func isText(text string) bool { return text != "" && len(text) <= longText }

// isURL reports whether text is an absolute URL of the web.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(text) <= 2000
}
