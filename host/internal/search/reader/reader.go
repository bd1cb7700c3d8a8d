// Package reader turns files into pages of text, and pages into documents for an index: one document a
// passage, under the headings that it stands below.
//
// Files come from strangers. Each reader bounds what it unpacks and how deep it goes; PDF files are read
// in a WebAssembly sandbox. What cannot be read is an error that names the reason, never a panic.
package reader

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/search/passage"
)

// Bounds of what is read.
const (
	// MaxFile bounds the bytes of one file.
	MaxFile = 64 << 20
	// MaxText bounds the bytes of a page's text: a file with more is refused, since what is cut off could
	// not be found.
	MaxText = 16 << 20
	// maxUnpacked bounds the bytes that one file of an archive, such as a chapter of a book, is unpacked to.
	maxUnpacked = 64 << 20
)

// A Page is the text of one file.
type Page struct {
	Title string
	// Text is Markdown, as far as it has form: headings, lists, fenced code and tables. Its first heading
	// is not the title.
	Text string
	// Marks say where in the file the text is, in the order of their places. None: not known.
	Marks    []Mark
	Kind     string         // the file's format, such as "md" and "pdf"
	Lang     string         // a language's code, such as "en"; empty: not known
	Encoding string         // what its bytes were taken for, such as "utf-8"; empty: the format has its own
	Meta     map[string]any // front matter; nil: none
	LeftOut  []LeftOut      // what of the file is in no passage, by rule
	listings []listing      // in the order of their places
}

// A listing is the place of a list of links in the text.
type listing struct{ from, to int }

// A Mark says that a text is from a page or line of the file, up to the next mark.
type Mark struct {
	At         int // in the text, in bytes
	Page, Line int // from 1; 0: not known
}

// LeftOut counts the words that a rule leaves out.
type LeftOut struct {
	Rule  string `json:"rule"`
	Words int    `json:"words"`
}

// ErrEmpty is what a file without text gives.
var ErrEmpty = errors.New("there is no text in it")

// errTooLong is what a file with more than MaxText bytes of text gives.
var errTooLong = fmt.Errorf("its text has more than %d bytes: split it into several files", MaxText)

// A readFunc reads a page out of a file.
type readFunc func(ctx context.Context, r *Reader, data []byte) (*Page, error)

// A format is what files are read as.
type format struct {
	kind string
	read readFunc
}

// formats are the formats by file name extension.
var formats = func() map[string]format {
	all := map[string]format{
		".md":       {"md", readMarkdown},
		".markdown": {"md", readMarkdown},
		".mdx":      {"md", readMDX},
		".txt":      {"txt", readText},
		".text":     {"txt", readText},
		".rst":      {"rst", readRST},
		".adoc":     {"adoc", readAsciiDoc},
		".asciidoc": {"adoc", readAsciiDoc},
		".html":     {"html", readHTML},
		".htm":      {"html", readHTML},
		".xhtml":    {"html", readHTML},
		".pptx":     {"pptx", readPPTX},
		".pptm":     {"pptx", readPPTX},
		".ppsx":     {"pptx", readPPTX},
		".xlsx":     {"xlsx", readXLSX},
		".xlsm":     {"xlsx", readXLSX},
		".odt":      {"odt", readODF},
		".ott":      {"odt", readODF},
		".ods":      {"ods", readODF},
		".odp":      {"odp", readODF},
		".fodt":     {"odt", readODF},
		".fods":     {"ods", readODF},
		".fodp":     {"odp", readODF},
		".rtf":      {"rtf", readRTF},
		".epub":     {"epub", readEPUB},
		".pdf":      {"pdf", readPDF},
		".ipynb":    {"ipynb", readNotebook},
		".csv":      {"csv", readCSV},
		".tsv":      {"csv", readCSV},
		".json":     {"json", readJSON},
		".ndjson":   {"json", readNDJSON},
		".jsonl":    {"json", readNDJSON},
		".srt":      {"srt", readSubtitles},
		".vtt":      {"srt", readSubtitles},
	}
	for ext, language := range languages {
		all[ext] = format{"code", readCode(language)}
	}
	return all
}()

