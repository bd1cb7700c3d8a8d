package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-search/parley/host"
)

//go:embed telemetry_page.html
var telemetryPageText string

// telemetrySeen is all that the page shows, as the host answers it.
type telemetrySeen struct {
	status     telemetryStatus
	metrics    []telemetryMetric
	next       []telemetryMessage
	pending    []telemetryMessage
	windows    []telemetryWindow // the newest first
	deliveries []telemetryDelivery
}

// pageData is what the template is given.
type pageData struct {
	Nonce, At, Status string
	Collectors        []pageCollector
	Next, Pending     []pageMessage
	Windows           []pageWindow
	Deliveries        []pageDelivery
}

type (
	pageMessage  struct{ Collector, Version, Goes, Body, Bytes string }
	pageDelivery struct{ At, Outcome, Bytes, To, What string }
	pageWindow   struct {
		Window   uint64
		Sealed   string
		Messages []pageMessage
	}
	pageCollector struct {
		Name, Version, Goes string
		Metrics             []pageMetric
		Silent              int // metrics of which no window says anything
	}
	pageMetric struct {
		Path, Meaning string
		Chart         *pageChart // nil: it is a text
		Values        []pageValue
	}
	pageValue struct{ Window, Text string }
	pageChart struct {
		Width, Height int
		Label, Most   string
		Bars          []pageBar
	}
	pageBar struct {
		X, Width  int
		Y, Height string
		Title     string
	}
)

// write renders the page. nonce is that of its style in the policy.
func (s *telemetrySeen) write(w io.Writer, nonce string, now time.Time) error {
	page, err := template.New("page").Parse(telemetryPageText)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	data, err := s.page(nonce, now)
	if err != nil {
		return err
	}
	return page.Execute(w, data)
}

func (s *telemetrySeen) page(nonce string, now time.Time) (*pageData, error) {
	var status strings.Builder
	if err := s.status.print(&status); err != nil {
		return nil, err
	}
	d := &pageData{Nonce: nonce, At: now.UTC().Format(time.RFC3339), Status: status.String(), Next: pageMessages(s.next), Pending: pageMessages(s.pending)}
	for _, w := range s.windows {
		d.Windows = append(d.Windows, pageWindow{w.Window, w.Sealed.UTC().Format(time.RFC3339), pageMessages(w.Messages)})
	}
	for _, x := range slices.Backward(s.deliveries) {
		d.Deliveries = append(d.Deliveries, pageDelivery{x.At.UTC().Format(time.RFC3339), x.Outcome, strconv.Itoa(x.Bytes), x.To, x.what()})
	}
	columns, err := s.columns()
	if err != nil {
		return nil, err
	}
	for _, c := range s.status.Engine.Collectors {
		one := pageCollector{Name: c.Name, Version: c.Version, Goes: "Its messages are sent where a platform is configured."}
		if !c.Outbound {
			one.Goes = "Its messages stay on this machine."
		}
		for i := range s.metrics {
			if m := &s.metrics[i]; m.Collector == c.Name {
				if shown := chartOf(m, columns); shown != nil {
					one.Metrics = append(one.Metrics, *shown)
				} else {
					one.Silent++
				}
			}
		}
		d.Collectors = append(d.Collectors, one)
	}
	return d, nil
}

func pageMessages(all []telemetryMessage) (shown []pageMessage) {
	for _, m := range all {
		goes := "is sent"
		if !m.Outbound {
			goes = "stays on this machine"
		}
		body, err := indent(m.Body)
		if err != nil {
			body = m.Body // it is shown as it is, whatever that is
		}
		shown = append(shown, pageMessage{m.Collector, m.Version, goes, body, strconv.Itoa(len(m.Body))})
	}
	return shown
}

// A pageColumn is one window: its values by collector and path.
type pageColumn struct {
	name   string
	values map[string]map[string]any
}

// columns are the windows from the oldest to the one under way.
func (s *telemetrySeen) columns() ([]pageColumn, error) {
	var all []pageColumn
	for _, w := range slices.Backward(s.windows) {
		c, err := newColumn(strconv.FormatUint(w.Window, 10), w.Messages)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	now, err := newColumn("now", s.next)
	return append(all, now), err
}

func newColumn(name string, messages []telemetryMessage) (pageColumn, error) {
	c := pageColumn{name, map[string]map[string]any{}}
	for _, m := range messages {
		values, err := host.MessageValues(m.Body)
		if err != nil {
			return c, fmt.Errorf("message of collector %s: %w", m.Collector, err)
		}
		if c.values[m.Collector] == nil {
			c.values[m.Collector] = map[string]any{}
		}
		for path, v := range values {
			c.values[m.Collector][path] = v
		}
	}
	return c, nil
}

// The size of a chart and of its bars.
const (
	chartHeight = 64
	chartTop    = 16 // above it stands the largest value
	barStep     = 10
	chartLeast  = 120
)

// chartOf is a metric's chart and table, or nil where no window has a value.
func chartOf(m *telemetryMetric, columns []pageColumn) *pageMetric {
	shown := &pageMetric{Path: m.Path, Meaning: m.Meaning}
	numbers := make([]*float64, len(columns))
	most, any, numeric := 0.0, false, true
	for i, c := range columns {
		v, ok := c.values[m.Collector][m.Path]
		any = any || ok && v != nil
		shown.Values = append(shown.Values, pageValue{c.name, valueText(v)})
		if n, ok := valueNumber(m, v); ok {
			numbers[i] = &n
			most = max(most, n)
		} else if v != nil {
			numeric = false
		}
	}
	if !any {
		return nil
	}
	if !numeric {
		return shown
	}
	chart := &pageChart{
		Width: max(chartLeast, barStep*len(columns)), Height: chartHeight, Most: "most: " + number(most),
		Label: fmt.Sprintf("%s over %d windows, %s at most; the table beside it has the values", m.Path, len(columns), number(most)),
	}
	for i, n := range numbers {
		if n == nil {
			continue
		}
		height := 1.0 // a 0 is seen, too
		if most > 0 {
			height = max(1, *n/most*(chartHeight-chartTop))
		}
		chart.Bars = append(chart.Bars, pageBar{
			X: i*barStep + 1, Width: barStep - 2, Y: number(chartHeight - height), Height: number(height), Title: columns[i].name + ": " + shown.Values[i].Text,
		})
	}
	shown.Chart = chart
	return shown
}

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(f, 'f', 2, 64), "0"), ".")
}

// valueNumber is how high v is drawn.
func valueNumber(m *telemetryMetric, v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
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
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "–"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return number(v)
	case []any:
		texts := make([]string, len(v))
		for i, t := range v {
			texts[i] = fmt.Sprint(t)
		}
		return strings.Join(texts, ", ")
	default:
		return fmt.Sprint(v)
	}
}
