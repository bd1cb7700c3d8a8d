package cli

import (
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginPinCommand() *cobra.Command {
	var wishes deploy.InstallOptions
	cmd := &cobra.Command{
		Use:   "pin NAME[@CONSTRAINT]",
		Short: "Choose which version of a plugin is in use",
		Long: "Take in use the newest version in the plugin directory that the constraint allows, and write version, hash and\n" +
			"constraint to plugins.lock. A constraint is 1.2.3, ~1.2 (1.2.0 or later, below 1.3.0) or ^1 (below 2.0.0). NAME alone resolves\n" +
			"the constraint in the lock again; NAME@ drops it. Versions that were pinned before stay pinned next to the one in use.\n" +
			"A running host notices the change.",
		Example: "  parley plugin pin openai@~1.2",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			return askToAccept(cmd, wishes, func(o deploy.InstallOptions) (*deploy.Change, error) {
				return d.Pin(cmd.Context(), args[0], o)
			})
		},
	}
	cmd.Flags().BoolVar(&wishes.Grant, "grant", false, grantUsage)
	cmd.Flags().BoolVar(&wishes.TakeSource, "take-source", false, takeUsage)
	return cmdutil.JSONFlag(addDeployment(cmd))
}
