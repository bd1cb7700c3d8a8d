package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/secret"
)

// A secret shorter than this many bytes is none: servers that ask for no key
// are given words like "EMPTY", and every text has those. In the events of an
// answer more is asked for, since there a word is the model's.
const (
	shortestSecret      = 6
	shortestEventSecret = 16
)

// Scrub puts [secret.Redacted] in place of every secret in text, and of the forms that
// a secret takes when quoted: in JSON, in a URL, in base64. Secrets of fewer
// than six bytes are left.
func Scrub(text string, secrets map[string]string) string {
	s := newScrubber(secrets)
	return s.text(text)
}

// text is Scrub.
func (s *scrubber) text(text string) string {
	out, _ := replaceAll([]byte(text), s.all)
	return string(out)
}

// A scrubber finds secrets. The zero value finds none.
type scrubber struct {
	all   [][]byte // longest first, since one may be part of another
	event [][]byte // those looked for in events
}

// newScrubber returns one that finds secrets, and what was derived of them.
func newScrubber(secrets map[string]string, derived ...string) scrubber {
	var s scrubber
	for _, value := range slices.Concat(slices.Collect(maps.Values(secrets)), derived) {
		if len(value) < shortestSecret {
			continue
		}
		for _, form := range forms(value) {
			b := []byte(form)
			s.all = append(s.all, b)
			if len(value) >= shortestEventSecret {
				s.event = append(s.event, b)
			}
		}
	}
	longestFirst := func(a, b []byte) int { return len(b) - len(a) }
	slices.SortFunc(s.all, longestFirst)
	slices.SortFunc(s.event, longestFirst)
	return s
}

// forms lists what a secret looks like when quoted, each once.
func forms(secret string) []string {
	out := []string{
		secret,
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
	}
	// Nearly all keys stand for themselves elsewhere, and each answer comes by here.
	if strings.ContainsFunc(secret, quotable) {
		out = append(out,
			url.QueryEscape(secret),
			url.PathEscape(secret),
			strings.ReplaceAll(quoted(secret, false), "/", `\/`),
			quoted(secret, false),
			quoted(secret, true),
		)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// quotable reports whether r may look otherwise in JSON or in a URL.
func quotable(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' && r != '~'
}

// quoted returns s as JSON has it, without the quotes.
func quoted(s string, html bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if e.Encode(s) != nil {
		return s
	}
	line := strings.TrimSuffix(b.String(), "\n")
	return line[1 : len(line)-1]
}

// longest returns the length of the longest form.
func (s *scrubber) longest() int {
	if len(s.all) == 0 {
		return 0
	}
	return len(s.all[0])
}

// replaceAll puts Redacted in place of every needle. Where there is none, it
// returns b itself and false.
func replaceAll(b []byte, needles [][]byte) ([]byte, bool) {
	found := false
	for _, n := range needles {
		if bytes.Contains(b, n) {
			b, found = bytes.ReplaceAll(b, n, []byte(secret.Redacted)), true
		}
	}
	return b, found
}
