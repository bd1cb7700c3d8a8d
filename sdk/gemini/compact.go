package gemini

import (
	"bytes"
	"unicode/utf8"

	"github.com/parley-search/parley/sdk/rawjson"
)

// appendCompact appends v without the space around its tokens, and with what JSON
// forbids in strings mended: gone where it is a control character, U+FFFD where
// it is not UTF-8.
func appendCompact(dst []byte, v rawjson.Value) rawjson.Value {
	from, inside := len(dst), false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			dst = append(dst, c)
			i++
		case c < ' ' || c == ' ' && !inside:
			continue
		}
		dst = append(dst, v[i])
	}
	if !utf8.Valid(dst[from:]) {
		dst = append(dst[:from], bytes.ToValidUTF8(dst[from:], []byte("\ufffd"))...)
	}
	return dst
}
