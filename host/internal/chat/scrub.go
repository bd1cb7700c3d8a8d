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

// scrub takes the workspace's secrets out of a text that came from outside, half of
// one at the end of a text that was cut, too.
func (l link) scrub(s string) string { return secret.NewScrubber(secretsOf(l.workspace)...).Text(s) }

// hideSecrets has a take the secrets of w out of what it passes on.
func (a *Answer) hideSecrets(w *workspace.Workspace) {
	a.noKey = secret.NewWholeScrubber(shortestSecret, secretsOf(w)...)
	for i := range a.texts {
		a.texts[i] = a.noKey.Stream()
	}
	a.members = memberScrub{}
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
