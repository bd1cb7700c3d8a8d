package figures

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAlerts holds the shipped alerts to what a node shows, and to sections that the runbook has.
func TestAlerts(t *testing.T) {
	repository := filepath.Join("..", "..", "..", "..")
	file := filepath.Join(repository, "examples", "grafana", "alerts.yaml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	runbook, err := os.ReadFile(filepath.Join(repository, "host", "docs", "how-to", "cluster-runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{"parley_tasks_total": true} // of [New], counted as they happen
	for _, f := range Cluster(&Membership{}) {
		shown[f.Name] = true
	}
	sections := map[string]bool{}
	for line := range strings.Lines(string(runbook)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			title = regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			sections[strings.ReplaceAll(title, " ", "-")] = true
		}
	}
	alerts := strings.Split(string(b), "- alert: ")[1:]
	if len(alerts) < 14 {
		t.Errorf("%d alerts, want at least 14", len(alerts))
	}
	for _, a := range alerts {
		name, _, _ := strings.Cut(a, "\n")
		names := regexp.MustCompile(`\bparley_[a-z_]+`).FindAllString(a, -1)
		if len(names) == 0 || !strings.Contains(a, "summary: ") || !strings.Contains(a, "severity: ") {
			t.Errorf("alert %s lacks a metric, a summary or a severity", name)
		}
		for _, n := range names {
			if !shown[n] {
				t.Errorf("alert %s goes by %s, which no node shows", name, n)
			}
		}
		if _, at, ok := strings.Cut(a, "cluster-runbook.md#"); ok && !sections[strings.TrimSpace(strings.SplitN(at, "\n", 2)[0])] {
			t.Errorf("alert %s names a section that the runbook does not have: %s", name, at)
		}
	}
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Log("not linted: promtool is not installed (Debian: prometheus)")
		return
	}
	if out, err := exec.Command("promtool", "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool check rules: %v\n%s", err, out)
	}
}
