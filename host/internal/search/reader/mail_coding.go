package reader

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// decodeBase64 decodes what it can of base64: other characters stand between, and several texts follow each other.
// around is what stands before and behind it as it is, such as what mailing lists add to messages.
func decodeBase64(body []byte) (out []byte, around string) {
	first, last := codedLines(body)
	around = strings.ToValidUTF8(string(body[:first])+"\n"+string(body[last:]), "\ufffd")
	var digits []byte
	for _, c := range body[first:last] {
		switch {
		case isBase64(rune(c)):
			digits = append(digits, c)
		case c == '=' && len(digits) > 0:
			part, _ := base64.RawStdEncoding.DecodeString(string(digits))
			out, digits = append(out, part...), digits[:0]
		}
	}
	part, _ := base64.RawStdEncoding.DecodeString(string(digits))
	return append(out, part...), around
}

func isBase64(c rune) bool {
	return c < utf8.RuneSelf && isLetter(byte(c)) || '0' <= c && c <= '9' || c == '+' || c == '/'
}

// codedLines says where the lines of base64 in a body begin and end. Each of them is long, or follows one, or is text when
// it is decoded. Where no line is, all is: others have other characters within.
func codedLines(body []byte) (first, last int) {
	const long = 40
	first, last = -1, len(body)
	follows, at := true, 0 // the first line of all may be short
	for line := range bytes.Lines(body) {
		digits := bytes.TrimFunc(line, func(r rune) bool { return !isBase64(r) })
		isCoded := len(digits) > 0 && bytes.IndexFunc(digits, func(r rune) bool { return r != '=' && !isBase64(r) }) < 0
		if isCoded && !follows && len(digits) < long {
			text, err := base64.RawStdEncoding.DecodeString(string(digits))
			isCoded = err == nil && utf8.Valid(text) && !bytes.ContainsFunc(text, unicode.IsControl)
		}
		if isCoded && first < 0 {
			first = at
		}
		at += len(line)
		if isCoded {
			last = at
		}
		follows = isCoded && !bytes.Contains(line, []byte("="))
	}
	return max(first, 0), last
}

// decodeQuoted decodes quoted-printable text. What is no code of it stays as it is: the library ends there.
func decodeQuoted(body []byte) (out []byte) {
	for {
		before, after, ok := bytes.Cut(body, []byte("="))
		out = append(out, before...)
		if !ok {
			return out
		}
		if end := bytes.TrimPrefix(bytes.TrimLeft(after, " \t"), []byte("\r")); bytes.HasPrefix(end, []byte("\n")) {
			body = end[1:] // the line goes on
			continue
		}
		if n, err := strconv.ParseUint(string(after[:min(len(after), 2)]), 16, 8); err == nil && len(after) >= 2 {
			out, body = append(out, byte(n)), after[2:]
			continue
		}
		out, body = append(out, '='), after
	}
}
