package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shippedManifests are those of the collectors that Parley comes with.
func shippedManifests(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(root(t), "plugins", "collector", "*", "manifest.json"))
	if err != nil || len(all) != 7 {
		t.Fatalf("%d manifests, %v, want 7", len(all), err)
	}
	return all
}

// TestTelemetryDashboard holds the dashboard in examples to the manifests that
// it is written from; UPDATE=1 writes it.
func TestTelemetryDashboard(t *testing.T) {
	code, out := parleySays(t, append([]string{"telemetry", "dashboard"}, shippedManifests(t)...)...)
	if code != exitOK {
		t.Fatalf("telemetry dashboard: code %d\n%s", code, out)
	}
	file := filepath.Join(root(t), "examples", "grafana", "telemetry.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != out {
		t.Error("examples/grafana/telemetry.json is not what the manifests say: run UPDATE=1 go test ./host/cli -run TestTelemetryDashboard")
	}
	var board struct {
		Panels []struct {
			ID      int
			Type    string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	family := regexp.MustCompile(`^parley_usage_[a-z0-9_A-Z]+\{instance=~"\$instance"\}$`)
	taken := map[[2]int]bool{}
	drawn := 0
	for i, p := range board.Panels {
		if p.ID != i+1 {
			t.Errorf("panel %d has the id %d", i+1, p.ID)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if at := [2]int{x, y}; taken[at] || x >= 24 {
					t.Fatalf("panel %d lies where another one does, or outside: %+v", p.ID, p.GridPos)
				} else {
					taken[at] = true
				}
			}
		}
		if p.Type == "row" {
			continue
		}
		drawn++
		if len(p.Targets) != 1 || !family.MatchString(p.Targets[0].Expr) {
			t.Errorf("panel %d asks for %+v", p.ID, p.Targets)
		}
	}
	if drawn < 100 {
		t.Errorf("%d metrics are drawn, want most of 169", drawn)
	}
}

// TestTelemetryDashboardRefuses names what no dashboard can be made of.
func TestTelemetryDashboardRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"abi":1,"kind":"collector","name":"counter","version":"1","events":[],"metrics":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ arg, want string }{
		"no collector": {filepath.Join(root(t), "plugins", "provider", "extract", "manifest.json"), "is a provider: want a collector"},
		"no file":      {filepath.Join(dir, "none.json"), "no such file"},
		"no module":    {filepath.Join(dir, "none.wasm"), "none.wasm"},
		"no manifest":  {bad, "the manifest is wrong"},
	} {
		if code, out := parleySays(t, "telemetry", "dashboard", tt.arg); code != exitFailed || !strings.Contains(out, tt.want) {
			t.Errorf("%s: code %d\n%s\nwant %d and %q", name, code, out, exitFailed, tt.want)
		}
	}
}
