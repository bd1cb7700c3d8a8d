package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/contain"
)

// Applied says what a change of a [Set] came to.
type Applied struct {
	Loaded    []ID      // run from now on
	Retired   []ID      // no stream begins on them any more
	Refused   []Refused // of the deployment's, and what could not be loaded
	Unchanged int       // versions that ran before and do so still
}

// Apply makes the set run what plan says, the stronger first, in one step:
// until all that is new has been verified, compiled and tested, streams begin
// on what was there; streams under way end on the version that they began with,
// which is closed after the last of them. What is already loaded, by name,
// version and hash, is not touched, and not read.
//
// A version that cannot be loaded changes nothing for its plugin: the one in use
// stays in use, and nothing of that name leaves. Nor does, without a lock, what
// was loaded from a file that the deployment now refuses: it may be half
// written. The error is of ctx, or says that the set is closed; then nothing has
// changed at all.
func (s *Set) Apply(ctx context.Context, plan Plan) (Applied, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	defer s.first.came(true)
	old := s.view.Load().permitted(plan.Wanted)
	fresh := s.loadNew(ctx, old, &plan)
	if err := ctx.Err(); err != nil {
		fresh.close(s.view.Load())
		return Applied{}, err
	}
	result := Applied{Refused: append(slices.Clone(plan.Refused), fresh.refused...)}
	next := merge(old, plan.Wanted, fresh, plan.Refused)
	for _, m := range next {
		if _, ok := old.find(&m.wanted); ok {
			result.Unchanged++
		} else {
			result.Loaded = append(result.Loaded, m.wanted.id())
		}
	}
	for _, m := range old.members {
		if !slices.ContainsFunc(next, func(n member) bool { return n.plugin == m.plugin }) {
			result.Retired = append(result.Retired, m.wanted.id())
		}
	}
	for _, r := range result.Refused {
		s.options.log(Step{What: StepRefused, Name: r.Name, Version: r.Version, From: r.From, Err: r.Err})
	}
	for _, err := range plan.Warnings {
		s.options.log(Step{What: StepContested, Err: err})
	}
	s.mu.Lock()
	s.refused = result.Refused
	s.mu.Unlock()
	if err := s.replace(newView(next, old.inherit(plan.Sources))); err != nil {
		fresh.close(s.view.Load())
		return Applied{}, err
	}
	return result, nil
}

// A batch is what became of those of a deployment's versions that were not
// loaded yet.
type batch struct {
	members []member
	refused []Refused
}

// close closes what is not in v, so that it was never used.
func (b *batch) close(v *view) {
	for _, m := range b.members {
		if _, ok := v.find(&m.wanted); !ok {
			_ = m.plugin.Close()
		}
	}
}

func (b *batch) find(w *Wanted) (member, bool) {
	for _, m := range b.members {
		if m.wanted.id() == w.id() {
			return m, true
		}
	}
	return member{}, false
}

// loadNew loads what of plan old does not hold: several at a time at the start,
// and one by one where streams want the processors.
func (s *Set) loadNew(ctx context.Context, old *view, plan *Plan) *batch {
	var b batch
	left := s.lacking(old, plan.Wanted, &b)
	var mu sync.Mutex
	var wg sync.WaitGroup
	loads := 1
	if len(old.members) == 0 {
		loads = runtime.GOMAXPROCS(0)
	}
	buffers := make(chan *bytes.Buffer, loads) // of each load that may go on
	for range loads {
		buffers <- new(bytes.Buffer)
	}
	for len(left) > 0 {
		buffer := <-buffers
		at := s.first.next(plan, left)
		w := plan.Wanted[left[at]]
		left = slices.Delete(left, at, at+1)
		wg.Go(func() {
			defer func() { buffers <- buffer }()
			began := time.Now()
			var p Plugin
			err := contain.Call(func() (err error) { p, err = s.loadWanted(ctx, &w, buffer); return err })
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, errNoCollectors) {
				return
			}
			if err != nil {
				b.refused = append(b.refused, w.refused(err))
			} else {
				b.members = append(b.members, member{w, p, time.Since(began)})
			}
			s.show(plan, old, &b)
		})
	}
	wg.Wait()
	slices.SortFunc(b.refused, func(x, y Refused) int { return strings.Compare(x.From+x.Version, y.From+y.Version) })
	return &b
}

