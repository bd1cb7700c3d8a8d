// Package collector_test holds the shipped collectors to the list of metrics
// of the specification.
package collector_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-search/parley/abi"
)

// collectors are the folders here.
var collectors = []string{"documents", "instance", "multisearch", "network", "search", "settings", "tasks"}

// eventNames are the events of the list that have another name in the
// catalogue.
var eventNames = map[string]string{
	"documents_op": "documents", "index_op": "index", "settings_update": "settings", "tasks_query": "tasks", "stats_query": "stats", "network_update": "network",
}

// left are metrics that the list has always, and that are left out where the
// host has no value for them that the manifest could say. There is one always
// on the systems that are supported.
var left = []string{"system.kernel_version", "infos.experimental_logs_mode"}

// A row is one of the list.
type row struct{ kind, events, aggregation, noData, values string }

// list reads the list of the specification: tab-separated, with a line of
// names first.
func list(t *testing.T) map[string]row {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "spec", "metrics.tsv"))
	if err != nil {
		t.Skipf("the specification's list of metrics is not next to this repository: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	column := func(name string) int { return slices.Index(strings.Split(lines[0], "\t"), name) }
	metric, kind, event, aggregation := column("metric"), column("kind"), column("event"), column("aggregation")
	noData, values := column("when_no_data"), column("value_rule")
	all := map[string]row{}
	for _, line := range lines[1:] {
		f := strings.Split(line, "\t")
		all[f[metric]] = row{f[kind], f[event], f[aggregation], f[noData], f[values]}
	}
	return all
}

// manifests reads those of the collectors.
func manifests(t *testing.T) map[string]abi.Manifest {
	t.Helper()
	all := map[string]abi.Manifest{}
	for _, name := range collectors {
		b, err := os.ReadFile(filepath.Join(name, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m abi.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("read manifest of %s: %v", name, err)
		}
		if m.Name != name {
			t.Errorf("the collector in %s is called %s", name, m.Name)
		}
		all[name] = m
	}
	return all
}

// TestList compares the union of the manifests with the list: each metric once,
// with the list's kind, aggregation, events and value without data.
func TestList(t *testing.T) {
	rows, by := list(t), map[string]string{}
	for name, m := range manifests(t) {
		for i := range m.Metrics {
			metric := &m.Metrics[i]
			if other, twice := by[metric.Path]; twice {
				t.Errorf("%s is a metric of %s and of %s", metric.Path, other, name)
			}
			by[metric.Path] = name
			want, ok := rows[metric.Path]
			if !ok {
				t.Errorf("%s: %s is not in the list", name, metric.Path)
				continue
			}
			want = want.normal(metric.Path)
			if len(metric.Constant) > 0 {
				// The list has a metric where this host can have one value alone.
				want.aggregation, want.events, want.noData = abi.AggregationConstant, "", metric.NoData
			}
			if got := rowOf(metric); got != want {
				t.Errorf("%s: %s is\n%+v, want\n%+v", name, metric.Path, got, want)
			}
		}
	}
	for path := range rows {
		if by[path] == "" {
			t.Errorf("no collector has %s", path)
		}
	}
}

// TestPaths holds the paths of all collectors together to what the manifest of
// each must keep: none leads through another.
func TestPaths(t *testing.T) {
	leaf := map[string]bool{}
	for _, m := range manifests(t) {
		for i := range m.Metrics {
			leaf[m.Metrics[i].Path] = true
		}
	}
	for path := range leaf {
		for i := range path {
			if path[i] == '.' && leaf[path[:i]] {
				t.Errorf("%s leads through %s, which is a metric", path, path[:i])
			}
		}
	}
}

func rowOf(m *abi.Metric) row {
	kind := m.Kind
	if m.Nullable {
		kind += "?"
	}
	events := slices.Clone(m.Events)
	slices.Sort(events)
	return row{kind, strings.Join(events, ", "), m.Aggregation, m.NoData, ""}
}

// normal is the row in the words of a manifest, without the rule of its values,
// which is a sentence.
func (r row) normal(path string) row {
	r.values = ""
	events := strings.Split(r.events, ", ")
	for i, e := range events {
		if name, ok := eventNames[e]; ok {
			events[i] = name
		}
	}
	slices.Sort(events)
	r.events = strings.Join(events, ", ")
	if strings.HasPrefix(r.noData, "omit") || strings.Contains(r.noData, "omit when rankingRules untouched") || slices.Contains(left, path) {
		r.noData = abi.NoDataOmit
	}
	return r
}
