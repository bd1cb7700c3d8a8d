package plugin_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

func TestSet(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	var list []plugin.Wanted
	for _, version := range []string{"1.2.0", "1.10.1", "2.0.0-rc.1", "1.2.7", "0.9.0"} {
		for _, source := range []string{"free", "pinned"} {
			w := wanted(t, packed(t, "good", map[string]any{"name": source, "source": source, "version": version}))
			w.Use = source == "pinned" && version == "1.2.7"
			list = append(list, w)
		}
	}
	if done, err := s.Apply(t.Context(), plan(list...)); err != nil || len(done.Loaded) != 10 {
		t.Fatalf("Apply = %+v, %v", done, err)
	}
	tests := []struct{ source, constraint, want string }{
		{"free", "", "1.10.1"},
		{"pinned", "", "1.2.7"},
		{"pinned", "^1", "1.2.7"},
		{"pinned", "~1.10", "1.10.1"},
		{"free", "~1.2", "1.2.7"},
		{"free", "^0.9", "0.9.0"},
		{"free", "1.2.0", "1.2.0"},
		{"free", "=2.0.0-rc.1", "2.0.0-rc.1"},
		{"free", "^2", ""},
		{"free", "1.2.1", ""},
		{"free", "latest", ""},
		{"absent", "", ""},
	}
	for _, tt := range tests {
		got := ""
		if p, ok := s.Source(provider.Wish{Source: tt.source, Version: tt.constraint}); ok {
			got = p.Manifest().Version
		}
		if got != tt.want {
			t.Errorf("Source(%q, %q) is version %q, want %q", tt.source, tt.constraint, got, tt.want)
		}
	}
	if got, want := s.SourceNames(), []string{"free", "pinned"}; !reflect.DeepEqual(got, want) {
		t.Errorf("SourceNames = %q, want %q", got, want)
	}
	var versions []string
	for _, p := range s.Providers()[:5] {
		versions = append(versions, p.Manifest().Version)
	}
	if want := []string{"1.10.1", "1.2.7", "1.2.0", "0.9.0", "2.0.0-rc.1"}; !reflect.DeepEqual(versions, want) {
		t.Errorf("versions %q, want %q", versions, want)
	}

	same := packed(t, "good", map[string]any{"name": "free", "source": "free", "version": "1.2.0"})
	p, err := s.Add(t.Context(), same, "again")
	if err != nil || p.From() != "free-1.2.0.wasm" || len(s.Providers()) != 10 {
		t.Errorf("Add of what is there = %v, %v, %d in all; want the first, 10 in all", p, err, len(s.Providers()))
	}
	other := packed(t, "trap", map[string]any{"name": "free", "source": "free", "version": "1.2.0"})
	if _, err := s.Add(t.Context(), other, "other"); !errors.Is(err, plugin.ErrExists) {
		t.Errorf("Add of another module of the same version: %v, want %v", err, plugin.ErrExists)
	}

	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, ok := s.Source(provider.Wish{Source: "free"}); ok {
		t.Error("Source after Close: found")
	}
	if _, err := s.Add(t.Context(), same, "late"); !errors.Is(err, wasm.ErrClosed) {
		t.Errorf("Add after Close: %v, want %v", err, wasm.ErrClosed)
	}
}

// TestHammerSet adds, finds, calls and lists at once.
func TestHammerSet(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	one := packed(t, "good", map[string]any{"version": "1.0.0"})
	two := packed(t, "good", map[string]any{"version": "1.1.0"})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := s.Add(t.Context(), [][]byte{one, two}[n%2], "test"); err != nil {
					t.Errorf("Add: %v", err)
					return
				}
				p, ok := s.Source(provider.Wish{Source: "testAi", Version: "^1"})
				if !ok {
					t.Error("Source: not found after Add")
					return
				}
				if _, err := p.Decode(t.Context(), decodeInput, nil); err != nil {
					t.Errorf("Decode: %v", err)
					return
				}
				s.SourceNames()
				s.Providers()[0].Stats()
			}
		})
	}
	wg.Wait()
	if got := len(s.Providers()); got != 2 {
		t.Errorf("%d plugins, want 2", got)
	}
}

// TestSetOwner loads plugins of two names for one source: the one that the plan
// names answers, whatever the order of the alphabet, versions or loading.
func TestSetOwner(t *testing.T) {
	d := &diary{}
	s := plugin.NewSet(open(t, nil), d.options())
	named := func(name, v string) plugin.Wanted {
		w := version(t, "good", v, map[string]any{"name": name})
		w.Locked = true
		return w
	}
	one, two := named("aaa", "9.0.0"), named("test", "1.0.0")
	apply := func(owner string, sources map[string]string, all ...plugin.Wanted) {
		t.Helper()
		done, err := s.Apply(t.Context(), plugin.Plan{Wanted: all, Sources: sources})
		if err != nil || len(done.Refused) != 0 {
			t.Fatalf("Apply = %+v, %v", done, err)
		}
		got := ""
		if p, ok := s.Source(provider.Wish{Source: "testAi"}); ok {
			got = p.Manifest().Name
		}
		if names := s.SourceNames(); got != owner || len(names) != min(len(owner), 1) {
			t.Errorf("%q answers, of the sources %q; want %q", got, names, owner)
		}
	}
	apply("test", map[string]string{"testAi": "test"}, one, two)
	if _, ok := s.Source(provider.Wish{Source: "testAi", Version: "^9"}); ok {
		t.Error("a version of another plugin meets a constraint")
	}
	apply("aaa", map[string]string{"testAi": "aaa"}, two, one)
	if got := d.of("9.0.0"); got[len(got)-1] != plugin.StepTaken {
		t.Errorf("steps %q, want taken at the end", got)
	}
	apply("aaa", nil, one, two) // nobody says otherwise
	apply("", map[string]string{"testAi": ""}, one, two)
	apply("", map[string]string{"testAi": "ghost"}, one, two)
}