// formatOf is the format that the name of a file says. Mail is read by what reads its attachments, and so are
// documents, which may have mail in them.
func formatOf(name string) (format, bool) {
	switch ext := extensionOf(name); ext {
	case ".eml", ".mht", ".mhtml": // pages of the web are kept as messages
		return format{"eml", readMail}, true
	case ".mbox":
		return format{"mbox", readMbox}, true
	case ".docx", ".docm", ".dotx":
		return format{"docx", readDOCX}, true
	default:
		f, ok := formats[ext]
		return f, ok
	}
}

// Extensions lists the extensions of file names that can be read, sorted.
func Extensions() []string {
	list := []string{".docm", ".docx", ".dotx", ".eml", ".mbox", ".mht", ".mhtml"}
	for ext := range formats {
		list = append(list, ext)
	}
	slices.Sort(list)
	return list
}

// CanRead reports whether the name of a file says a format that can be read.
func CanRead(name string) bool {
	_, ok := formatOf(name)
	return ok
}

// IsPage reports whether the name of a file says a page of the web.
func IsPage(name string) bool { return formats[extensionOf(name)].kind == "html" }

func extensionOf(name string) string { return strings.ToLower(path.Ext(name)) }

// A Reader reads files. Safe for concurrent use.
type Reader struct {
	PDF  PDF   // nil: PDF files are refused
	Site *Site // nil: nothing is known to be the same on all pages

	within bool // it reads what another file has in it, and no files within that: they could be so without end
}

// Read reads a file; name is its path, with slashes.
func (r *Reader) Read(ctx context.Context, name string, data []byte) (p *Page, err error) {
	f, ok := formatOf(name)
	if !ok {
		return nil, fmt.Errorf("the name %q says no format that can be read: want one of %s", path.Base(name), strings.Join(Extensions(), " "))
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the file has %d bytes: at most %d are read", len(data), MaxFile)
	}
	defer func() {
		// The parsers are libraries, and the file a stranger's: one that brings a fault of theirs to light
		// is a file that cannot be read.
		v := recover()
		if refused, ok := v.(refusal); ok {
			p, err = nil, refused.error
		} else if v != nil {
			p, err = nil, fmt.Errorf("the file could not be read as %s: %v", f.kind, v)
		}
	}()
	p, err = f.read(ctx, r, data)
	if err != nil {
		return nil, err
	}
	if len(p.Text) > MaxText {
		return nil, errTooLong
	}
	p.Kind = f.kind
	p.Title = strings.Join(strings.Fields(clean(p.Title)), " ")
	p.takeTitle()
	if strings.TrimSpace(p.Text) == "" {
		if p.Text = p.Title; p.Text == "" {
			return nil, ErrEmpty
		}
	}
	if p.Title == "" {
		p.Title = titleOf(name)
	}
	if len(p.Title) > maxTitle {
		p.Text, p.Marks, p.listings = p.Title+"\n\n"+p.Text, nil, nil
		p.Title = clip(p.Title, maxTitle)
	}
	return p, nil
}

// maxTitle bounds a title, in bytes.
const maxTitle = 300

// takeTitle takes the heading that the text begins with, if it is of the first level, as the title where there
// is none or the same.
func (p *Page) takeTitle() {
	rest := strings.TrimLeft(p.Text, "\n")
	first, rest, _ := strings.Cut(rest, "\n")
	name, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return
	}
	name, _ = passage.CutAnchor(strings.TrimSpace(name))
	if p.Title == "" {
		p.Title = name
	}
	if !strings.EqualFold(p.Title, name) {
		return
	}
	rest = strings.TrimLeft(rest, "\n")
	cut := len(p.Text) - len(rest)
	p.Text = rest
	for i := range p.Marks {
		p.Marks[i].At = max(p.Marks[i].At-cut, 0)
	}
	for i := range p.listings {
		p.listings[i].from -= cut
		p.listings[i].to -= cut
	}
}

// titleOf makes a title of a file's name, with its hyphens and underscores: git-rebase and max_connections are
// names as they are.
func titleOf(name string) string {
	base := path.Base(name)
	base = strings.TrimSuffix(base, path.Ext(base))
	if base == "index" || base == "README" {
		if dir := path.Base(path.Dir(name)); dir != "." && dir != "/" {
			base = dir
		}
	}
	return base
}

// hasLetter reports whether a text has one, of any alphabet.
func hasLetter(text string) bool { return strings.ContainsFunc(text, unicode.IsLetter) }

// clip returns at most n bytes of s, cut where a character ends.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
