package plugin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/waittest"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// wanted is what a deployment says that runs module.
func wanted(t testing.TB, module []byte) plugin.Wanted {
	t.Helper()
	sections, err := abi.Sections(module, abi.SectionManifest)
	if err != nil || len(sections) != 1 {
		t.Fatalf("module has %d manifests, %v", len(sections), err)
	}
	m, err := plugin.ReadManifest(module)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(module)
	return plugin.Wanted{
		Name: m.Name, Version: m.Version, SHA256: hex.EncodeToString(sum[:]), From: m.Name + "-" + m.Version + ".wasm",
		Read: func(*bytes.Buffer) ([]byte, error) { return module, nil },
	}
}

// version is a guest as a version of the plugin test, to be used.
func version(t testing.TB, guest, version string, change map[string]any) plugin.Wanted {
	t.Helper()
	all := map[string]any{"version": version}
	for k, v := range change {
		all[k] = v
	}
	w := wanted(t, packed(t, guest, all))
	w.Use = true
	return w
}

// A diary keeps what a set told.
type diary struct {
	mu    sync.Mutex
	steps []plugin.Step
	inUse []string // of the last change
}

func (d *diary) options() plugin.Options {
	return plugin.Options{
		Log: func(s plugin.Step) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.steps = append(d.steps, s)
		},
		Applied: func(all []plugin.Running) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.inUse = nil
			for _, p := range all {
				d.inUse = append(d.inUse, p.Manifest().Version)
			}
		},
	}
}

// of returns the steps of one version, in order.
func (d *diary) of(version string) (steps []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.steps {
		if s.Version == version {
			steps = append(steps, s.What)
		}
	}
	return steps
}

// plan wants all, each to answer its source.
func plan(all ...plugin.Wanted) plugin.Plan {
	p := plugin.Plan{Wanted: all, Sources: map[string]string{}}
	for _, w := range all {
		if module, err := w.Read(nil); err == nil {
			if m, err := plugin.ReadManifest(module); err == nil {
				p.Sources[m.Source] = m.Name
			}
		}
	}
	return p
}

func apply(t testing.TB, s *plugin.Set, all ...plugin.Wanted) plugin.Applied {
	t.Helper()
	done, err := s.Apply(context.Background(), plan(all...))
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return done
}

// answers is the version that answers, or "".
func answers(s *plugin.Set, constraint string) string {
	p, ok := s.Source(provider.Wish{Source: "testAi", Version: constraint})
	if !ok {
		return ""
	}
	return p.Manifest().Version
}

// eventually waits for what another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	waittest.For(t, what, ok)
}

