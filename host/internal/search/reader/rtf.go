package reader

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
)

// rtfLeft are the groups of RTF that are no text.
var rtfLeft = map[string]string{
	"fonttbl": "fonts and styles", "colortbl": "fonts and styles", "stylesheet": "fonts and styles", "listtable": "fonts and styles", "listoverridetable": "fonts and styles", "rsidtbl": "fonts and styles",
	"generator": "what made the file", "info": "what made the file", "xmlnstbl": "what made the file", "themedata": "fonts and styles", "colorschememapping": "fonts and styles", "latentstyles": "fonts and styles",
	"datastore": "data of programs", "sp": "data of programs", "pict": "pictures", "objdata": "data of programs", "fldinst": "instructions of fields", "deleted": "deleted text", "annotation": "comments", "nonshppict": "pictures", "mmathPr": "fonts and styles",
}

// rtfCharsets are the encodings of fonts by the number of their character set.
var rtfCharsets = map[int]string{
	77: "macintosh", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253", 162: "windows-1254", 163: "windows-1258", 177: "windows-1255",
	178: "windows-1256", 186: "windows-1257", 204: "windows-1251", 222: "windows-874", 238: "windows-1250",
}

// codePage is the encoding that Windows has under a number.
func codePage(n int) string {
	if name, ok := map[int]string{437: "ibm437", 850: "ibm850", 866: "ibm866", 874: "windows-874", 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 10000: "macintosh", 65001: "utf-8"}[n]; ok {
		return name
	}
	return "windows-" + strconv.Itoa(n)
}

type rtfState struct {
	font   int    // its number
	page   string // the encoding of bytes, by the font
	rule   string // by which the group is left out; empty: it is text
	hidden bool
	title  bool     // it is the title that the file gives itself
	link   textLink // that the result of a field is
	skip   int      // characters that stand in for one of Unicode
}

// maxGroups bounds how deep groups stand within each other.
const maxGroups = 10_000

// readRTF reads the text of Rich Text Format.
func readRTF(ctx context.Context, _ *Reader, data []byte) (*Page, error) {
	if !strings.HasPrefix(string(data[:min(len(data), 5)]), `{\rtf`) {
		return nil, errors.New("it does not begin as RTF does")
	}
	r := rtfReader{source: string(data), state: rtfState{skip: 1}, page: "windows-1252"}
	if err := r.read(); err != nil {
		return nil, err
	}
	p, w := &Page{}, newWriter(ctx)
	if isTitle(r.title.String()) {
		p.Title = r.title.String()
	}
	for text := range strings.SplitSeq(r.out.String(), "\n") {
		w.paragraph(text)
	}
	for rule, text := range r.left {
		w.leaveOut(rule, text.String())
	}
	w.finish(p)
	return p, nil
}

type rtfReader struct {
	source  string
	at      int
	state   rtfState
	groups  []rtfState
	page    string            // the encoding of bytes where the font says none
	fonts   map[int]string    // encodings by the number of a font
	font    int               // the number of the usual one
	bytes   []byte            // of that, under way
	skip    int               // characters to come that stand in for one that was written
	high    rune              // the first half of a character of two
	decoder *encoding.Decoder // of page; nil: there is none, or it is not known yet
	decodes string            // the page that decoder is of
	out     textBuilder
	title   strings.Builder
	field   string // what the one that has begun says
	left    map[string]*strings.Builder
}

func (r *rtfReader) read() error {
	for r.at < len(r.source) {
		c := r.source[r.at]
		r.at++
		switch c {
		case '{':
			r.flush()
			if len(r.groups) == maxGroups {
				return errors.New("its groups stand too deep within each other")
			}
			r.groups = append(r.groups, r.state)
			r.skip = 0
		case '}':
			r.flush()
			if n := len(r.groups); n > 0 {
				r.endLink(r.groups[n-1])
				r.state = r.groups[n-1]
				r.groups = r.groups[:n-1]
			}
			r.skip = 0
		case '\\':
			r.control()
		case '\r', '\n':
		default:
			r.byte(c)
		}
	}
	r.flush()
	return nil
}

// endLink writes where a field leads whose result has ended.
func (r *rtfReader) endLink(around rtfState) {
	if r.state.link != around.link {
		r.out.endLink(r.state.link)
	}
}

// byte takes a byte of text.
func (r *rtfReader) byte(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	r.bytes = append(r.bytes, c)
}

// flush writes the bytes under way.
func (r *rtfReader) flush() {
	if len(r.bytes) == 0 {
		return
	}
	text := string(r.bytes)
	if page := cmp.Or(r.state.page, r.page); r.decodes != page {
		r.decodes, r.decoder = page, nil
		if e := encodingNamed(page); e != nil {
			r.decoder = e.NewDecoder()
		}
	}
	if r.decoder != nil {
		if b, err := r.decoder.Bytes(r.bytes); err == nil {
			text = string(b)
		}
	}
	r.bytes = r.bytes[:0]
	r.write(text)
}

