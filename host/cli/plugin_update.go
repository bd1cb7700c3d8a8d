package cli

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginOutdatedCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outdated [NAME]",
		Short: "Show which plugins have newer versions in their registries",
		Long: "Ask the registries and layouts that plugins were installed from which versions they have, by tags such as 1.2.0. ALLOWED is the newest\n" +
			"that the constraint in plugins.lock allows (BY), which `parley plugin update` installs; NEWEST is the newest of all. A line below\n" +
			"says which constraint holds a newer version back. Nothing is changed.\n" +
			"The exit code is 1 where one of the places could not be asked.",
		Example: "  parley plugin outdated",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			all, err := d.Outdated(cmd.Context(), first(args))
			if err != nil {
				return err
			}
			if err := cmdutil.PrintResult(cmd, all, func(w io.Writer) error { return printOutdated(w, all) }); err != nil {
				return err
			}
			return countFailed(all)
		},
	}
	return cmdutil.JSONFlag(addDeployment(cmd, optionPrivate))
}

func printOutdated(out io.Writer, all []deploy.Newer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tUSE\tBY\tALLOWED\tNEWEST\tFROM")
	for _, n := range all {
		from := n.From
		if n.Reason != "" {
			from = n.Reason
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", n.Name, n.Use, dashIfEmpty(n.Constraint), dashIfEmpty(n.Allowed), dashIfEmpty(n.Newest), from)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	printHeld(out, all)
	return nil
}

// printHeld says which constraints hold newer versions back.
func printHeld(w io.Writer, all []deploy.Newer) {
	for _, n := range all {
		if n.Held {
			fmt.Fprintf(w, "%s %s is held back by the constraint %s in plugins.lock: `parley plugin pin %s@` drops it\n", n.Name, n.Newest, n.Constraint, n.Name)
		}
	}
}

// countFailed is an error where a place could not be asked.
func countFailed(all []deploy.Newer) error {
	bad := 0
	for _, n := range all {
		if n.Failed {
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	return errors.New("the place of " + cmdutil.FormatCount(bad, "plugin", "plugins") + " could not be asked")
}

func pluginUpdateCommand() *cobra.Command {
	var wishes deploy.InstallOptions
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "update [NAME]",
		Short: "Install the newest allowed versions from where plugins came from",
		Long: "Install the version of plugin NAME, or of each plugin, that `parley plugin outdated` shows as allowed, by the rules of `parley plugin install`:\n" +
			"one that asks for more than the version in use needs --grant, or your confirmation at the terminal. Each is a separate change, which\n" +
			"`parley plugin rollback NAME` undoes; one that fails does not hold up the others. A running host notices the change.",
		Example: "  parley plugin update --dry-run\n" +
			"  parley plugin update openai",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			all, err := d.Outdated(cmd.Context(), first(args))
			if err != nil {
				return err
			}
			if dryRun {
				if err := cmdutil.PrintResult(cmd, all, func(w io.Writer) error { return printOutdated(w, all) }); err != nil {
					return err
				}
				return countFailed(all)
			}
			return update(cmd, d, all, wishes)
		},
	}
	cmd.Flags().BoolVar(&wishes.Grant, "grant", false, grantUsage)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be installed, and change nothing")
	return cmdutil.JSONFlag(addDeployment(cmd, optionPrivate))
}

// update installs what all allow, and prints the changes as one result.
func update(cmd *cobra.Command, d *deploy.Installer, all []deploy.Newer, wishes deploy.InstallOptions) error {
	done := []*deploy.Change{}
	var failed []error
	for _, n := range all {
		if n.Failed {
			failed = append(failed, fmt.Errorf("update plugin %s: %s", n.Name, n.Reason))
		}
		if n.Reference == "" {
			continue
		}
		c, err := acceptChange(cmd, wishes, func(o deploy.InstallOptions) (*deploy.Change, error) {
			return d.Update(cmd.Context(), n, o)
		})
		if err != nil {
			failed = append(failed, err)
			continue
		}
		done = append(done, c)
	}
	err := cmdutil.PrintResult(cmd, done, func(w io.Writer) error {
		for i, c := range done {
			if i > 0 {
				fmt.Fprintln(w)
			}
			printChange(w, c)
		}
		if len(done) == 0 && len(failed) == 0 {
			fmt.Fprintln(w, "no newer version is allowed")
		}
		printHeld(w, all)
		return nil
	})
	return errors.Join(append(failed, err)...)
}

// first is the only argument, where there is one.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
