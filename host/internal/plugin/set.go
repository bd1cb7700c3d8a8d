package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/wasm"
)

// A Set holds the plugins of a deployment, versions of the same one side by
// side. It implements [chat.Sources]. Safe for concurrent use.
type Set struct {
	runtime *wasm.Runtime
	options Options

	mu       sync.RWMutex
	bySource map[string][]*Provider // the newest first
	closed   bool
}

var _ chat.Sources = (*Set)(nil)

// NewSet returns an empty Set whose plugins run in rt.
func NewSet(rt *wasm.Runtime, o Options) *Set {
	return &Set{runtime: rt, options: o, bySource: map[string][]*Provider{}}
}

// A FileError says why a file was not loaded.
type FileError struct {
	File string // its path
	Err  error
}

func (e FileError) Error() string { return fmt.Sprintf("load %s: %v", e.File, e.Err) }

// Unwrap returns the reason.
func (e FileError) Unwrap() error { return e.Err }

// Add loads module; from says where it came from, for the status. A module
// that is already there is not loaded again; another one of the same name and
// version is refused with [ErrExists].
func (s *Set) Add(ctx context.Context, module []byte, from string) (*Provider, error) {
	p, err := Load(ctx, s.runtime, module, from, s.options)
	if err != nil {
		return nil, err
	}
	kept, err := s.insert(p)
	if kept != p {
		_ = p.Close() // it was never used
	}
	return kept, err
}

// insert adds p, or returns the one that is there in its place.
func (s *Set) insert(p *Provider) (*Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, wasm.ErrClosed
	}
	for _, all := range s.bySource {
		for _, other := range all {
			if other.manifest.Name != p.manifest.Name || other.manifest.Version != p.manifest.Version {
				continue
			}
			if other.sha256 == p.sha256 {
				return other, nil
			}
			return nil, fmt.Errorf("add plugin %s %s: %w, from %s with sha256 %.12s…; this one has %.12s…: give it another version",
				p.manifest.Name, p.manifest.Version, ErrExists, other.from, other.sha256, p.sha256)
		}
	}
	source := p.manifest.Source
	all := append(slices.Clone(s.bySource[source]), p)
	slices.SortStableFunc(all, func(a, b *Provider) int {
		if c := newer(a.manifest.Version, b.manifest.Version); c != 0 {
			return c
		}
		return strings.Compare(a.manifest.Name, b.manifest.Name)
	})
	s.bySource[source] = all
	return p, nil
}

// LoadDir adds every *.wasm in dir, in the order of their names. One that
// cannot be loaded is told of and stops none of the others. The error is about
// dir itself, or ctx's.
func (s *Set) LoadDir(ctx context.Context, dir string) (bad []FileError, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("load plugins: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".wasm" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return bad, err
		}
		file := filepath.Join(dir, e.Name())
		if err := s.loadFile(ctx, file); err != nil {
			bad = append(bad, FileError{file, err})
		}
	}
	return bad, nil
}

func (s *Set) loadFile(ctx context.Context, file string) error {
	module, err := ReadFile(file)
	if err != nil {
		return err
	}
	_, err = s.Add(ctx, module, file)
	return err
}

// ReadFile reads a module of at most [MaxModule] bytes.
func ReadFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxModule+1))
	if err != nil {
		return nil, err
	}
	if len(b) > MaxModule {
		return nil, fmt.Errorf("the file is over %d MiB, which a plugin may have", MaxModule>>20)
	}
	return b, nil
}

// Source implements [chat.Sources].
func (s *Set) Source(name, constraint string) (chat.Source, bool) {
	if constraint == "" {
		constraint = s.options.Pins[name]
	}
	c, err := ParseConstraint(constraint)
	if err != nil {
		return nil, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.bySource[name] {
		if c.Allows(p.manifest.Version) {
			return p, true
		}
	}
	return nil, false
}

// SourceNames implements [chat.Sources].
func (s *Set) SourceNames() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.bySource))
}

// Providers lists all plugins: by source, the newest version first.
func (s *Set) Providers() []*Provider {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []*Provider
	for _, source := range slices.Sorted(maps.Keys(s.bySource)) {
		all = append(all, s.bySource[source]...)
	}
	return all
}

// Close closes all plugins, waiting for the calls under way.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	all := s.bySource
	s.bySource = map[string][]*Provider{}
	s.mu.Unlock()

	var errs []error
	for _, providers := range all {
		for _, p := range providers {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}
