package reader

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// byteMarks are what files of these encodings begin with, the longer ones first.
var byteMarks = []struct {
	mark, name string
	encoding   encoding.Encoding
}{
	{"\xff\xfe\x00\x00", "utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\xfe\xff", "utf-32be", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\xff\xfe", "utf-16le", utf16LE},
	{"\xfe\xff", "utf-16be", utf16BE},
	{"\xef\xbb\xbf", "utf-8", unicode.UTF8},
}

var (
	utf16LE = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	utf16BE = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
)

// decode returns the text of a file, and the name of the encoding that it was taken for: by the mark that it
// begins with, else what it says of itself, in declared, else UTF-8 where it is that as a whole or almost,
// else what its bytes look like. What is no character of the encoding becomes U+FFFD. The text has no marks of
// byte order, and line feeds at the ends of lines.
func decode(data []byte, declared string) (text, name string, err error) {
	if len(data) > 2*MaxText {
		return "", "", errTooLong
	}
	mark := ""
	e := encoding.Encoding(nil)
	for _, m := range byteMarks {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			mark, name, e = m.mark, m.name, m.encoding
			break
		}
	}
	if e == nil {
		name, e = encodingOf(data, declared)
	}
	if e == unicode.UTF8 {
		text = strings.ToValidUTF8(string(data[len(mark):]), "\ufffd")
	} else {
		b, err := e.NewDecoder().Bytes(data[len(mark):])
		if err != nil {
			return "", "", fmt.Errorf("read it as %s: %w", name, err)
		}
		text = string(b)
	}
	if len(text) > MaxText {
		return "", "", errTooLong
	}
	if strings.ContainsAny(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text, name, nil
}

// encodingOf finds the encoding of bytes that begin with no mark.
func encodingOf(data []byte, declared string) (name string, e encoding.Encoding) {
	if name, e = wideOf(data); e != nil {
		return name, e
	}
	valid, bad := countUTF8(data)
	if e := encodingNamed(declared); e != nil && isBelieved(e, valid, bad) {
		name, err := htmlindex.Name(e)
		if err != nil {
			name = strings.ToLower(strings.TrimSpace(declared))
		}
		return name, e
	}
	if e := encodingOfEscapes(data); e != nil {
		return "iso-2022-jp", e
	}
	if bad == 0 || valid >= 2*bad {
		return "utf-8", unicode.UTF8
	}
	return detect(data)
}

// encodingNamed is the encoding of a name, as the web or mail has it; nil: none that is known.
func encodingNamed(name string) encoding.Encoding {
	name = strings.Trim(name, " \t\r\n\"'")
	if e, err := htmlindex.Get(name); err == nil {
		return e
	}
	e, _ := ianaindex.IANA.Encoding(name)
	return e
}

// encodingOfEscapes tells the Japanese of mail, which is ASCII between escapes; nil: it is not that.
func encodingOfEscapes(data []byte) encoding.Encoding {
	if (bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@"))) && isTextIn(japanese.ISO2022JP, data) {
		return japanese.ISO2022JP
	}
	return nil
}

// isBelieved reports whether what a file says of its encoding fits its bytes: it is no UTF-8 where it has many
// bytes that are none, no UTF-16 where single bytes say so in ASCII, and nothing else where all that is beyond
// ASCII is UTF-8: at least two characters, or five where the encoding has characters of two bytes, since two
// characters of GBK are UTF-8 by chance once in 30 texts, and five once in 5,000. Of 50 characters one may be broken.
func isBelieved(e encoding.Encoding, valid, bad int) bool {
	name, _ := htmlindex.Name(e)
	switch {
	case name == "utf-8":
		return bad == 0 || valid >= 2*bad
	case strings.HasPrefix(name, "utf-16"), name == "replacement", name == "x-user-defined":
		return false
	case strings.HasPrefix(name, "windows-"), strings.HasPrefix(name, "iso-8859-"), strings.HasPrefix(name, "koi8-"), name == "macintosh":
		return valid < max(2, 50*bad)
	}
	return valid < max(5, 50*bad)
}

// wideOf tells UTF-16 by where the zero bytes of its ASCII are; nil: it is not that.
func wideOf(data []byte) (string, encoding.Encoding) {
	head := data[:min(len(data), 4096)&^1]
	zeros := [2]int{}
	for i, c := range head {
		if c == 0 {
			zeros[i&1]++
		}
	}
	name, e, most, least := "utf-16le", utf16LE, zeros[1], zeros[0]
	if zeros[0] > zeros[1] {
		name, e, most, least = "utf-16be", utf16BE, zeros[0], zeros[1]
	}
	if most < 2 || most*7 < len(head) || least*20 > most || !isTextIn(e, head) {
		return "", nil
	}
	return name, e
}

// countUTF8 counts the characters of UTF-8 that have more than a byte, and the places where none is.
func countUTF8(data []byte) (valid, bad int) {
	inBad := false
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i, inBad = i+1, false
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			if !inBad {
				bad++
			}
			inBad = true
		} else {
			valid, inBad = valid+1, false
		}
		i += n
	}
	return valid, bad
}

