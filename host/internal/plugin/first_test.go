package plugin_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// TestExpect asks a set for plugins before its first plan is applied: each is
// answered as soon as its plugin is there, what somebody waits for is loaded before
// the rest, and who asks for what never comes is told at the end.
func TestExpect(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	s.Expect(nil)
	ask := func(source string) <-chan string {
		answer := make(chan string, 1)
		go func() {
			if p, ok := s.Source(provider.Wish{Source: source}); ok {
				answer <- p.Manifest().Name
			} else {
				answer <- "nobody"
			}
		}()
		return answer
	}
	absent, refused := ask("absent"), ask("broken")
	eventually(t, "somebody waits for broken", func() bool { return s.Awaited("broken") })
	read, goOn := make(chan string), make(chan struct{})
	var list []plugin.Wanted
	sources := map[string]string{}
	for n := range runtime.GOMAXPROCS(0) + 3 {
		name := string(rune('a' + n))
		w := wanted(t, packed(t, "good", map[string]any{"name": name, "source": name}))
		if n == 0 {
			name = "broken"
			w = wanted(t, packed(t, "trap", map[string]any{"name": name, "source": name, "selfTest": []any{
				map[string]any{"call": "decode", "input": map[string]any{"events": []any{}}, "output": map[string]any{"text": ""}},
			}}))
		}
		w.Use = true
		module := w.Read
		w.Read = func(b *bytes.Buffer) ([]byte, error) {
			read <- name
			<-goOn
			return module(b)
		}
		list, sources[name] = append(list, w), name
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Apply(t.Context(), plugin.Plan{Wanted: list, Sources: sources})
		ended <- err
	}()
	var begun []string
	for range runtime.GOMAXPROCS(0) {
		begun = append(begun, <-read)
	}
	if !slices.Contains(begun, "broken") {
		t.Errorf("loaded first: %s, want what somebody waits for among them", begun)
	}
	last := list[len(list)-1].Name
	first := ask(last)
	eventually(t, "somebody waits for "+last, func() bool { return s.Awaited(last) })
	goOn <- struct{}{}
	if next := <-read; next != last {
		t.Errorf("loaded next: %s, want %s, which somebody waits for", next, last)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range read {
		}
	}()
	select {
	case got := <-absent:
		t.Errorf("what nobody has was answered by %s before all was loaded", got)
	default:
	}
	close(goOn)
	if got := <-first; got != last {
		t.Errorf("%s was answered by %s", last, got)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	close(read)
	<-done
	<-s.Loaded()
	if a, r := <-absent, <-refused; a != "nobody" || r != "nobody" {
		t.Errorf("an absent source was answered by %s, a refused plugin's by %s; want nobody", a, r)
	}
	if got := strings.Join(s.SourceNames(), " "); got != strings.Join(namesOf(list[1:]), " ") {
		t.Errorf("sources %s", got)
	}
}

// TestExpectEnds closes a set that still waits for its plugins.
func TestExpectEnds(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	s.Expect(nil)
	answered := make(chan bool, 1)
	go func() {
		_, ok := s.Source(provider.Wish{Source: "a"})
		answered <- ok
	}()
	ctx, cancel := context.WithCancel(t.Context())
	w := wanted(t, packed(t, "good", map[string]any{"name": "a", "source": "a"}))
	module := w.Read
	w.Read = func(b *bytes.Buffer) ([]byte, error) {
		cancel()
		return module(b)
	}
	if _, err := s.Apply(ctx, plugin.Plan{Wanted: []plugin.Wanted{w}, Sources: map[string]string{"a": "a"}}); err == nil {
		t.Error("Apply whose context ended: no error")
	}
	if <-answered {
		t.Error("a plugin answers that was not loaded")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func namesOf(list []plugin.Wanted) (names []string) {
	for _, w := range list {
		names = append(names, w.Name)
	}
	return names
}

// TestExpectLeft asks for a plugin that is still to be loaded, and leaves.
func TestExpectLeft(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	s.Expect(nil)
	ctx, leave := context.WithCancel(t.Context())
	answered := make(chan bool)
	go func() {
		_, release, ok := s.Acquire(ctx, provider.Wish{Source: "late"}, provider.Client{Workspace: "w"})
		release()
		answered <- ok
	}()
	eventually(t, "somebody waits for late", func() bool { return s.Awaited("late") })
	leave()
	if <-answered {
		t.Error("Acquire found a plugin that was never loaded")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestExpectNamed loads what is named before the rest, and is usable then.
func TestExpectNamed(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	s.Expect([]provider.Wish{{Source: "y"}, {Source: "other", Plugin: "z"}, {Source: "absent"}})
	var list []plugin.Wanted
	sources := map[string]string{}
	read, goOn := make(chan string), make(chan struct{})
	for _, name := range []string{"a", "b", "c", "d", "y", "z"} {
		w := wanted(t, packed(t, "good", map[string]any{"name": name, "source": name}))
		w.Use = true
		module := w.Read
		w.Read = func(b *bytes.Buffer) ([]byte, error) {
			read <- name
			<-goOn
			return module(b)
		}
		list, sources[name] = append(list, w), name
	}
	ended := make(chan error, 1)
	go func() {
		_, err := s.Apply(t.Context(), plugin.Plan{Wanted: list, Sources: sources})
		ended <- err
	}()
	var begun []string
	next := func() string {
		name := <-read
		begun = append(begun, name)
		return name
	}
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		next()
	}
	for {
		select {
		case <-s.Usable():
		case goOn <- struct{}{}:
			if len(begun) < len(list) {
				next()
			}
			continue
		}
		break
	}
	if slices.Sort(begun[:2]); begun[0] != "y" || begun[1] != "z" {
		t.Errorf("loaded first: %s, want y and z, which are named", begun)
	}
	select {
	case <-s.Loaded():
		t.Error("usable only when all was loaded")
	default:
	}
	close(goOn)
	go func() {
		for range read {
		}
	}()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	close(read)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
