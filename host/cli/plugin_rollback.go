package cli

import (
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

func pluginRollbackCommand() *cobra.Command {
	return cmdutil.JSONFlag(addDeployment(&cobra.Command{
		Use:   "rollback NAME",
		Short: "Undo the last change of a plugin",
		Long: "Take the version in use again that was in use before the last install, pin or rollback changed it, and give a source back that the\n" +
			"plugin took. The version that is left stays pinned, so that a second rollback undoes the first. A running host notices the change.",
		Example: "  parley plugin rollback openai",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			c, err := d.Rollback(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return printChanged(cmd, c)
		},
	}))
}
