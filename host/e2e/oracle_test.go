package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/e2e/house"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// The oracle says of every metric of the shipped collectors what moves it, to
// which value, and what must not. It asks a real host with the built modules by
// its API, and the values are written by hand from what the metric means.
//
//	oracle_rows_*_test.go   the table: a metric, what moves it, what does not
//	oracle_scene_test.go    the hosts on which that happens
//	oracle_table_test.go    plugins/collector/METRICS.md, which is made of it

// A row says of one metric that it is want at the end of a window in which
// moves happened, and still at the end of one of stays.
type row struct {
	metric string
	moves  scenario
	want   any
	stays  scenario
	still  any
}

// A scenario is what happens in one window: lines of
//
//	[Header: value] METHOD /path body
//
// which a client sends one after the other to the host with the defaults, where
// everything that it asks for must succeed but behind the status that it is to
// have. "wait 24h" lets time go by. In place of that a scenario may be one of
// the launches.
type scenario string

// What want and still may be beside what JSON can say: absent where the metric
// is not in the window's message; a pattern that a text has to fit; and what a
// number has to be over, or not.
type (
	absent  struct{}
	pattern string
	bound   struct {
		over bool
		n    int
	}
)

// A constant is a row of what this host does not have: its manifest says so.
func constant(metric string, value any) row { return row{metric: metric, want: value} }

// oracleRows is the whole table.
func oracleRows() []row {
	return slices.Concat(launchRows(), machineRows(), searchRows(), multiSearchRows(), settingsRows(), documentsRows(), tasksRows(), networkRows())
}

// TestOracleIsWhole finds a row for each metric of the manifests, and the other
// way round.
func TestOracleIsWhole(t *testing.T) {
	t.Parallel()
	metrics, rows := shippedMetrics(t), map[string]bool{}
	for _, r := range oracleRows() {
		rows[r.metric] = true
		m, ok := metrics[r.metric]
		if !ok {
			t.Errorf("the row %s is of no metric", r.metric)
			continue
		}
		if len(m.Constant) == 0 {
			if r.moves == "" || r.stays == "" || reflect.DeepEqual(r.want, r.still) {
				t.Errorf("the row %s moves nothing: %q gives %v, %q gives %v", r.metric, r.moves, r.want, r.stays, r.still)
			}
			continue
		}
		var value any
		if err := json.Unmarshal(m.Constant, &value); err != nil || r.moves != "" || value != r.want || m.Note == "" {
			t.Errorf("the row %s wants the constant %v; the manifest has %s, with the reason %q", r.metric, r.want, m.Constant, m.Note)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(metrics)) {
		if !rows[path] {
			t.Errorf("the metric %s of %s has no row: add what moves it and what must not", path, metrics[path].collector)
		}
	}
}

// TestOracle runs every row. Scenarios that are alike run once.
func TestOracle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds and compiles plugins, which takes long")
	}
	s := newStage(t)
	metrics := shippedMetrics(t)
	for _, r := range oracleRows() {
		t.Run(r.metric, func(t *testing.T) {
			if r.moves == "" {
				s.compare(t, metrics[r.metric], switched(`{"metrics":false}`), r.want)
				return
			}
			s.compare(t, metrics[r.metric], r.moves, r.want)
			s.compare(t, metrics[r.metric], r.stays, r.still)
		})
	}
	t.Run("everything in one hour", s.everything)
}

// everything makes all requests of the table in the first hour of a host, and
// measures its messages.
func (s *stage) everything(t *testing.T) {
	t.Helper()
	h := served(s)
	for _, r := range oracleRows() {
		if _, launched := launches()[r.moves]; !launched && len(r.moves) < 1<<20 && r.moves != "" {
			h.happen(t, r.moves)
		}
	}
	bytes, messages := 0, next(h.House)
	for _, body := range messages {
		bytes += len(body) + 1
	}
	t.Logf("%d metrics and fields of the context in %d bytes", len(h.metrics(t)), bytes)
	if len(messages) != len(s.modules) || bytes > telemetry.MaxBody/20 {
		t.Errorf("the %d messages of an hour have %d bytes: want one of each collector, in a twentieth of what one request may have", len(messages), bytes)
	}
}

// compare looks for a metric at the end of a window of a scenario.
func (s *stage) compare(t *testing.T, m shippedMetric, sc scenario, want any) {
	t.Helper()
	got, ok := s.window(t, sc)[m.Path]
	switch want := want.(type) {
	case absent:
		if ok {
			t.Errorf("after\n%s\n%s is %#v, want nothing of it", sc, m.Path, got)
		}
		return
	case pattern:
		if text, _ := got.(string); regexp.MustCompile(string(want)).MatchString(text) {
			return
		}
	case int:
		if got == float64(want) {
			return
		}
	case []string:
		list, _ := got.([]any)
		if fmt.Sprint(list) == fmt.Sprint(want) {
			return
		}
	case bound:
		if n, isNumber := got.(float64); isNumber && (n > float64(want.n)) == want.over {
			return
		}
	default:
		if ok && got == want {
			return
		}
	}
	t.Errorf("after\n%s\n%s is %#v (there: %v), want %#v", sc, m.Path, got, ok, want)
}

// A shippedMetric is one of a manifest, and whose.
type shippedMetric struct {
	abi.Metric
	collector string
}

// collectorNames are the folders below plugins/collector.
func collectorNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(house.Repository(t), "plugins", "collector", "*", "manifest.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("manifests of collectors: %d, %v", len(files), err)
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = filepath.Base(filepath.Dir(file))
	}
	return names
}

// shippedMetrics are all metrics of the shipped collectors, by path.
func shippedMetrics(t testing.TB) map[string]shippedMetric {
	t.Helper()
	all := map[string]shippedMetric{}
	for _, name := range collectorNames(t) {
		b, err := os.ReadFile(filepath.Join(house.Repository(t), "plugins", "collector", name, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m abi.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("manifest of %s: %v", name, err)
		}
		for i := range m.Metrics {
			all[m.Metrics[i].Path] = shippedMetric{m.Metrics[i], name}
		}
	}
	return all
}

// leaves puts the leaves of an object under their paths.
func leaves(at string, v any, into map[string]any) {
	object, ok := v.(map[string]any)
	if !ok {
		into[strings.TrimPrefix(at, ".")] = v
		return
	}
	for name, member := range object {
		leaves(at+"."+name, member, into)
	}
}
