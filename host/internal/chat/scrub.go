package chat

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/rawjson"
	"github.com/parley-search/parley/host/internal/secret"
)

// minScrubbed is the length from which a key is looked for inside other text.
// Shorter ones are no secrets worth the name ("EMPTY" is a common one), and
// would tear words apart.
const minScrubbed = 6

// scrub takes the workspace's secrets out of a text that came from outside: as
// they are, in the forms that they may take in a URL, in JSON or in base64, and
// half of one at the end of a text that was cut.
func (l link) scrub(s string) string {
	for _, key := range l.workspace.Secrets() {
		s = scrubKey(s, key.Reveal())
	}
	return s
}

func scrubKey(s, key string) string {
	if len(key) < minScrubbed || s == "" {
		return s
	}
	escaped := string(rawjson.AppendEscaped(nil, key))
	for _, form := range []string{key, escaped, url.QueryEscape(key), url.PathEscape(key), base64.StdEncoding.EncodeToString([]byte(key))} {
		s = strings.ReplaceAll(s, form, secret.Redacted)
	}
	for n := min(len(key)-1, len(s)); n >= minScrubbed; n-- {
		if strings.HasSuffix(s, key[:n]) {
			return s[:len(s)-n] + secret.Redacted
		}
	}
	return s
}

// bounded scrubs a provider's words and cuts them to what is shown of them.
func (l link) bounded(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(l.scrub(s), "\ufffd"))
	if len(s) <= maxProviderMessage {
		return s
	}
	n := maxProviderMessage
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// scrubbed makes err fit for the log.
func (l link) scrubbed(err error) error {
	if text := err.Error(); l.scrub(text) != text {
		return errors.New(l.scrub(text))
	}
	return err
}
