package search

import (
	"time"

	"github.com/parley-search/parley/host/internal/search/settings"
)

// Searched is a search of one index that has ended, for figures.
type Searched struct {
	Took     time.Duration // the wait for a slot included
	Degraded bool          // cut off by time
	Left     bool          // nobody waits for it any more
	Err      error         // what the caller was told
}

// A Load is how much a service has, and has to do.
type Load struct {
	Indexes, Documents int
	DocumentBytes      int64
	NotReady           int // indexes that are built anew and answer no search until then
	Running, Waiting   int // searches
}

// Load returns how much there is now.
func (s *Service) Load() Load {
	indexes := s.indexes.All()
	l := Load{Indexes: len(indexes), Running: len(s.gate.slots), Waiting: int(s.gate.waiting.Load())}
	for _, ix := range indexes {
		st := ix.State()
		l.Documents += st.Meta.Count
		l.DocumentBytes += st.Meta.Bytes
		if st.Folder == nil || !st.Folder.Schema.Serves(settings.SchemaOf(&st.Meta.Settings)) {
			l.NotReady++
		}
	}
	return l
}
