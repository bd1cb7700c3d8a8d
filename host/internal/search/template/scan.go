package template

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// A token is a part of a template: a text as it stands, {{ an output }} or
// {% a tag %}.
type token struct {
	kind tokenKind
	name string // of a tag
	text string // as it stands; else what is within the braces, after the name
}

type tokenKind int

const (
	textToken tokenKind = iota
	outputToken
	tagToken
	endToken // there is no more
)

// A scanner reads tokens.
type scanner struct {
	text string
	at   int
	trim bool // the last token was one with a hyphen at its end
}

// line is that of the place the scanner is at, from 1.
func (s *scanner) line() int { return 1 + strings.Count(s.text[:s.at], "\n") }

// next returns the next token.
func (s *scanner) next() (token, error) {
	rest := s.text[s.at:]
	if rest == "" {
		return token{kind: endToken}, nil
	}
	open := openBrace(rest)
	if open != 0 {
		text := rest
		if open > 0 {
			text = rest[:open]
		}
		s.at += len(text)
		if s.trim {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if s.trim = false; strings.HasPrefix(s.text[s.at:], "{{-") || strings.HasPrefix(s.text[s.at:], "{%-") {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return token{kind: textToken, text: text}, nil
	}
	close := "}}"
	if rest[1] == '%' {
		close = "%}"
	}
	end := closeBrace(rest, close)
	if end < 0 {
		return token{}, fmt.Errorf("a %s has no end", rest[:2])
	}
	s.at += end + 2
	inner := rest[2:end]
	inner = strings.TrimPrefix(inner, "-")
	s.trim = strings.HasSuffix(inner, "-")
	inner = strings.TrimSpace(strings.TrimSuffix(inner, "-"))
	if close == "}}" {
		if inner == "" {
			return token{}, errors.New("a {{ }} with nothing in it")
		}
		return token{kind: outputToken, text: inner}, nil
	}
	n := strings.IndexFunc(inner, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		n = len(inner)
	}
	return token{tagToken, inner[:n], strings.TrimSpace(inner[n:])}, nil
}

// until skips to the tag of a name, and returns what stands before it. Nothing
// in it is read: quotes and braces need no end.
func (s *scanner) until(name string) (string, error) {
	for from := s.at; ; {
		open := strings.Index(s.text[from:], "{%")
		if open < 0 {
			return "", fmt.Errorf("no %s for it", name)
		}
		open += from
		from = open + 2
		rest := strings.TrimLeftFunc(strings.TrimPrefix(s.text[from:], "-"), unicode.IsSpace)
		rest, ok := strings.CutPrefix(rest, name)
		if !ok {
			continue
		}
		end := strings.Index(rest, "%}")
		if end < 0 || strings.Trim(rest[:end], "- \t\r\n") != "" {
			continue
		}
		before := s.text[s.at:open]
		s.trim = end > 0 && rest[end-1] == '-'
		s.at = len(s.text) - len(rest) + end + 2
		return before, nil
	}
}

// openBrace is where the first {{ or {% of s begins, -1 without one.
func openBrace(s string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '{')
		if i < 0 || from+i+1 >= len(s) {
			return -1
		}
		if i += from; s[i+1] == '{' || s[i+1] == '%' {
			return i
		}
		from = i + 1
	}
}

// closeBrace is where the end of what s begins with is, -1 without one. It is
// not within a quoted text.
func closeBrace(s, end string) int {
	quote := byte(0)
	for i := 2; i+1 < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case s[i:i+2] == end:
			return i
		}
	}
	return -1
}