// TestSwap goes from one version to another and back while a stream is on the
// first: it ends where it began.
func TestSwap(t *testing.T) {
	d := &diary{}
	s := plugin.NewSet(open(t, nil), d.options())
	one, two := version(t, "good", "1.0.0", nil), version(t, "good", "2.0.0", nil)
	if done := apply(t, s, one); len(done.Loaded) != 1 || len(done.Retired)+len(done.Refused)+done.Unchanged != 0 {
		t.Errorf("Apply of the first = %+v", done)
	}
	old, release, ok := s.Acquire(t.Context(), provider.Wish{Source: "testAi"}, provider.Client{Workspace: "w"})
	if !ok {
		t.Fatal("Acquire: no plugin")
	}
	done := apply(t, s, two)
	if len(done.Loaded) != 1 || done.Loaded[0].Version != "2.0.0" || len(done.Retired) != 1 || done.Retired[0].Version != "1.0.0" {
		t.Errorf("Apply of the second = %+v", done)
	}
	if got := answers(s, ""); got != "2.0.0" {
		t.Errorf("version %q answers after the swap, want 2.0.0", got)
	}
	if _, err := old.Decode(t.Context(), decodeInput, nil); err != nil {
		t.Errorf("Decode on the version that the stream began with: %v", err)
	}
	all := s.Running()
	if len(all) != 2 || !all[1].Retired || all[1].Streams != 1 || all[0].Streams != 0 {
		t.Errorf("Running = %+v, want the new one and the old one, retired, with a stream", all)
	}
	release()
	eventually(t, "the old version is closed", func() bool { return len(s.Running()) == 1 })
	if _, err := old.Decode(t.Context(), decodeInput, nil); err == nil {
		t.Error("Decode after the last stream's end: no error")
	}
	eventually(t, "its end is told", func() bool { return slices.Contains(d.of("1.0.0"), plugin.StepClosed) })
	if got, want := d.of("1.0.0"), []string{"found", "verified", "compiled", "loaded", "retired", "closed"}; !reflect.DeepEqual(got, want) {
		t.Errorf("steps of the first %q, want %q", got, want)
	}
	if got, want := d.of("2.0.0"), []string{"found", "verified", "compiled", "loaded", "swapped"}; !reflect.DeepEqual(got, want) {
		t.Errorf("steps of the second %q, want %q", got, want)
	}
	if !reflect.DeepEqual(d.inUse, []string{"2.0.0"}) {
		t.Errorf("in use %q, want 2.0.0", d.inUse)
	}

	// The way back is the same move; what stays is neither read nor loaded.
	back := plan(one)
	two.Read = func(*bytes.Buffer) ([]byte, error) {
		t.Error("a version that stays was read")
		return nil, errors.New("read")
	}
	two.Use = false
	back.Wanted = append(back.Wanted, two)
	if done, err := s.Apply(t.Context(), back); err != nil || len(done.Loaded) != 1 || done.Unchanged != 1 {
		t.Errorf("Apply of the way back = %+v", done)
	}
	if a, b := answers(s, ""), answers(s, "^2"); a != "1.0.0" || b != "2.0.0" {
		t.Errorf("versions %q and, for ^2, %q answer; want 1.0.0, 2.0.0", a, b)
	}
	if got := s.Swaps()["test"]; got != 2 {
		t.Errorf("%d swaps, want 2", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Apply(t.Context(), plan(one)); !errors.Is(err, wasm.ErrClosed) {
		t.Errorf("Apply after Close: %v, want %v", err, wasm.ErrClosed)
	}
}

// TestRebuilt swaps in another module of the same name and version, as they
// come of a plugin at work.
func TestRebuilt(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	first, again := version(t, "good", "1.0.0", nil), version(t, "good", "1.0.0", map[string]any{"description": "mended"})
	apply(t, s, first)
	if done := apply(t, s, again); len(done.Loaded) != 1 || len(done.Retired) != 1 || done.Loaded[0].SHA256 != again.SHA256 {
		t.Errorf("Apply of the rebuilt = %+v", done)
	}
	if all := s.Providers(); len(all) != 1 || all[0].Manifest().Description != "mended" {
		t.Errorf("%d providers, want the rebuilt one", len(all))
	}
	// Of two at once the first runs.
	if done := apply(t, s, again, first); len(done.Refused) != 1 || !errors.Is(done.Refused[0].Err, plugin.ErrExists) || done.Unchanged != 1 {
		t.Errorf("Apply of both = %+v, want the second refused", done)
	}
}

// TestRefusedChangesNothing shows for each way to be wrong that the version in
// use stays in use.
func TestRefusedChangesNothing(t *testing.T) {
	unreadable := version(t, "good", "2.0.0", nil)
	unreadable.Read = func(*bytes.Buffer) ([]byte, error) { return nil, errors.New("the file was altered") }
	other := version(t, "good", "2.0.0", nil)
	other.Read = func(*bytes.Buffer) ([]byte, error) { return packed(t, "good", map[string]any{"version": "3.0.0"}), nil }
	bad := map[string]struct {
		w    plugin.Wanted
		want string
	}{
		"unreadable": {unreadable, "the file was altered"},
		"another":    {other, "it is plugin test 3.0.0"},
		"no export":  {version(t, "noexport", "2.0.0", nil), "it lacks the export parley_decode"},
		"other abi":  {version(t, "future", "2.0.0", nil), "parley_abi says 99"},
		"import":     {version(t, "unknownimport", "2.0.0", nil), "which the host does not have"},
		"self-test": {version(t, "good", "2.0.0", map[string]any{"selfTest": []any{
			map[string]any{"name": "url", "call": "encode", "input": map[string]any{"chat": map[string]any{}}, "output": map[string]any{"url": "https://other.example.com"}},
		}}), `test plugin test 2.0.0: self-test "url", call encode: url: want "https://other.example.com", got "https://api.example.com/v1"`},
	}
	for name, tt := range bad {
		t.Run(name, func(t *testing.T) {
			d := &diary{}
			s := plugin.NewSet(open(t, nil), d.options())
			good, beside := version(t, "good", "1.0.0", nil), version(t, "good", "0.9.0", nil)
			beside.Use = false
			apply(t, s, good, beside)
			before := s.Providers()
			done := apply(t, s, tt.w)
			if len(done.Refused) != 1 || !strings.Contains(done.Refused[0].Err.Error(), tt.want) || done.Refused[0].Name != "test" {
				t.Errorf("Apply = %+v, want a refusal: %s", done, tt.want)
			}
			if got := s.Providers(); !reflect.DeepEqual(got, before) || answers(s, "") != "1.0.0" {
				t.Errorf("providers changed: %v, version %q answers", got, answers(s, ""))
			}
			if got := s.Refused(); len(got) != 1 || got[0].From != tt.w.From {
				t.Errorf("Refused = %v", got)
			}
			if got := d.of("2.0.0"); got[len(got)-1] != plugin.StepRefused {
				t.Errorf("steps %q, want refused at the end", got)
			}
			// What the deployment wants next is done.
			if done := apply(t, s, version(t, "good", "2.1.0", nil)); len(done.Loaded) != 1 || len(done.Retired) != 2 || len(s.Refused()) != 0 {
				t.Errorf("Apply of a good one = %+v", done)
			}
		})
	}
}

// TestHalfWritten keeps what runs without a lock while its file is damaged, and
// lets it go once the file is away.
func TestHalfWritten(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	w := version(t, "good", "1.0.0", nil)
	apply(t, s, w)
	done, err := s.Apply(t.Context(), plugin.Plan{Refused: []plugin.Refused{{From: w.From, Err: errors.New("half")}}})
	if err != nil || done.Unchanged != 1 || len(done.Refused) != 1 || answers(s, "") != "1.0.0" {
		t.Errorf("Apply with a damaged file = %+v, %v", done, err)
	}
	if done := apply(t, s); len(done.Retired) != 1 || answers(s, "") != "" {
		t.Errorf("Apply of nothing = %+v", done)
	}
	w.Locked = true
	apply(t, s, w)
	done, err = s.Apply(t.Context(), plugin.Plan{Refused: []plugin.Refused{{Name: w.Name, Version: w.Version, From: w.From, Err: errors.New("not in the lock")}}})
	if err != nil || len(done.Retired) != 1 {
		t.Errorf("Apply of a lock without it = %+v, %v; want it retired", done, err)
	}
}

func TestApplyEnds(t *testing.T) {
	s := plugin.NewSet(open(t, nil), plugin.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Apply(ctx, plan(version(t, "good", "1.0.0", nil))); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply with an ended context: %v, want %v", err, context.Canceled)
	}
	if len(s.Running())+len(s.Refused()) != 0 {
		t.Error("an Apply that ended early left something")
	}
}

// TestHammerSwap swaps two versions again and again under streams of several
// calls each, which must find their version open to their end.
func TestHammerSwap(t *testing.T) {
	rt := open(t, nil)
	s := plugin.NewSet(rt, plugin.Options{})
	versions := []plugin.Wanted{version(t, "good", "1.0.0", nil), version(t, "good", "2.0.0", nil)}
	apply(t, s, versions[0])
	stop := make(chan struct{})
	var streams sync.WaitGroup
	for range 8 {
		streams.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := stream(s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range 40 {
		if done := apply(t, s, versions[(n+1)%2]); len(done.Loaded) != 1 || len(done.Retired) != 1 {
			t.Errorf("swap %d: %+v", n, done)
		}
	}
	close(stop)
	streams.Wait()
	eventually(t, "all old versions are closed", func() bool { return len(s.Running()) == 1 })
	if got := s.Swaps()["test"]; got != 40 {
		t.Errorf("%d swaps counted, want 40", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// stream makes the calls of an answer of two rounds.
func stream(s *plugin.Set) error {
	source, release, ok := s.Acquire(context.Background(), provider.Wish{Source: "testAi"}, provider.Client{Workspace: "w"})
	if !ok {
		return errors.New("no plugin answers")
	}
	defer release()
	version := source.Manifest().Version
	ctx := context.Background()
	for range 2 {
		if _, err := source.Encode(ctx, encodeInput); err != nil {
			return fmt.Errorf("encode on version %s: %w", version, err)
		}
		for range 5 {
			if _, err := source.Decode(ctx, decodeInput, nil); err != nil {
				return fmt.Errorf("decode on version %s: %w", version, err)
			}
		}
	}
	return nil
}

var _ provider.Sources = (*plugin.Set)(nil)
