//go:build race

package reader_test

import (
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

// underRace says that the race detector is at work, whose memory is beyond what
// a process that compiles aside may have.
const underRace = true

// cacheFor keeps the compiled sandbox between runs, as tests of the whole keep what
// they compile: under the race detector compiling takes half a minute.
func cacheFor(t testing.TB) string {
	t.Helper()
	return house.CompiledModules(t)
}
