package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginSourceCommand() *cobra.Command {
	var wishes deploy.InstallOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "source [SOURCE NAME]",
		Short: "Show or choose which plugin answers a source",
		Long: "Without arguments, show which plugin answers each source where a workspace names none. With a source and the name of a plugin that\n" +
			"is pinned or carried by the binary, make that one answer it and write that to plugins.lock. One that may reach more than the plugin\n" +
			"that answered until now needs --grant, or your confirmation at the terminal. `parley plugin rollback NAME` undoes it.\n" +
			"A running host notices the change.",
		Example: "  parley plugin source\n" +
			"  parley plugin source openAi acme-openai",
		Args: cobra.MatchAll(cobra.MaximumNArgs(2), func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return fmt.Errorf("say which plugin is to answer the source %s: parley plugin source %s NAME", args[0], args[0])
			}
			return nil
		}),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return askToAccept(cmd, wishes, func(o deploy.InstallOptions) (*deploy.Change, error) {
					return d.Bind(cmd.Context(), args[0], args[1], o.Grant)
				})
			}
			bindings, err := d.Sources()
			if err != nil {
				return err
			}
			if asJSON {
				return cmdutil.WriteJSON(cmd.OutOrStdout(), bindings)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SOURCE\tPLUGIN\tBY\tOTHERS")
			for _, b := range bindings {
				by := "binary"
				if b.Locked || b.Plugin == "" {
					by = "lock"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", b.Source, dashIfEmpty(b.Plugin), by, dashIfEmpty(strings.Join(b.Others, ", ")))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&wishes.Grant, "grant", false, "accept grants that are wider than those of the plugin that answers now")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return addDeployment(cmd)
}
