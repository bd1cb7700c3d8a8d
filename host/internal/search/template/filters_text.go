package template

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ofText is a filter of what f makes of a text: at most a few times as much.
func ofText(f func(string) string) func(*run, any, []any) any {
	return func(r *run, v any, _ []any) any {
		s := r.text(v)
		r.makeText(len(s))
		made := f(s)
		r.makeText(len(made))
		return made
	}
}

func toLower(s string) string    { return strings.ToLower(s) }
func toUpper(s string) string    { return strings.ToUpper(s) }
func escape(s string) string     { return html.EscapeString(s) }
func escapeOnce(s string) string { return html.EscapeString(html.UnescapeString(s)) }
func urlEncode(s string) string  { return url.QueryEscape(s) }
func trimBoth(s string) string   { return strings.TrimSpace(s) }
func trimLeft(s string) string   { return strings.TrimLeftFunc(s, unicode.IsSpace) }
func trimRight(s string) string  { return strings.TrimRightFunc(s, unicode.IsSpace) }

func urlDecode(r *run, v any, _ []any) any {
	s := r.text(v)
	r.makeText(len(s))
	decoded, err := url.QueryUnescape(s)
	if err != nil {
		fail(err)
	}
	return decoded
}

func capitalize(r *run, v any, _ []any) any {
	s := r.text(v)
	_, n := utf8.DecodeRuneInString(s)
	return r.concat(strings.ToUpper(s[:n]), s[n:])
}

func (r *run) concat(a, b string) string {
	r.makeText(len(a) + len(b))
	return a + b
}

// replace replaces at most n times, or each time where n is negative.
func (r *run) replace(s, from, to string, n int) string {
	r.read(len(s))
	count := strings.Count(s, from)
	if n >= 0 {
		count = min(count, n)
	}
	r.makeText(max(len(s)+count*(len(to)-len(from)), 0))
	return strings.Replace(s, from, to, n)
}

func slice(r *run, v any, a []any) any {
	from, n := r.integer(argument(a, 0)), 1
	if len(a) > 1 {
		n = r.integer(a[1])
	}
	if list, ok := v.([]any); ok {
		from, to := window(from, n, len(list))
		return append(r.makeArray(to-from), list[from:to]...)
	}
	s := r.text(v)
	r.read(len(s))
	from, to := window(from, n, utf8.RuneCountInString(s))
	return s[runeAt(s, from):runeAt(s, to)]
}

// window is the part of length n at from, which counts from the end where it is
// negative, of what has total elements.
func window(from, n, total int) (start, end int) {
	if from < 0 {
		if from += total; from < 0 {
			return 0, 0
		}
	}
	from = min(from, total)
	return from, min(from+max(n, 0), total)
}

// runeAt is where in s the rune of a number begins.
func runeAt(s string, n int) int {
	for i := range s {
		if n--; n < 0 {
			return i
		}
	}
	return len(s)
}

func split(r *run, v any, a []any) any {
	s, separator := r.text(v), r.text(argument(a, 0))
	r.read(len(s))
	var parts []string
	if separator == " " {
		// Any space, as everywhere in Liquid. A text that begins with one begins
		// with an empty part.
		r.holdArray(strings.Count(s, " ") + strings.Count(s, "\n") + strings.Count(s, "\t") + strings.Count(s, "\r") + 2)
		if parts = strings.FieldsFunc(s, isSpace); s != "" && isSpace(rune(s[0])) {
			parts = append([]string{""}, parts...)
		}
	} else {
		r.holdArray(strings.Count(s, separator) + 1)
		parts = strings.Split(s, separator)
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	out := r.makeArray(len(parts))
	for _, p := range parts {
		out = append(out, p)
	}
	r.hold(16 * len(parts)) // each is a string header of its own
	return out
}

func isSpace(c rune) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// stripHTML takes out what is between < and > on one line.
func stripHTML(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			break
		}
		b.WriteString(s[:open])
		s = s[open:]
		end := strings.IndexAny(s, ">\n")
		if end < 0 {
			break
		}
		if s[end] == '\n' {
			b.WriteString(s[:end])
		}
		s = s[end:]
		s = strings.TrimPrefix(s, ">")
	}
	b.WriteString(s)
	return b.String()
}

func truncate(r *run, v any, a []any) any {
	s := r.text(v)
	n, mark := r.shortening(a, 50)
	r.read(min(len(s), utf8.UTFMax*max(n, 0)))
	if runeAt(s, n) == len(s) {
		return s
	}
	return r.concat(s[:runeAt(s, max(n-utf8.RuneCountInString(mark), 0))], mark)
}

// shortening reads the arguments of filters that shorten a text.
func (r *run) shortening(a []any, n int) (length int, mark string) {
	mark = "..."
	if len(a) > 0 {
		n = r.integer(a[0])
	}
	if len(a) > 1 {
		mark = r.text(a[1])
	}
	r.read(len(mark))
	return max(n, 0), mark
}

func truncateWords(r *run, v any, a []any) any {
	s := r.text(v)
	n, mark := r.shortening(a, 15)
	r.read(len(s))
	words, inWord := 0, false
	for i, c := range s {
		switch {
		case unicode.IsSpace(c):
			if inWord = false; words >= max(n, 1) {
				if strings.TrimSpace(s[i:]) == "" {
					return s
				}
				return r.concat(s[:i], mark)
			}
		case !inWord:
			inWord = true
			words++
		}
	}
	return s
}
