package plugin

import (
	"maps"
	"slices"

	"github.com/parley-search/parley/host/internal/base/contain"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// replace goes over to next, tells of it, and lets go of what was in the view
// before and is not any more. changing is held.
func (s *Set) replace(next *view) error {
	old := s.view.Load()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return wasm.ErrClosed
	}
	var left []member
	for _, m := range old.members {
		if !slices.ContainsFunc(next.members, func(n member) bool { return n.plugin == m.plugin }) {
			left = append(left, m)
			s.retired = append(s.retired, m)
		}
	}
	s.view.Store(next)
	swapped := next.swapped(old)
	for _, step := range swapped {
		s.swaps[step.Name]++
	}
	s.mu.Unlock()
	s.tell(old, next, swapped)
	for _, m := range left {
		s.retire(m)
	}
	return nil
}

// tell writes down what changed and hands on what runs.
func (s *Set) tell(old, next *view, swapped []Step) {
	for _, m := range next.members {
		if _, ok := old.find(&m.wanted); !ok {
			step := m.wanted.step(StepLoaded)
			step.Took = m.took
			if p, ok := m.plugin.(*Provider); ok {
				step.Source, step.Owner = p.manifest.Source, next.owners[p.manifest.Source]
			}
			s.options.log(step)
		}
	}
	for _, step := range swapped {
		s.options.log(step)
	}
	for _, step := range next.taken(old) {
		s.options.log(step)
	}
	if s.options.Applied != nil {
		s.options.Applied(running(next.members, false))
	}
}

// swapped returns a step for each plugin of which another version stands first
// in v than in old.
func (v *view) swapped(old *view) (steps []Step) {
	was := old.first()
	for name, m := range v.first() {
		if before, ok := was[name]; ok && before.plugin != m.plugin {
			step := m.wanted.step(StepSwapped)
			step.Before = before.wanted.Version
			steps = append(steps, step)
		}
	}
	return steps
}

// taken returns a step for each source that a plugin of another name answers in
// v than in old.
func (v *view) taken(old *view) (steps []Step) {
	for _, source := range slices.Sorted(maps.Keys(v.owners)) {
		was, now := old.answering(source, ""), v.answering(source, "")
		if len(was) > 0 && len(now) > 0 && was[0].manifest.Name != now[0].manifest.Name {
			step := Step{What: StepTaken, Name: now[0].manifest.Name, Version: now[0].manifest.Version, SHA256: now[0].sha256, From: now[0].from}
			step.Source, step.Before = source, was[0].manifest.Name
			steps = append(steps, step)
		}
	}
	return steps
}

func (w *Wanted) step(what string) Step {
	return Step{What: what, Name: w.Name, Version: w.Version, SHA256: w.SHA256, From: w.From}
}

// retire lets go of m, which is closed as soon as no stream is on it.
func (s *Set) retire(m member) {
	s.options.log(m.wanted.step(StepRetired))
	l := m.plugin.loadedModule()
	l.left = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return // Close closes it
		}
		s.closers.Go(func() {
			_ = contain.Call(m.plugin.Close) // what was let go has no way to fail that matters
			s.mu.Lock()
			s.retired = slices.DeleteFunc(s.retired, func(r member) bool { return r.plugin == m.plugin })
			s.mu.Unlock()
			s.options.log(m.wanted.step(StepClosed))
		})
	}
	m.plugin.Release()
}