// maxDetect bounds the bytes that an encoding is told by.
const maxDetect = 64 << 10

// aliases are the names of the encodings that [chardet] finds where those of the web are others, or have
// more characters: files that are said to be of ISO 8859 have the quotation marks of Windows.
var aliases = map[string]string{
	"ISO-8859-1": "windows-1252", "ISO-8859-2": "windows-1250", "ISO-8859-5": "windows-1251", "ISO-8859-6": "windows-1256",
	"ISO-8859-7": "windows-1253", "ISO-8859-8": "windows-1255", "ISO-8859-8-I": "windows-1255", "ISO-8859-9": "windows-1254",
}

// detect finds an encoding by what its bytes would be as text: the likeliest one in which each is a character.
func detect(data []byte) (string, encoding.Encoding) {
	sample := data
	if len(sample) > maxDetect { // from where something is beyond ASCII
		at := bytes.IndexFunc(sample, func(r rune) bool { return r >= utf8.RuneSelf })
		at = min(max(at-maxDetect/8, 0), len(data)-maxDetect)
		sample = sample[at : at+maxDetect]
	}
	if name, e := tellByLetters(sample); e != nil {
		return name, e
	}
	found, err := chardet.NewTextDetector().DetectAll(sample)
	if err == nil {
		for _, r := range found {
			e, err := htmlindex.Get(cmp.Or(aliases[r.Charset], r.Charset))
			if err != nil {
				continue
			}
			if name, _ := htmlindex.Name(e); !strings.HasPrefix(name, "utf-") && isTextIn(e, data) {
				return name, e
			}
		}
	}
	e, _ := htmlindex.Get("windows-1252")
	return "windows-1252", e
}

// isTextIn reports whether all bytes are characters of an encoding, and none a control character that no text
// has.
func isTextIn(e encoding.Encoding, data []byte) bool {
	text, err := e.NewDecoder().Bytes(data)
	return err == nil && bytes.IndexFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r >= 0x7f && r < 0xa0 || r < ' ' && !isSpace(byte(r)) && r != '\f' && r != 0x1b
	}) < 0
}

// declaredXML is the encoding that XML says it has; empty: it says none.
func declaredXML(data []byte) string {
	head := data[:min(len(data), 200)]
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	head, _, _ = bytes.Cut(head, []byte("?>"))
	_, rest, ok := bytes.Cut(head, []byte("encoding"))
	rest = bytes.TrimLeft(rest, " \t\r\n=")
	if !ok || len(rest) < 2 {
		return ""
	}
	if end := bytes.IndexByte(rest[1:], rest[0]); end >= 0 {
		return string(rest[1 : 1+end])
	}
	return ""
}

// declaredHTML is the encoding that a page says it has, in its XML declaration or anywhere in its head.
func declaredHTML(data []byte) string {
	if name := declaredXML(bytes.TrimSpace(data[:min(len(data), 200)])); name != "" {
		return name
	}
	for z := html.NewTokenizer(bytes.NewReader(data[:min(len(data), 1<<20)])); ; {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			tag, more := z.TagName()
			if string(tag) == "body" {
				return ""
			}
			if string(tag) != "meta" {
				continue
			}
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				switch string(key) {
				case "charset":
					return string(value)
				case "content":
					if _, name, ok := bytes.Cut(bytes.ToLower(value), []byte("charset=")); ok {
						return string(name)
					}
				}
			}
		}
	}
}
