package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// A Set holds the plugins of a deployment, versions of the same one side by
// side. It implements [provider.Sources]. Safe for concurrent use.
type Set struct {
	runtime *wasm.Runtime
	options Options

	view  atomic.Pointer[view] // what streams begin on
	first *first               // nil: nothing is expected
	// changing is held while the view is made anew.
	changing sync.Mutex
	closers  sync.WaitGroup // of versions whose last stream has ended

	mu      sync.Mutex
	closed  bool
	retired []member // that are open for the streams on them
	refused []Refused
	swaps   map[string]int64 // by plugin: how often another version came into use
}

var _ provider.Sources = (*Set)(nil)

// NewSet returns an empty Set whose plugins run in rt.
func NewSet(rt *wasm.Runtime, o Options) *Set {
	s := &Set{runtime: rt, options: o, swaps: map[string]int64{}}
	s.view.Store(newView(nil, map[string]string{}))
	return s
}

// Add loads module, a provider, beside what is there; from says where it came
// from. It answers its source unless a plugin of another name does. A module that
// is already there is not loaded again; another one of the same name and version
// is refused with [ErrExists]. What [Set.Apply] is told later decides whether it
// stays.
func (s *Set) Add(ctx context.Context, module []byte, from string) (*Provider, error) {
	p, err := Load(ctx, s.runtime, module, from, s.options)
	if err != nil {
		return nil, err
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	old := s.view.Load()
	for _, m := range old.members {
		if other, ok := m.plugin.(*Provider); ok && other.manifest.Name == p.manifest.Name && other.manifest.Version == p.manifest.Version {
			_ = p.Close() // it was never used
			if other.sha256 == p.sha256 {
				return other, nil
			}
			return nil, exists(m, p.sha256)
		}
	}
	added := member{wanted: Wanted{Name: p.manifest.Name, Version: p.manifest.Version, SHA256: p.sha256, From: from}, plugin: p}
	owners := maps.Clone(old.owners)
	owners[p.manifest.Source] = cmp.Or(owners[p.manifest.Source], p.manifest.Name)
	if err := s.replace(newView(append(slices.Clone(old.members), added), owners)); err != nil {
		_ = p.Close() // it was never used
		return nil, err
	}
	return p, nil
}

// exists is the error for a module of m's name and version with another hash.
func exists(m member, sha256 string) error {
	return fmt.Errorf("add plugin %s %s: %w, from %s with sha256 %.12s…; this one has %.12s…: give it another version",
		m.wanted.Name, m.wanted.Version, ErrExists, m.wanted.From, m.wanted.SHA256, sha256)
}

// ReadFile reads a module of at most [MaxModule] bytes.
func ReadFile(file string) ([]byte, error) {
	var b bytes.Buffer
	err := ReadInto(&b, file)
	return b.Bytes(), err
}

// ReadInto makes b hold what [ReadFile] returns, and nothing after an error.
func ReadInto(b *bytes.Buffer, file string) error {
	b.Reset()
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", file) // a named pipe would be waited for
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil { // else it grows as it is read, to five times as much in all
		size := int(min(info.Size(), MaxModule)) + bytes.MinRead
		if b.Available() < size {
			*b = bytes.Buffer{} // one that grows has twice as much
		}
		b.Grow(size)
	}
	if _, err := b.ReadFrom(io.LimitReader(f, MaxModule+1)); err != nil {
		b.Reset()
		return err
	}
	if b.Len() > MaxModule {
		b.Reset()
		return fmt.Errorf("the file is over %d MiB, which a plugin may have", MaxModule>>20)
	}
	return nil
}

// Source implements [provider.Sources].
func (s *Set) Source(wish provider.Wish) (provider.Source, bool) {
	if p := s.find(context.Background(), wish); p != nil {
		return p, true
	}
	return nil, false
}

// Acquire implements [provider.Sources].
func (s *Set) Acquire(ctx context.Context, wish provider.Wish, client provider.Client) (source provider.Source, release func(), ok bool) {
	for {
		p := s.find(ctx, wish)
		if p == nil {
			return nil, func() {}, false
		}
		// Where it cannot be held it has left since, and another one answers.
		if p.Hold() {
			p.begun.Add(1)
			use := wasm.Use{Tag: s.options.Isolation.tag(client.Workspace), Client: (*wasm.Client)(&client)}
			answer := &session{p, use, s.options.Isolation != IsolateWorkspaces}
			return answer, answer.end, true
		}
	}
}

// find returns who answers wish; nil: nobody. It waits as [Set.Expect] says, until ctx
// ends.
func (s *Set) find(ctx context.Context, wish provider.Wish) *Provider {
	return awaitPlugin(ctx, s.first, wish, func() *Provider { return s.look(wish) })
}

// awaitPlugin returns what look finds, and waits for it while plugins come that f expects,
// until ctx ends; nil: there is none.
func awaitPlugin[P any](ctx context.Context, f *first, wish provider.Wish, look func() *P) *P {
	for {
		if p := look(); p != nil {
			return p
		}
		news := f.wants(wish)
		if p := look(); p != nil || news == nil { // it may have come in between
			return p
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Set) look(wish provider.Wish) *Provider {
	c, err := ParseConstraint(wish.Version)
	if err != nil {
		return nil
	}
	v := s.view.Load()
	for _, p := range v.answering(wish.Source, wish.Plugin) {
		if c.Allows(p.manifest.Version) && (wish.Version != "" || !v.beside[p]) {
			return p
		}
	}
	return nil
}

// Plugins implements [provider.Sources].
func (s *Set) Plugins(source string) []string {
	s.await()
	var names []string
	for _, p := range s.view.Load().bySource[source] {
		names = append(names, p.manifest.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// SourceNames implements [provider.Sources].
func (s *Set) SourceNames() []string {
	s.await()
	v := s.view.Load()
	var names []string
	for source := range v.bySource {
		if len(v.answering(source, "")) > 0 {
			names = append(names, source)
		}
	}
	slices.Sort(names)
	return names
}

// Owner returns the name of the plugin that answers source where a workspace
// names none; empty: none does.
func (s *Set) Owner(source string) string { return s.view.Load().owners[source] }

// Providers lists the providers that streams may begin on, by source.
func (s *Set) Providers() []*Provider {
	v := s.view.Load()
	var all []*Provider
	for _, source := range slices.Sorted(maps.Keys(v.bySource)) {
		all = append(all, v.bySource[source]...)
	}
	return all
}

// Close closes all plugins, waiting for the calls under way.
func (s *Set) Close() error {
	s.first.came(true)
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	s.closed = true
	all := append(slices.Clone(s.view.Load().members), s.retired...)
	s.retired = nil
	s.mu.Unlock()
	s.view.Store(newView(nil, map[string]string{}))

	var errs []error
	for _, m := range all {
		errs = append(errs, m.plugin.Close())
	}
	s.closers.Wait()
	return errors.Join(errs...)
}
