// Package reader turns files into pages of text, and pages into documents for an index: one document a
// passage, under the headings that it stands below.
//
// Files come from strangers. Each reader bounds what it unpacks and how deep it goes; PDF files are read
// in a WebAssembly sandbox. What cannot be read is an error that names the reason, never a panic.
package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
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
	Kind string         // the file's format, such as "md" and "pdf"
	Lang string         // a language's code, such as "en"; empty: not known
	Meta map[string]any // front matter; nil: none
}

// ErrEmpty is what a file without text gives.
var ErrEmpty = errors.New("there is no text in it")

// errTooLong is what a file with more than MaxText bytes of text gives.
var errTooLong = fmt.Errorf("its text has more than %d bytes: split it into several files", MaxText)

// A readFunc reads a page out of a file.
type readFunc func(ctx context.Context, r *Reader, data []byte) (*Page, error)

// formats are the formats by file name extension.
var formats = map[string]struct {
	kind string
	read readFunc
}{
	".md":       {"md", readMarkdown},
	".markdown": {"md", readMarkdown},
	".mdx":      {"md", readMarkdown},
	".txt":      {"txt", readText},
	".text":     {"txt", readText},
	".rst":      {"rst", readRST},
	".adoc":     {"adoc", readAsciiDoc},
	".asciidoc": {"adoc", readAsciiDoc},
	".html":     {"html", readHTML},
	".htm":      {"html", readHTML},
	".xhtml":    {"html", readHTML},
	".docx":     {"docx", readDOCX},
	".epub":     {"epub", readEPUB},
	".pdf":      {"pdf", readPDF},
}

// Extensions lists the extensions of file names that can be read, sorted.
func Extensions() []string {
	list := make([]string, 0, len(formats))
	for ext := range formats {
		list = append(list, ext)
	}
	slices.Sort(list)
	return list
}

// CanRead reports whether the name of a file says a format that can be read.
func CanRead(name string) bool {
	_, ok := formats[extension(name)]
	return ok
}

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// A PDF reads the text of PDF files.
type PDF interface {
	// Text returns the text of each page. The error says what is wrong with the file.
	Text(ctx context.Context, data []byte) (pages []string, title string, err error)
}

// A Reader reads files. Safe for concurrent use.
type Reader struct {
	PDF PDF // nil: PDF files are refused
}

// Read reads a file; name is its path, with slashes.
func (r *Reader) Read(ctx context.Context, name string, data []byte) (p *Page, err error) {
	f, ok := formats[extension(name)]
	if !ok {
		return nil, fmt.Errorf("the name %q says no format that can be read: want one of %s", path.Base(name), strings.Join(Extensions(), " "))
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the file has %d bytes: at most %d are read", len(data), MaxFile)
	}
	defer func() {
		// The parsers are libraries, and the file a stranger's: one that brings a fault of theirs to light
		// is a file that cannot be read.
		if v := recover(); v != nil {
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
	p.Text = tidy(p.Text)
	if p.Title == "" {
		p.Title = titleOf(name)
	}
	p.Title = clip(strings.Join(strings.Fields(p.Title), " "), 300)
	if strings.TrimSpace(p.Text) == "" {
		return nil, ErrEmpty
	}
	return p, nil
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

// tidy returns valid UTF-8 without control characters, with no more than one blank line in a row.
func tidy(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00a0':
			return ' '
		case r < ' ' || r == 0x7f || r == utf8.RuneError || r == '\ufeff':
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	var b strings.Builder
	b.Grow(len(text))
	blank := 0
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t")
		if line == "" {
			if blank++; blank > 1 {
				continue
			}
		} else {
			blank = 0
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.Trim(b.String(), "\n")
}

// noHeading keeps a line of text from being read as a heading of Markdown: a command of the root user begins
// with a hash, too.
func noHeading(line string) string {
	if strings.HasPrefix(line, "#") {
		return " " + line
	}
	return line
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

// decode returns a text file as UTF-8, with line feeds at the ends of lines: as it is, or from UTF-16 or
// Latin-1.
func decode(data []byte) (string, error) {
	text := ""
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) && len(data) <= 2*MaxText:
		text = decodeUTF16(data[2:], 0, 1)
	case bytes.HasPrefix(data, []byte("\xfe\xff")) && len(data) <= 2*MaxText:
		text = decodeUTF16(data[2:], 1, 0)
	case len(data) > MaxText:
		return "", errTooLong
	default:
		text = decodeBytes(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

// decodeBytes decodes UTF-8, and what is not valid as Latin-1.
func decodeBytes(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// decodeUTF16 decodes characters of two bytes, the low and the high one at these places.
func decodeUTF16(data []byte, low, high int) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i+low]) | uint16(data[2*i+high])<<8
	}
	return string(utf16.Decode(units))
}
