package plugin

import "maps"

// A Running is a plugin that a [Set] holds, with what the deployment says of
// it.
type Running struct {
	Plugin
	Wanted  Wanted
	Retired bool  // no stream begins on it any more; it is closed after the last one
	Streams int64 // under way on it
	Begun   int64 // streams that ever were
}

func running(members []member, retired bool) []Running {
	all := make([]Running, 0, len(members))
	for _, m := range members {
		l := m.plugin.loadedModule()
		streams := l.holds.Load()
		if !retired {
			streams-- // the set's own
		}
		all = append(all, Running{m.plugin, m.wanted, retired, max(streams, 0), l.begun.Load()})
	}
	return all
}

// Running lists what runs, the stronger first, and then what only finishes
// streams.
func (s *Set) Running() []Running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(running(s.view.Load().members, false), running(s.retired, true)...)
}

// Refused lists what the last [Set.Apply] was told or found to be refused.
func (s *Set) Refused() []Refused {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Refused(nil), s.refused...)
}

// Swaps returns, by plugin, how often another version came into use.
func (s *Set) Swaps() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.swaps)
}
