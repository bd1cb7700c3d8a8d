package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

func pluginRemoveCommand() *cobra.Command {
	return cmdutil.JSONFlag(addDeployment(&cobra.Command{
		Use:   "remove NAME[@VERSION]",
		Short: "Remove a plugin, or one version of it, from the lock and the directory",
		Long: "Take one version of a plugin, or all of them, out of plugins.lock and delete the files. The version in use goes only with all\n" +
			"others. A running host notices the change; streams under way end on the version that they began with.",
		Example: "  parley plugin remove openai@1.0.0\n" +
			"  parley plugin remove openai",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			c, err := d.Remove(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, c, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "removed  %s %s\nin use   %s\n", c.Name, strings.Join(c.Removed, ", "), dashIfEmpty(c.Use))
				return err
			})
		},
	}))
}
