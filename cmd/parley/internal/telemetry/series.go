package telemetry

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/host"
)

type (
	// A pageCollector is what one collector said in the windows that are shown.
	pageCollector struct {
		Name, Version, Goes, Off string
		Cards                    []pageCard // of what changed
		Same                     []pageSame // of what did not
		Silent                   int        // metrics of which no window says anything
	}
	pageSame struct{ Path, Meaning, Text, Windows string }
)

// A pageColumn is one window: its values by collector and path.
type pageColumn struct {
	name, until string // until when it went; empty: it is under way
	values      map[string]map[string]any
}

// columns are the windows from the oldest to the one under way.
func (s *overview) columns() ([]pageColumn, error) {
	var all []pageColumn
	for _, w := range slices.Backward(s.windows) {
		c, err := newColumn(w.Messages)
		if err != nil {
			return nil, err
		}
		c.name, c.until = strconv.FormatUint(w.Window, 10), w.Sealed.UTC().Format("2 Jan 15:04")
		all = append(all, c)
	}
	now, err := newColumn(s.next)
	now.name = strconv.FormatUint(s.status.Engine.Window, 10)
	return append(all, now), err
}

func newColumn(messages []message) (pageColumn, error) {
	c := pageColumn{values: map[string]map[string]any{}}
	for _, m := range messages {
		values, err := host.MessageValues(m.Body)
		if err != nil {
			return c, fmt.Errorf("message of collector %s: %w", m.Collector, err)
		}
		if c.values[m.Collector] == nil {
			c.values[m.Collector] = map[string]any{}
		}
		maps.Copy(c.values[m.Collector], values)
	}
	return c, nil
}

// collectors are those that run, and then those that a window is of all the
// same.
func (s *overview) collectors() ([]pageCollector, error) {
	columns, err := s.columns()
	if err != nil {
		return nil, err
	}
	var all []pageCollector
	gone := map[string]bool{}
	for _, c := range columns {
		for name := range c.values {
			gone[name] = true
		}
	}
	for _, c := range s.status.Engine.Collectors {
		delete(gone, c.Name)
		one := pageCollector{Name: c.Name, Version: c.Version, Goes: goes(c.Outbound), Off: c.Off}
		one.draw(s.metricsOf(c.Name, columns), columns)
		all = append(all, one)
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		one := pageCollector{Name: name, Version: "does not run any more", Goes: "with it went what its metrics mean"}
		one.draw(s.metricsOf(name, columns), columns)
		all = append(all, one)
	}
	return all, nil
}

// metricsOf are the metrics of a collector: those of its manifest, and those
// that a window has of another version.
func (s *overview) metricsOf(collector string, columns []pageColumn) (all []metric) {
	known := map[string]bool{}
	for _, m := range s.metrics {
		if m.Collector != collector {
			continue
		}
		for _, path := range m.paths(columns) {
			one := m
			one.Path = path
			known[path] = true
			all = append(all, one)
		}
	}
	for _, c := range columns {
		for _, path := range slices.Sorted(maps.Keys(c.values[collector])) {
			if !known[path] {
				known[path] = true
				all = append(all, metric{Collector: collector, Path: path, Meaning: "No collector that runs says what this means."})
			}
		}
	}
	return all
}

// paths are where m's values are: at its path, or one further down for each value of
// its label that a window has.
func (m *metric) paths(columns []pageColumn) (all []string) {
	if m.By.Label == "" {
		return []string{m.Path}
	}
	for _, c := range columns {
		for path := range c.values[m.Collector] {
			if strings.HasPrefix(path, m.Path+".") && !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
	}
	if len(all) == 0 {
		return []string{m.Path} // of which there is nothing yet
	}
	slices.Sort(all)
	return all
}

// draw sorts metrics into what changed, what did not and what was not there.
func (c *pageCollector) draw(metrics []metric, columns []pageColumn) {
	for i := range metrics {
		m := &metrics[i]
		texts, count := map[string]bool{}, 0
		for _, column := range columns {
			if v := column.values[c.Name][m.Path]; v != nil {
				texts[valueText(v)] = true
				count++
			}
		}
		switch len(texts) {
		case 0:
			c.Silent++
		case 1:
			for text := range texts {
				c.Same = append(c.Same, pageSame{m.Path, m.Meaning, text, fmt.Sprintf("%d of %d", count, len(columns))})
			}
		default:
			c.Cards = append(c.Cards, newCard(m, columns))
		}
	}
}

// valueNumber is how high v is drawn.
func valueNumber(m *metric, v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		if m.Format == "millis" {
			n, err := strconv.ParseFloat(strings.TrimSuffix(v, "ms"), 64)
			return n, err == nil
		}
	}
	return 0, false
}

// valueText is v in a table.
func valueText(v any) string { return cmp.Or(strings.Join(valueTexts(v), ", "), "none") }

// valueTexts are the texts of v, which is a list of some or is one.
func valueTexts(v any) []string {
	switch v := v.(type) {
	case nil:
		return []string{"–"}
	case bool:
		if v {
			return []string{"yes"}
		}
		return []string{"no"}
	case float64:
		return []string{formatNumber(v)}
	case []any:
		texts := make([]string, len(v))
		for i, t := range v {
			texts[i] = fmt.Sprint(t)
		}
		return texts
	default:
		return []string{fmt.Sprint(v)}
	}
}

// formatNumber returns f for a person, with two decimals at most.
func formatNumber(f float64) string { return humanize.Commaf(math.Round(f*100) / 100) }

// age is how old the window under way is.
func (s *status) age() time.Duration {
	return (time.Duration(s.ElapsedMS) * time.Millisecond).Round(time.Second)
}
