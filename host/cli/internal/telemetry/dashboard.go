package telemetry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
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
				m, err := d.CollectorManifest(cmd.Context(), ref)
				if err != nil {
					return fmt.Errorf("make a dashboard: %w", err)
				}
				all = append(all, m)
			}
			slices.SortStableFunc(all, func(a, b *abi.Manifest) int { return strings.Compare(a.Name, b.Name) })
			b, err := host.TelemetryDashboard(all)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(b)
			return err
		},
	}
	return manifests.Flags(cmd)
}
