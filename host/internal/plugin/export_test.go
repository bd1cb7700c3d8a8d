package plugin

import (
	"slices"

	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// Awaited reports whether somebody waits for source.
func (s *Set) Awaited(source string) bool {
	s.first.mu.Lock()
	defer s.first.mu.Unlock()
	return slices.Contains(s.first.wishes, provider.Wish{Source: source})
}
