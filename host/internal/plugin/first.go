package plugin

import (
	"cmp"
	"slices"
	"sync"

	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// A first is the time until a [Set] has applied its first plan. Nothing is there
// yet to go on with, and requests may come already: each plugin answers as soon as
// it is loaded, and who asks for one that is not there waits, with that one being
// the next to be loaded.
type first struct {
	mu     sync.Mutex
	wishes []provider.Wish // that somebody waits for
	named  []provider.Wish // that come next, see [Set.Expect]
	news   chan struct{}   // closed, and made anew, when a plugin has come
	over   bool
	usable chan struct{} // closed once no plugin of named is to come
	ended  chan struct{}
}

// Expect makes requests for a plugin wait until the first plan is applied.
// Plugins that are waited for are loaded first, then those that answer a wish of
// named, then the others. Call it before anybody asks.
func (s *Set) Expect(named []provider.Wish) {
	s.first = &first{named: named, news: make(chan struct{}), usable: make(chan struct{}), ended: make(chan struct{})}
}

// Usable is closed once all plugins of [Set.Expect]'s named are loaded or refused.
// It is nil where nothing is expected.
func (s *Set) Usable() <-chan struct{} {
	if s.first == nil {
		return nil
	}
	return s.first.usable
}

// Loaded is closed once the first plan was applied, or could not be. It is nil
// where nothing is expected.
func (s *Set) Loaded() <-chan struct{} {
	if s.first == nil {
		return nil
	}
	return s.first.ended
}

// await waits until all plugins are there that will be.
func (s *Set) await() {
	if s.first != nil {
		<-s.first.ended
	}
}

// wants notes that a caller waits for wish, and returns what is closed when a
// plugin has come; nil where none is expected any more.
func (f *first) wants(wish provider.Wish) <-chan struct{} {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return nil
	}
	if !slices.Contains(f.wishes, wish) {
		f.wishes = append(f.wishes, wish)
	}
	return f.news
}

func (f *first) going() bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.over
}

// came wakes those that wait.
func (f *first) came(over bool) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	close(f.news)
	f.news = make(chan struct{})
	if over {
		f.over, f.wishes = true, nil
		f.use()
		close(f.ended)
	}
}

// use closes usable, the first time; f.mu is held.
func (f *first) use() {
	select {
	case <-f.usable:
	default:
		close(f.usable)
	}
}

// next returns where in left, which has places of plan's wanted, the one stands that
// is to be loaded next: one that is waited for, else one that is named, else a
// provider, else whatever comes first.
func (f *first) next(plan *Plan, left []int) (at int) {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	best, rank := 0, 4
	for at, n := range left {
		r := 3
		name := plan.Wanted[n].Name
		switch {
		case plan.answers(name, f.wishes):
			r = 0
		case plan.answers(name, f.named):
			r = 1
		case plan.provides(name):
			r = 2
		}
		if r < rank {
			best, rank = at, r
		}
	}
	return best
}

// answers reports whether the plugin of that name answers one of wishes.
func (p *Plan) answers(name string, wishes []provider.Wish) bool {
	return slices.ContainsFunc(wishes, func(w provider.Wish) bool { return cmp.Or(w.Plugin, p.Sources[w.Source]) == name })
}

// provides reports whether the plugin of that name owns a source.
func (p *Plan) provides(name string) bool {
	for _, owner := range p.Sources {
		if owner == name {
			return true
		}
	}
	return false
}

// show has streams begin on what of plan is loaded by now: of each name, once all
// its versions were tried.
func (s *Set) show(plan *Plan, old *view, fresh *batch) {
	if !s.first.going() {
		return
	}
	tried := func(w *Wanted) bool {
		_, loaded := fresh.find(w)
		return loaded || slices.ContainsFunc(fresh.refused, func(r Refused) bool { return r.Name == w.Name && r.Version == w.Version })
	}
	waits, named := map[string]bool{}, false
	for n := range plan.Wanted {
		if w := &plan.Wanted[n]; !tried(w) {
			waits[w.Name] = true
			named = named || plan.answers(w.Name, s.first.named)
		}
	}
	ready := slices.DeleteFunc(slices.Clone(plan.Wanted), func(w Wanted) bool { return waits[w.Name] })
	if s.replace(newView(merge(old, ready, fresh, plan.Refused), old.inherit(plan.Sources))) == nil {
		s.first.came(false)
		if !named {
			s.first.mu.Lock()
			s.first.use()
			s.first.mu.Unlock()
		}
	}
}