// lacking returns the places of those of wanted that old does not hold, and has b
// refuse what is there twice with other bytes.
func (s *Set) lacking(old *view, wanted []Wanted, b *batch) (left []int) {
	seen := map[string]int{}
	for n := range wanted {
		w := &wanted[n]
		if at, ok := seen[w.Name+" "+w.Version]; ok {
			if wanted[at].SHA256 != w.SHA256 {
				b.refused = append(b.refused, w.refused(exists(member{wanted: wanted[at]}, w.SHA256)))
			}
			continue
		}
		seen[w.Name+" "+w.Version] = n
		if _, ok := old.find(w); ok {
			continue
		}
		s.options.log(Step{What: StepFound, Name: w.Name, Version: w.Version, SHA256: w.SHA256, From: w.From})
		left = append(left, n)
	}
	return left
}

// loadWanted loads w, by way of buffer: nothing of a plugin refers to its module's bytes.
func (s *Set) loadWanted(ctx context.Context, w *Wanted, buffer *bytes.Buffer) (Plugin, error) {
	module, err := w.Read(buffer)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := prepare(ctx, s.runtime, module, w.From, s.options)
	if err != nil {
		return nil, err
	}
	if got := (ID{l.manifest.Name, l.manifest.Version, l.sha256}); got != w.id() {
		_ = l.Close() // it was never used
		return nil, fmt.Errorf("it is plugin %s %s with sha256 %.12s…, and %s %s with %.12s… was wanted", got.Name, got.Version, got.SHA256, w.Name, w.Version, w.SHA256)
	}
	switch l.manifest.Kind {
	case abi.KindProvider:
		return newProvider(ctx, l, s.options)
	case abi.KindCollector:
		return newCollector(l, s.options)
	case abi.KindGuard:
		return newGuard(ctx, l, s.options)
	default:
		return nil, errors.Join(fmt.Errorf("this host does not run plugins of kind %s", l.manifest.Kind), l.Close())
	}
}

// merge returns what is to run: what is wanted, as far as it is there, and what
// must stay since something of its plugin, or its file, was refused.
func merge(old *view, wanted []Wanted, fresh *batch, refused []Refused) []member {
	failed := map[string]bool{}    // plugins of which a version could not be loaded
	failedUse := map[string]bool{} // those of which it was the one to use
	for _, r := range fresh.refused {
		failed[r.Name] = true
	}
	damaged := func(file string) bool {
		return slices.ContainsFunc(refused, func(r Refused) bool { return r.From == file && !errors.Is(r.Err, ErrContested) })
	}
	var next []member
	has := func(w *Wanted) bool {
		return slices.ContainsFunc(next, func(m member) bool { return m.wanted.Name == w.Name && m.wanted.Version == w.Version })
	}
	for n := range wanted {
		w := &wanted[n]
		m, ok := old.find(w)
		if !ok {
			m, ok = fresh.find(w)
		}
		if ok && !has(w) {
			m.wanted = *w
			m.wanted.Read = nil // which may hold the module
			next = append(next, m)
		}
		if !ok && w.Use && !has(w) {
			failedUse[w.Name] = true
		}
	}
	for _, m := range old.members {
		w := &m.wanted
		if !has(w) && (failed[w.Name] || !w.Locked && damaged(w.From)) {
			next = append(next, m)
		}
	}
	// Where the version to use was refused, the one in use stays so.
	for i := range next {
		w := &next[i].wanted
		if failedUse[w.Name] && old.used(w.Name) {
			was, ok := old.find(w)
			w.Use = ok && was.wanted.Use
		}
	}
	return next
}
