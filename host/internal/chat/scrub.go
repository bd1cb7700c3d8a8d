package chat

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// shortestSecret is the length in bytes from which a secret of a workspace is taken
// out of what is said.
const shortestSecret = 6

// secretsOf are the secrets of w.
func secretsOf(w *workspace.Workspace) (all []string) {
	for _, s := range w.Secrets() {
		all = append(all, s.Reveal())
	}
	return all
}

// hideSecrets takes the workspace's secrets out of a text that came from outside, half of
// one at the end of a text that was cut, too.
func (l link) hideSecrets(s string) string {
	return secret.NewScrubber(secretsOf(l.workspace)...).Text(s)
}

// A hidden takes the secrets of a workspace out of what its provider says. The zero
// value hides nothing.
type hidden struct {
	secrets *secret.Scrubber
	texts   [kinds]secret.Stream
	members memberScrub
}

// newHidden returns what hides the secrets of w.
func newHidden(w *workspace.Workspace) hidden {
	h := hidden{secrets: secret.NewWholeScrubber(shortestSecret, secretsOf(w)...)}
	for i := range h.texts {
		h.texts[i] = h.secrets.Stream()
	}
	return h
}

// isIn reports whether members, a checked object or nothing, hold a secret.
func (h *hidden) isIn(members []byte) bool { return h.members.holds(h.secrets, members) }

// boundMessage scrubs a provider's words and cuts them to what is shown of them.
func (l link) boundMessage(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(l.hideSecrets(s), "\ufffd"))
	if len(s) <= maxProviderMessage {
		return s
	}
	n := maxProviderMessage
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// hideInError makes err fit for the log.
func (l link) hideInError(err error) error {
	if text := err.Error(); l.hideSecrets(text) != text {
		return errors.New(l.hideSecrets(text))
	}
	return err
}
