package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginVerifyCommand() *cobra.Command {
	return cmdutil.JSONFlag(addDeployment(&cobra.Command{
		Use:   "verify",
		Short: "Check every pinned plugin against the lock",
		Long: "Check the file of every pinned version against plugins.lock: hash, name, version, ABI, grants and, where --plugin-public-key is set, its\n" +
			"signature. Prints a line for each; the exit code is 1 if one differs, or there is no plugins.lock. Files that are not pinned are listed and do not count as failures:\n" +
			"a host does not run them.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			items, err := d.Dir.List(d.Embedded)
			if err != nil {
				return err
			}
			unlocked := d.Dir.CheckLock()
			if err := cmdutil.PrintResult(cmd, items, func(out io.Writer) error { return printVerified(out, items) }); err != nil {
				return err
			}
			if unlocked != nil {
				return unlocked
			}
			bad := 0
			for _, i := range items {
				if i.State != deploy.StatePinned && i.State != deploy.StateUnlisted {
					bad++
				}
			}
			if bad > 0 {
				return errors.New(cmdutil.FormatCount(bad, "pinned plugin is", "pinned plugins are") + " not as the lock says")
			}
			return nil
		},
	}))
}

func printVerified(out io.Writer, items []deploy.Item) (err error) {
	for _, i := range items {
		switch i.State {
		case deploy.StatePinned:
			_, err = fmt.Fprintf(out, "ok        %s %s  %s\n", i.Name, i.Version, i.SHA256)
		case deploy.StateUnlisted:
			_, err = fmt.Fprintf(out, "%-9s %s: %s\n", i.State, i.File, i.Reason)
		default:
			_, err = fmt.Fprintf(out, "%-9s %s %s: %s\n", i.State, i.Name, i.Version, i.Reason)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
