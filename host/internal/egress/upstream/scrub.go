package upstream

import (
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// shortestEventSecret is the length in bytes from which a secret is looked for in the
// events of an answer: there, a word is the model's.
const shortestEventSecret = 16

// scrubs take the secrets of a request out of what comes back.
type scrubs struct {
	texts  *secret.Scrubber // of headers, errors and recordings
	events *secret.Scrubber
}

// newScrubs returns those for secrets, and what was derived of them.
func newScrubs(secrets map[string]string, derived ...string) scrubs {
	all := slices.Concat(slices.Collect(maps.Values(secrets)), derived)
	return scrubs{secret.NewScrubber(all...), secret.NewWholeScrubber(shortestEventSecret, all...)}
}
