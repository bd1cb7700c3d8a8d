package chat

import (
	"slices"

	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/secret"
)

// A keyScrub takes all secrets of a workspace out of a text that comes in pieces,
// one after the other; most have one. Its zero value lets everything through.
type keyScrub []streamScrub

// newKeyScrub returns one for secrets: the longest first, since one may be part
// of another.
func newKeyScrub(secrets map[string]secret.Text) keyScrub {
	var all keyScrub
	for _, s := range secrets {
		if one := newStreamScrub(s.Reveal()); one.key != "" {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b streamScrub) int { return len(b.key) - len(a.key) })
	return all
}

// clone returns s for another text.
func (s keyScrub) clone() keyScrub { return slices.Clone(s) }

// next is [streamScrub.next].
func (s keyScrub) next(piece []byte) []byte {
	for i := range s {
		piece = s[i].next(piece)
	}
	return piece
}

// end is [streamScrub.end].
func (s keyScrub) end() (rest []byte) {
	for i := range s {
		if len(rest) > 0 { // what the one before held goes through those after it
			rest = s[i].next(rest)
		}
		rest = append(rest, s[i].end()...)
	}
	return rest
}

// scrubName takes the secrets out of a text that came as a whole.
func (s keyScrub) scrubName(name []byte) []byte {
	if len(s) == 0 {
		return name
	}
	one := s.clone()
	shown := one.next(name)
	return append(shown[:len(shown):len(shown)], one.end()...)
}

// hasKey is [streamScrub.hasKey].
func (s keyScrub) hasKey(value []byte) bool {
	return slices.ContainsFunc(s, func(one streamScrub) bool { return one.hasKey(value) })
}

// hideSecrets has a take the secrets of w out of what it passes on.
func (a *Answer) hideSecrets(w *workspace.Workspace) {
	a.noKey = newKeyScrub(w.Secrets())
	for i := range a.texts {
		a.texts[i] = a.noKey.clone()
	}
	a.members = memberScrub{}
}
