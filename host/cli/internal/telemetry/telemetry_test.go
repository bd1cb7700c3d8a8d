package telemetry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

// TestDifferAt finds the first byte that differs, and the end of a text that the other one goes on from.
func TestDifferAt(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"abc", "abd", 2}, {"abc", "abcd", 3}, {"", "a", 0}, {"abc", "abc", 3}} {
		if got := differAt(tt.a, tt.b); got != tt.want {
			t.Errorf("differAt(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	if got, err := indentBody(`{"a":[1]}`); err != nil || got != "{\n  \"a\": [\n    1\n  ]\n}" {
		t.Errorf("indented it is %q, %v", got, err)
	}
	if _, err := indentBody(`{`); err == nil {
		t.Error("half a body is indented")
	}
}

// TestCollectorManifest reads the manifest of a collector, and of nothing else.
func TestCollectorManifest(t *testing.T) {
	shipped := filepath.Join("..", "..", "..", "..", "plugins")
	d := &deploy.Installer{}
	m, err := collectorManifest(t.Context(), d, filepath.Join(shipped, "collector", "search", "manifest.json"))
	if err != nil || m.Name != "search" || len(m.Metrics) == 0 {
		t.Fatalf("the manifest is %+v, %v", m, err)
	}
	b, err := makeDashboard([]*abi.Manifest{m})
	if err != nil || !strings.Contains(string(b), "parley-usage") || !strings.Contains(string(b), `"search: `) {
		t.Errorf("the dashboard is %.200s, %v, want a row of the collector", b, err)
	}
	for _, one := range m.Metrics {
		if has := strings.Contains(string(b), `"`+one.Path+`"`); has != (len(one.Constant) == 0) {
			t.Errorf("metric %s, constant %v: on the dashboard %v", one.Path, one.Constant, has)
		}
	}
	broken := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(shipped, "provider", "vllm", "manifest.json"): "want a collector", broken: broken, broken + ".json": "read manifest"} {
		if _, err := collectorManifest(t.Context(), d, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
