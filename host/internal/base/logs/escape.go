package logs

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// The log has texts of others: of plugins, providers, files. What is in one must not
// look like another line, nor change the terminal that shows it.

// Escape returns text with all that is not printed escaped, as Go quotes it: line
// breaks, control characters, what changes the direction of writing.
func Escape(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if hidden(r) || r == utf8.RuneError {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }

// escapeFields escapes what the console shows as it is of a line: its message, names
// and values that are no texts. Values that are texts it quotes itself.
func escapeFields(line map[string]any) error {
	for name, value := range line {
		switch v := value.(type) {
		case string:
			if name == zerolog.MessageFieldName || name == zerolog.LevelFieldName || name == zerolog.TimestampFieldName {
				line[name] = Escape(v)
			}
		case json.Number, bool, nil:
		default:
			b, err := json.Marshal(v)
			if err != nil {
				return err
			}
			line[name] = json.RawMessage(escapeLine(b))
		}
		if shown := Escape(name); shown != name {
			line[shown] = line[name]
			delete(line, name)
		}
	}
	return nil
}

// escapeLine escapes in a line of JSON what JSON lets be that is not printed: it has
// escaped the rest.
func escapeLine(line []byte) []byte {
	printed := true
	for _, c := range line {
		printed = printed && (c < 0x7f)
	}
	if printed {
		return line
	}
	var b []byte
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		switch {
		case r < 0x7f || !hidden(r):
			b = append(b, line[:n]...)
		case r > 0xffff:
			b = fmt.Appendf(b, "\\u%04x\\u%04x", 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			b = fmt.Appendf(b, "\\u%04x", r)
		}
		line = line[n:]
	}
	return b
}
