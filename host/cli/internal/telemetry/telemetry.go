// Package telemetry has the commands that show, redirect, switch off and delete
// usage telemetry.
package telemetry

import (
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// hostOptions are the options of the host that the commands of telemetry
// read: where it listens, who may ask, where its data lies, whom to ask to
// delete.
var hostOptions = []string{"db-path", "http-addr", "master-key", "ssl-cert-path", "telemetry-contact"}

// Manifests finds the manifests of collectors, for the command dashboard.
type Manifests struct {
	Flags func(*cobra.Command) *cobra.Command             // gives a command the flags that Open reads
	Open  func(*cobra.Command) (*deploy.Installer, error) // the plugin directory that they name
}

// Command makes the command telemetry.
func Command(manifests Manifests) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "telemetry",
		Short: "See, redirect, switch off and delete usage telemetry",
		Long: "See, redirect, switch off and delete usage telemetry: anonymous figures that collector plugins make of\n" +
			"numbers, once an hour. on, off and delete change a data directory; dashboard reads plugins; all others ask a running host,\n" +
			"which --http-addr or --url names, with --master-key or PARLEY_MASTER_KEY where it has one.",
		Example: "  parley telemetry status               is it on, where does it go, what runs\n" +
			"  parley telemetry show --next --raw    the bytes that would be sent now\n" +
			"  parley telemetry verify               have them sent to this command, and compare\n" +
			"  parley telemetry flush                end the window now, to see what a new collector makes of it\n" +
			"  parley telemetry off                  from the next start of the host on",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(statusCommand(), showCommand(), explainCommand(), verifyCommand(), flushCommand(), logCommand(),
		exportCommand(), dashboardCommand(manifests), offCommand(), onCommand(), deleteCommand())
	return cmd
}

// addFlags gives cmd the flags of hostOptions.
func addFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String(cmdutil.FlagConfigFile, "", "TOML file with options (default "+config.DefaultConfigFile+" where it exists)")
	for _, o := range config.AllOptions() {
		for _, name := range hostOptions {
			if o.Name == name {
				cmd.Flags().String(o.Name, o.Default, o.Meaning)
			}
		}
	}
	cmd.Flags().String(cmdutil.FlagURL, "", "address of the host, such as https://search.example.com (default: that of --http-addr)")
	cmdutil.TLSFlags(cmd.Flags())
	cmd.Flags().SortFlags = false
	return cmd
}
