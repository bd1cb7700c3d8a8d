package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/e2e/house"
)

const tableHead = `# Metrics

Every metric of the shipped collectors: which event it is made of, what moves it, and what must not. ` + "`go test ./host/e2e -run TestOracle/NAME`" + ` makes these requests
to a real host with the built collectors, and compares what ` + "`parley telemetry show --next`" + ` would print with the values here, which were written by hand. A number before a request is the
status that it must have. (nothing) means that the metric is not in the message. This page is written by ` + "`UPDATE=1 go test ./host/e2e -run TestOracleTable`" + `.

`

// TestOracleTable holds the page of metrics to the oracle.
func TestOracleTable(t *testing.T) {
	metrics, rows := shippedMetrics(t), map[string][]row{}
	for _, r := range oracleRows() {
		rows[r.metric] = append(rows[r.metric], r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s| Metric | Event | Collector | Moved by | To | Not by | Then |\n|---|---|---|---|---|---|---|\n", tableHead)
	for _, path := range slices.Sorted(maps.Keys(metrics)) {
		m := metrics[path]
		collector := fmt.Sprintf("[%s](%s)", m.collector, m.collector)
		for _, r := range rows[path] {
			if r.moves == "" {
				fmt.Fprintf(&b, "| `%s` | | %s | | %s always: %s | | |\n", path, collector, value(r.want), m.Note)
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n",
				path, "`"+strings.Join(m.Events, "`, `")+"`", collector, r.moves.cell(), value(r.want), r.stays.cell(), value(r.still))
		}
	}
	fmt.Fprintf(&b, "\n%d of %d metrics.\n", len(rows), len(metrics))

	file := filepath.Join(house.Repository(t), "plugins", "collector", "METRICS.md")
	page, _ := os.ReadFile(file) // where there is none it is written
	if string(page) == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the oracle says: UPDATE=1 go test ./host/e2e -run TestOracleTable writes it", file)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// cell is a scenario in a table.
func (s scenario) cell() string {
	if _, launched := launches()[s]; launched {
		return string(s)
	}
	lines := strings.Split(string(s), "\n")
	for i, line := range lines {
		if len(line) > 300 {
			line = line[:100] + " …"
		}
		lines[i] = "`" + strings.ReplaceAll(line, "|", `\|`) + "`"
	}
	return strings.Join(lines, "<br>")
}

// value is what a metric is, in a table.
func value(v any) string {
	switch v := v.(type) {
	case absent:
		return "(nothing)"
	case pattern:
		return "of the form `" + string(v) + "`"
	case bound:
		if v.over {
			return fmt.Sprintf("over %d", v.n)
		}
		return fmt.Sprintf("under %d", v.n)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // rows hold what JSON can say
	}
	return "`" + string(b) + "`"
}
