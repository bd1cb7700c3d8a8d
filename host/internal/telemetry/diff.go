package telemetry

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
)

// A MetricChange is one metric in which two versions of a collector differ.
type MetricChange struct {
	Path string      `json:"path"`
	Old  *abi.Metric `json:"old,omitempty"` // nil: it was added
	New  *abi.Metric `json:"new,omitempty"` // nil: it was removed
	// Fields are what differs of a metric that both have.
	Fields []FieldChange `json:"fields,omitempty"`
}

// A FieldChange is one member of a metric's manifest, as JSON; empty where there
// is none.
type FieldChange struct {
	Name string `json:"name"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// Diff says which metrics differ between two manifests, by path.
func Diff(before, after *abi.Manifest) []MetricChange {
	metrics := map[string]*MetricChange{}
	of := func(path string) *MetricChange {
		if metrics[path] == nil {
			metrics[path] = &MetricChange{Path: path}
		}
		return metrics[path]
	}
	for i := range before.Metrics {
		of(before.Metrics[i].Path).Old = &before.Metrics[i]
	}
	for i := range after.Metrics {
		of(after.Metrics[i].Path).New = &after.Metrics[i]
	}
	changes := []MetricChange{}
	for _, path := range slices.Sorted(maps.Keys(metrics)) {
		c := metrics[path]
		if c.Old != nil && c.New != nil {
			if c.Fields = fieldChanges(c.Old, c.New); len(c.Fields) == 0 {
				continue
			}
		}
		changes = append(changes, *c)
	}
	return changes
}

func fieldChanges(a, b *abi.Metric) (all []FieldChange) {
	before, after := members(a), members(b)
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if o, n := string(before[name]), string(after[name]); o != n {
			all = append(all, FieldChange{name, strings.TrimSpace(o), strings.TrimSpace(n)})
		}
	}
	return all
}

// members are those of m's manifest, as JSON.
func members(m *abi.Metric) (all map[string]json.RawMessage) {
	b, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		panic("telemetry: a metric is not a JSON object: " + err.Error())
	}
	return all
}
