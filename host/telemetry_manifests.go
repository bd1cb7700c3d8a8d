package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/metrics"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// CollectorManifest reads what a collector says of itself, without running it.
// reference is a manifest (a file that ends in .json) or a plugin as
// [Deployment.Diff] takes it.
func (d *Deployment) CollectorManifest(ctx context.Context, reference string) (*abi.Manifest, error) {
	var m *abi.Manifest
	if strings.HasSuffix(reference, ".json") {
		b, err := os.ReadFile(reference)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		if m, err = manifest.Parse(b); err != nil {
			return nil, fmt.Errorf("read manifest %s: %w", reference, err)
		}
	} else {
		module, err := d.installer.Find(ctx, reference)
		if err != nil {
			return nil, err
		}
		if m, err = plugin.ReadManifest(module); err != nil {
			return nil, fmt.Errorf("read manifest of %s: %w", reference, err)
		}
	}
	if m.Kind != abi.KindCollector {
		return nil, fmt.Errorf("%s is a %s: want a collector", reference, m.Kind)
	}
	return m, nil
}

// A MetricChange is one metric in which two versions of a collector differ.
type MetricChange = telemetry.MetricChange

// CompareMetrics says which metrics differ between two collectors, by path.
func CompareMetrics(before, after *abi.Manifest) []MetricChange { return telemetry.Diff(before, after) }

// MessageValues takes a sealed message apart: its values by metric path.
func MessageValues(body string) (map[string]any, error) { return telemetry.Values([]byte(body)) }

// TelemetryDashboard returns a dashboard for Grafana of what collectors say in
// the host's GET /metrics: a row for each, a panel for each metric.
func TelemetryDashboard(collectors []*abi.Manifest) ([]byte, error) {
	var rows []metrics.Row
	for _, m := range collectors {
		row := metrics.Row{Title: m.Name}
		if m.Description != "" {
			row.Title += ": " + m.Description
		}
		for i := range m.Metrics {
			one := &m.Metrics[i]
			if len(one.Constant) > 0 {
				continue // there is nothing to see
			}
			row.Panels = append(row.Panels, metrics.Panel{
				Title: one.Path, Description: one.Meaning, Family: telemetry.FamilyName(m.Name, one),
				Bool: one.Kind == abi.MetricBool, Texts: telemetry.IsText(one), Seconds: one.Format == abi.FormatMillis,
			})
		}
		rows = append(rows, row)
	}
	b, err := json.MarshalIndent(metrics.Dashboard("parley-usage", "Parley: usage", rows), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write dashboard: %w", err)
	}
	return append(b, '\n'), nil
}
