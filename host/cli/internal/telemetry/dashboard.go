package telemetry

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/metrics"
	"github.com/parley-search/parley/host/internal/telemetry"
)

func dashboardCommand(manifests Manifests) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboard COLLECTOR…",
		Short: "Write a dashboard for Grafana of what collectors say",
		Long: "Write a dashboard for Grafana, made of the manifests of collectors: a row for each, a panel for each metric as GET /metrics shows it.\n" +
			"Each is a manifest (a file that ends in .json), a module (a file or URL), NAME (the version in use, or what this program carries) or NAME@VERSION\n" +
			"(in the plugin directory). examples/grafana/telemetry.json is that of the shipped ones.",
		Example: "  parley telemetry dashboard plugins/collector/*/manifest.json > telemetry.json\n" +
			"  parley telemetry dashboard chats-1.0.0.wasm > chats.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := manifests.Open(cmd)
			if err != nil {
				return err
			}
			var all []*abi.Manifest
			for _, ref := range args {
				m, err := collectorManifest(cmd.Context(), d, ref)
				if err != nil {
					return fmt.Errorf("make a dashboard: %w", err)
				}
				all = append(all, m)
			}
			slices.SortStableFunc(all, func(a, b *abi.Manifest) int { return strings.Compare(a.Name, b.Name) })
			b, err := makeDashboard(all)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(b)
			return err
		},
	}
	return manifests.Flags(cmd)
}

// collectorManifest reads what a collector says of itself, without running it.
// reference is a manifest (a file that ends in .json) or a plugin as
// [deploy.Installer.Diff] takes it.
func collectorManifest(ctx context.Context, d *deploy.Installer, reference string) (*abi.Manifest, error) {
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
		module, err := d.Find(ctx, reference)
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

// makeDashboard returns a dashboard for Grafana of what collectors say in
// the host's GET /metrics: a row for each, a panel for each metric.
func makeDashboard(collectors []*abi.Manifest) ([]byte, error) {
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
				Bool: one.Kind == abi.MetricBool, Texts: telemetry.IsText(one), Seconds: one.Format == abi.FormatMillis, Label: one.By.Label,
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
