package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// A token is one word, sign or quoted text of a filter expression.
type token struct {
	text   string
	quoted bool
	column int // of its first character, counted from 1
}

// signs are the characters that end a bare word.
const signs = "()[],=<>!'\""

// maxTokens bounds the tokens of one expression: a condition of the common form
// has three, and a word between it and the next.
const maxTokens = 4 * maxConditions

// lex splits an expression into tokens.
func lex(s string) ([]token, error) {
	var out []token
	column := 1
	for len(s) > 0 {
		t, n, err := nextToken(s, column)
		if err != nil {
			return nil, err
		}
		if t.text != "" || t.quoted {
			if len(out) == maxTokens {
				return nil, tooManyConditions()
			}
			out = append(out, t)
		}
		column += utf8.RuneCountInString(s[:n])
		s = s[n:]
	}
	return out, nil
}

// nextToken reads the token at the start of s and returns how many bytes it
// took. Space gives an empty token.
func nextToken(s string, column int) (token, int, error) {
	switch c := s[0]; {
	case rawjson.IsSpace(c):
		return token{}, 1, nil
	case c == '\'' || c == '"':
		text, n, ok := quoted(s)
		if !ok {
			return token{}, 0, &Error{fmt.Sprintf("the text that begins with %c at column %d has no end; expected a closing %c", c, column, c)}
		}
		return token{text, true, column}, n, nil
	case strings.IndexByte("()[],", c) >= 0:
		return token{s[:1], false, column}, 1, nil
	case c == '=':
		return token{"=", false, column}, 1, nil
	case c == '<' || c == '>' || c == '!':
		if len(s) > 1 && s[1] == '=' {
			return token{s[:2], false, column}, 2, nil
		}
		if c == '!' {
			return token{}, 0, &Error{fmt.Sprintf("a single ! at column %d; expected !=, or NOT before a condition", column)}
		}
		return token{s[:1], false, column}, 1, nil
	}
	n := strings.IndexAny(s, signs+" \t\r\n")
	if n < 0 {
		n = len(s)
	}
	return token{s[:n], false, column}, n, nil
}

// quoted reads the quoted text at the start of s. A backslash keeps the quote
// or backslash behind it; before anything else it is itself.
func quoted(s string) (text string, n int, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch {
		case c == s[0]:
			return b.String(), i + 1, true
		case c == '\\' && i+1 < len(s) && (s[i+1] == s[0] || s[i+1] == '\\'):
			i++
			c = s[i]
		}
		b.WriteByte(c)
	}
	return "", 0, false
}
