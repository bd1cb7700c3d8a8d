package main

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
		t.Error("examples/grafana/telemetry.json is not what the manifests say: run UPDATE=1 go test ./cmd/parley -run TestTelemetryDashboard")
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

func TestTelemetryDiff(t *testing.T) {
	dir := t.TempDir()
	manifest := func(name, version, events, metrics string) string {
		file := filepath.Join(dir, name)
		text := `{"abi":1,"kind":"collector","name":"counter","version":"` + version + `","events":[` + events + `],"metrics":[` + metrics + `]}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	metric := func(path, most, meaning string) string {
		return `{"path":"` + path + `","kind":"int","range":[0,` + most + `],"meaning":"` + meaning + `","aggregation":"sum","noData":"always","events":["chat"]}`
	}
	one := manifest("one.json", "1.0.0", `"chat"`, metric("kept", "9", "Kept.")+","+metric("gone", "9", "Gone.")+","+metric("wider", "9", "Wider."))
	two := manifest("two.json", "1.1.0", `"chat","search"`, metric("kept", "9", "Kept.")+","+metric("come", "9", "Come.")+","+metric("wider", "99", "Wider."))
	want := `counter 1.0.0 → counter 1.1.0
+ event search
+ come  int
      Come.
- gone  int
      Gone.
~ wider
      range: [0,9] → [0,99]
`
	if code, out := parleySays(t, "telemetry", "diff", one, two); code != exitOK || out != want {
		t.Errorf("telemetry diff: code %d\n%s\nwant\n%s", code, out, want)
	}
	if code, out := parleySays(t, "telemetry", "diff", one, one); code != exitOK || !strings.Contains(out, "no event and no metric differs") {
		t.Errorf("telemetry diff of one with itself: code %d\n%s", code, out)
	}
	code, out := parleySays(t, "telemetry", "diff", "--json", one, two)
	var d struct {
		Events  []string
		Metrics []struct {
			Path   string
			Fields []struct{ Name, Old, New string }
		}
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitOK || len(d.Metrics) != 3 || d.Metrics[2].Fields[0].New != "[0,99]" || d.Events[0] != "+search" {
		t.Errorf("telemetry diff --json: code %d, %v\n%s", code, err, out)
	}
	provider := filepath.Join(root(t), "plugins", "provider", "extract", "manifest.json")
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no collector": {[]string{one, provider}, exitFailed, "is a provider: want a collector"},
		"no file":      {[]string{one, filepath.Join(dir, "none.json")}, exitFailed, "no such file"},
		"no module":    {[]string{one, filepath.Join(dir, "none.wasm")}, exitFailed, "none.wasm"},
		"one":          {[]string{one}, exitUsage, "write `parley telemetry diff OLD NEW"},
		"no manifest":  {[]string{manifest("bad.json", "1", "", ""), one}, exitFailed, "the manifest is wrong"},
	} {
		if code, out := parleySays(t, append([]string{"telemetry", "diff"}, tt.args...)...); code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("%s: code %d\n%s\nwant %d and %q", name, code, out, tt.code, tt.want)
		}
	}
}
