package feature_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
)

// memory is a [feature.Store].
type memory struct {
	on     map[string]bool
	broken error
}

func (m *memory) Features(context.Context) (map[string]bool, error) {
	return maps.Clone(m.on), m.broken
}

func (m *memory) PutFeatures(_ context.Context, on map[string]bool) error {
	if m.broken == nil {
		m.on = maps.Clone(on)
	}
	return m.broken
}

func open(t *testing.T, m *memory, on ...feature.Feature) *feature.Service {
	t.Helper()
	s, err := feature.Open(t.Context(), m, on...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSwitch(t *testing.T) {
	m := &memory{}
	s := open(t, m)
	if got := s.Now(); got != (feature.Set{ChatCompletions: true, MCP: true, RenderRoute: true}) || got != feature.Default() {
		t.Errorf("features at first %+v, want chatCompletions, mcp and renderRoute alone", got)
	}
	got, err := s.Patch(t.Context(), map[string]bool{"network": true, "chatCompletions": false})
	if want := (feature.Set{Network: true, MCP: true, RenderRoute: true}); err != nil || got != want || s.Now() != want {
		t.Errorf("Patch = %+v, %v, then %+v; want %+v", got, err, s.Now(), want)
	}
	if got := open(t, m).Now(); got != (feature.Set{Network: true, MCP: true, RenderRoute: true}) {
		t.Errorf("after a restart %+v, want network, mcp and renderRoute alone", got)
	}
	for _, bad := range []struct{ name, says string }{
		{"netwrok", "did you mean `network`?"},
		{"nonsense", "known are `metrics`"},
	} {
		got, err := s.Patch(t.Context(), map[string]bool{"containsFilter": true, bad.name: true})
		if apierr.From(err).Code != apierr.BadRequest || !strings.Contains(err.Error(), bad.says) || got != s.Now() || got.ContainsFilter {
			t.Errorf("Patch of %s = %+v, %v; want nothing switched and %q", bad.name, got, err, bad.says)
		}
	}
}

// TestAbsent wants features of other products refused by name, and the others in
// the same body switched.
func TestAbsent(t *testing.T) {
	s := open(t, &memory{})
	if got, err := s.Patch(t.Context(), map[string]bool{"editDocumentsByFunction": false, "network": true}); err != nil || !got.Network {
		t.Errorf("an absent feature, off: %+v, %v", got, err)
	}
	got, err := s.Patch(t.Context(), map[string]bool{"containsFilter": true, "editDocumentsByFunction": true, "dynamicSearchRules": true})
	if apierr.From(err).Code != apierr.BadRequest || !got.ContainsFilter || !s.Now().ContainsFilter {
		t.Errorf("absent features, on: %+v, %v; want an error, and containsFilter on", got, err)
	}
	for _, says := range []string{"`editDocumentsByFunction` is not offered: it runs a script", "`dynamicSearchRules` is not offered", "The others were switched"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q in it", err, says)
		}
	}
}

// TestLaunch wants what is named at launch on, and not kept on after it.
func TestLaunch(t *testing.T) {
	m := &memory{on: map[string]bool{"metrics": false, "gone": true}}
	s := open(t, m, feature.Metrics, feature.ContainsFilter)
	if got := s.Now(); !got.Metrics || !got.ContainsFilter {
		t.Errorf("launched with metrics and containsFilter: %+v", got)
	}
	if _, err := s.Patch(t.Context(), map[string]bool{"network": true}); err != nil {
		t.Fatal(err)
	}
	if got := open(t, m).Now(); got != (feature.Set{Network: true, ChatCompletions: true, MCP: true, RenderRoute: true}) {
		t.Errorf("launched without: %+v, want network, chatCompletions, mcp and renderRoute", got)
	}
	if _, err := s.Patch(t.Context(), map[string]bool{"metrics": false}); err != nil || s.Now().Metrics {
		t.Errorf("metrics switched off: %+v, %v", s.Now(), err)
	}
}

func TestStoreFails(t *testing.T) {
	m := &memory{}
	s := open(t, m)
	m.broken = errors.New("disk full")
	if _, err := s.Patch(t.Context(), map[string]bool{"network": true}); !errors.Is(err, m.broken) || s.Now().Network {
		t.Errorf("Patch on a full disk: %v, network is %v; want the error and it off", err, s.Now().Network)
	}
	if _, err := feature.Open(t.Context(), m); !errors.Is(err, m.broken) {
		t.Errorf("Open = %v, want %v", err, m.broken)
	}
}

func TestRequire(t *testing.T) {
	s := open(t, &memory{})
	err := s.Require(feature.Network, "")
	if e := apierr.From(err); e == nil || e.Code != apierr.FeatureNotEnabled ||
		e.Message != "The network of remotes needs the feature `network`, which is off: switch it on by PATCH /experimental-features with {\"network\": true}." {
		t.Errorf("Require = %v", err)
	}
	if err := s.Require(feature.ChatCompletions, ""); err != nil {
		t.Errorf("Require of a feature that is on = %v", err)
	}
	names := map[feature.Feature]bool{}
	feature.Set{Metrics: true, LogsRoute: true, ContainsFilter: true, CompositeEmbedders: true, Multimodal: true, Network: true, ChatCompletions: true, MCP: true, RenderRoute: true, Feedback: true, TaskDocuments: true}.Each(func(f feature.Feature, on bool) {
		names[f] = on
		if !on || feature.Off(f, "x").Message == "" {
			t.Errorf("%s is off", f)
		}
	})
	if len(names) != 11 {
		t.Errorf("%d features, want 11: this test names each of them", len(names))
	}
}