func (r *rtfReader) write(text string) {
	rule := r.state.rule
	if rule == "" && r.state.hidden {
		rule = "hidden text"
	}
	switch {
	case rule == "":
		r.out.WriteString(text)
		return
	case r.state.title:
		r.title.WriteString(text)
		return
	case rule == rtfLeft["fldinst"] && len(r.field) < maxSpanned:
		r.field += text
	}
	if r.left == nil {
		r.left = map[string]*strings.Builder{}
	}
	if r.left[rule] == nil {
		r.left[rule] = &strings.Builder{}
	}
	r.left[rule].WriteString(text)
}

// control takes what is behind a backslash.
func (r *rtfReader) control() {
	if r.at == len(r.source) {
		return
	}
	c := r.source[r.at]
	if !isLetter(c) {
		r.at++
		switch c {
		case '\'':
			if r.at+2 <= len(r.source) {
				if n, err := strconv.ParseUint(r.source[r.at:r.at+2], 16, 8); err == nil {
					r.byte(byte(n))
				}
				r.at += 2
			}
			return
		case '*':
			r.flush()
			r.state.rule = "data of programs"
			return
		}
		r.flush()
		switch c {
		case '\\', '{', '}':
			r.byte(c)
		case '~':
			r.write(" ")
		case '_':
			r.write("-")
		case '\n', '\r':
			r.write("\n")
		}
		return
	}
	from := r.at
	for r.at < len(r.source) && isLetter(r.source[r.at]) {
		r.at++
	}
	word, number := r.source[from:r.at], r.at
	if r.at < len(r.source) && r.source[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.source) && '0' <= r.source[r.at] && r.source[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.Atoi(r.source[number:r.at])
	if r.at < len(r.source) && r.source[r.at] == ' ' {
		r.at++
	}
	r.word(word, n, err == nil)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// word takes a control word with its number, if has one.
func (r *rtfReader) word(word string, n int, has bool) {
	if word != "u" {
		r.flush()
	}
	if rule, ok := rtfLeft[word]; ok {
		r.state.rule = rule
		if word == "fldinst" {
			r.field = ""
		}
		return
	}
	switch word {
	case "par", "line", "sect", "page", "row", "column", "softline", "softcol", "softpage", "nestrow":
		r.write("\n")
	case "tab", "enspace", "emspace", "qmspace":
		r.write(" ")
	case "cell", "nestcell":
		r.write(" | ")
	case "title":
		r.state.title = r.state.rule == rtfLeft["info"]
	case "fldrslt":
		r.state.link = textLink{r.out.Len(), fieldTarget(r.field)}
		r.field = ""
	case "f":
		r.state.font = n
		r.state.page = r.fonts[n]
	case "fcharset":
		r.setFont(rtfCharsets[n])
	case "cpg":
		r.setFont(codePage(n))
	case "emdash", "endash":
		r.write("–")
	case "lquote", "rquote":
		r.write("’")
	case "ldblquote", "rdblquote":
		r.write("\"")
	case "bullet":
		r.write("•")
	case "v":
		r.state.hidden = !has || n != 0
	case "plain":
		r.state.hidden, r.state.page = false, r.fonts[r.font]
	case "deff":
		r.font = n
	case "ansicpg":
		r.page = codePage(n)
	case "pc":
		r.page = codePage(437)
	case "pca":
		r.page = codePage(850)
	case "mac":
		r.page = "macintosh"
	case "uc":
		r.state.skip = min(max(n, 0), 10)
	case "u":
		r.flush()
		c := rune(uint16(n))
		switch {
		case c >= 0xd800 && c < 0xdc00:
			r.high = c
		case c >= 0xdc00 && c < 0xe000 && r.high != 0:
			r.write(string((r.high-0xd800)<<10 + (c - 0xdc00) + 0x10000))
			r.high = 0
		default:
			r.write(string(c))
		}
		r.skip = r.state.skip
	case "footnote":
		r.write(" ")
	case "bin":
		r.at = min(len(r.source), r.at+max(n, 0))
	case "shptxt", "shpinst", "shptext", "listtext", "pntext":
		r.state.rule = ""
	}
}

// setFont notes the encoding of a font, in the table of fonts.
func (r *rtfReader) setFont(page string) {
	if r.state.rule == rtfLeft["fonttbl"] && page != "" && r.fonts[r.state.font] == "" {
		if r.fonts == nil {
			r.fonts = map[int]string{}
		}
		r.fonts[r.state.font] = page
		r.state.page = page
	}
}
