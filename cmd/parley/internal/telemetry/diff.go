package telemetry

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/cmd/parley/internal/cli"
	"github.com/parley-search/parley/host"
)

// comparison is what telemetry diff prints as JSON.
type comparison struct {
	Old     side                `json:"old"`
	New     side                `json:"new"`
	Events  []string            `json:"events"` // "+chat" where the new one reads chat, too, "-chat" where it does not any more
	Metrics []host.MetricChange `json:"metrics"`
}

type side struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func diffCommand(manifests Manifests) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show which metrics an upgrade of a collector adds, removes or changes",
		Long: "Show which metrics differ between two collectors, without running them: + for one that comes, - for one that goes, ~ for one that changes.\n" +
			"Each is a manifest (a file that ends in .json), a module (a file or URL), NAME (the version in use, or what this program carries) or NAME@VERSION\n" +
			"(in the plugin directory). `parley plugin diff` shows all else that differs.",
		Example: "  parley telemetry diff search search-1.1.0.wasm\n" +
			"  parley telemetry diff search@1.0.0 search@1.1.0\n" +
			"  parley telemetry diff old/manifest.json plugins/collector/search/manifest.json",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := manifests.Open(cmd)
			if err != nil {
				return err
			}
			before, err := d.CollectorManifest(cmd.Context(), args[0])
			if err != nil {
				return fmt.Errorf("compare collectors: %w", err)
			}
			after, err := d.CollectorManifest(cmd.Context(), args[1])
			if err != nil {
				return fmt.Errorf("compare collectors: %w", err)
			}
			diff := comparison{
				side{before.Name, before.Version}, side{after.Name, after.Version}, eventChanges(before, after), host.CompareMetrics(before, after),
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), diff)
			}
			diff.print(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return manifests.Flags(cmd)
}

func eventChanges(before, after *abi.Manifest) []string {
	changes := []string{}
	for _, e := range after.Events {
		if !slices.Contains(before.Events, e) {
			changes = append(changes, "+"+e)
		}
	}
	for _, e := range before.Events {
		if !slices.Contains(after.Events, e) {
			changes = append(changes, "-"+e)
		}
	}
	return changes
}

func (d *comparison) print(w io.Writer) {
	fmt.Fprintf(w, "%s %s → %s %s\n", d.Old.Name, d.Old.Version, d.New.Name, d.New.Version)
	for _, e := range d.Events {
		fmt.Fprintf(w, "%s event %s\n", e[:1], e[1:])
	}
	for _, c := range d.Metrics {
		switch {
		case c.Old == nil:
			fmt.Fprintf(w, "+ %s  %s\n      %s\n", c.Path, c.New.Kind, c.New.Meaning)
		case c.New == nil:
			fmt.Fprintf(w, "- %s  %s\n      %s\n", c.Path, c.Old.Kind, c.Old.Meaning)
		default:
			fmt.Fprintf(w, "~ %s\n", c.Path)
			for _, f := range c.Fields {
				fmt.Fprintf(w, "      %s: %s → %s\n", f.Name, orDash(f.Old), orDash(f.New))
			}
		}
	}
	if len(d.Events)+len(d.Metrics) == 0 {
		fmt.Fprintln(w, "no event and no metric differs")
	}
}

func dashboardCommand(manifests Manifests) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboard COLLECTOR…",
		Short: "Write a dashboard for Grafana of what collectors say",
		Long: "Write a dashboard for Grafana, made of the manifests of collectors: a row for each, a panel for each metric as GET /metrics shows it.\n" +
			"Each is given as to diff. examples/grafana/telemetry.json is that of the shipped ones.",
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
