package webhook

import (
	"strings"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// A Listed is a hook with its uuid.
type Listed struct {
	UID string
	Hook
}

// Editable reports whether clients may change it.
func (l *Listed) Editable() bool { return l.UID != OperatorUID }

// ShownURL is the address as clients see it. Of the operator's, which may hold
// a token that nobody sent here, the host alone.
func (l *Listed) ShownURL() string {
	if l.Editable() {
		return l.URL
	}
	scheme, rest, _ := strings.Cut(l.URL, "://")
	host, path, _ := strings.Cut(rest, "/")
	host, query, _ := strings.Cut(host, "?")
	if path == "" && query == "" {
		return l.URL
	}
	return scheme + "://" + host + "/" + secret.ShortestShown
}

// ShownHeaders are the headers as clients see them: enough to know them again.
func (h *Hook) ShownHeaders() map[string]string {
	shown := make(map[string]string, len(h.Headers))
	for name, value := range h.Headers {
		shown[name] = secret.Obfuscate(value)
	}
	return shown
}
