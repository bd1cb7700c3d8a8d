package template

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A lexeme is a part of an expression.
type lexeme struct {
	kind  lexemeKind
	text  string // a name, or a sign as it is written
	value any    // of a literal
}

type lexemeKind int

const (
	noLexeme lexemeKind = iota // there is no more
	name
	literal
	property // .name
	sign
)

// signs are those of several characters.
var signs = []string{"==", "!=", "<>", ">=", "<=", ".."}

// lex reads the first lexeme of s, and returns what follows it.
func lex(s string) (l lexeme, rest string, err error) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if s == "" {
		return lexeme{}, "", nil
	}
	c := s[0]
	switch {
	case c == '\'' || c == '"':
		end := strings.IndexByte(s[1:], c)
		if end < 0 {
			return l, "", fmt.Errorf("a text in quotes has no end: %.50s", s)
		}
		return lexeme{literal, s[:end+2], s[1 : 1+end]}, s[end+2:], nil
	case isDigit(c) || c == '-' && len(s) > 1 && isDigit(s[1]):
		return lexNumber(s)
	}
	if n := nameLength(s); n > 0 {
		return lexeme{name, s[:n], nil}, s[n:], nil
	}
	if c == '.' {
		if n := nameLength(s[1:]); n > 0 {
			return lexeme{property, s[1 : 1+n], nil}, s[1+n:], nil
		}
	}
	for _, known := range signs {
		if strings.HasPrefix(s, known) {
			return lexeme{sign, known, nil}, s[2:], nil
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	return lexeme{sign, s[:n], nil}, s[n:], nil
}

func lexNumber(s string) (lexeme, string, error) {
	n := 1
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n+1 >= len(s) || s[n] != '.' || !isDigit(s[n+1]) {
		v, err := strconv.ParseInt(s[:n], 10, 64)
		if err != nil {
			return lexeme{}, "", fmt.Errorf("the number %.50s is too large", s[:n])
		}
		return lexeme{literal, s[:n], v}, s[n:], nil
	}
	for n++; n < len(s) && isDigit(s[n]); {
		n++
	}
	v, err := strconv.ParseFloat(s[:n], 64)
	if err != nil {
		return lexeme{}, "", fmt.Errorf("the number %.50s is too large", s[:n])
	}
	return lexeme{literal, s[:n], v}, s[n:], nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameLength is how many bytes of s are a name.
func nameLength(s string) int {
	for i, r := range s {
		switch {
		case r == '_' || unicode.IsLetter(r):
		case i > 0 && (r == '-' || unicode.IsDigit(r) || unicode.IsMark(r)):
		case i > 0 && r == '?':
			return i + 1
		default:
			return i
		}
	}
	return len(s)
}
