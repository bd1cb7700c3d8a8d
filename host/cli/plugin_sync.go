package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginSyncCommand() *cobra.Command {
	return cmdutil.JSONFlag(addDeployment(&cobra.Command{
		Use:   "sync",
		Short: "Fetch the files that the lock pins",
		Long: "Bring the plugin directory to what its plugins.lock says, as after a checkout of the lock alone. Files that are missing or altered are\n" +
			"fetched from where the lock says that they came from; shipped plugins, which came from no such place, are taken out of this program\n" +
			"or built with Go. Each must have the hash that is pinned. The lock, and so which version is in use, is never changed.\n" +
			"The exit code is 1 where a file could not be had, or there is no lock.",
		Example: "  git pull && parley plugin sync",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			if err := d.Dir.CheckLock(); err != nil {
				return err
			}
			shipped, err := shippedPlugins("*")
			if err != nil {
				return err
			}
			all, err := d.Sync(cmd.Context(), func(name, version string) ([]byte, error) {
				i := slices.IndexFunc(shipped, func(p shippedPlugin) bool { return p.Name == name && p.Version == version })
				if i < 0 {
					return nil, nil
				}
				return shipped[i].module(cmd.Context(), cmd.ErrOrStderr())
			})
			if err != nil {
				return err
			}
			if err := cmdutil.PrintResult(cmd, all, func(out io.Writer) error { return printSynced(out, all) }); err != nil {
				return err
			}
			failed := 0
			for _, s := range all {
				if s.State == deploy.SyncFailed {
					failed++
				}
			}
			if failed > 0 {
				return errors.New(cmdutil.FormatCount(failed, "pinned plugin is", "pinned plugins are") + " not as the lock says")
			}
			return nil
		},
	}, optionPrivate))
}

func printSynced(out io.Writer, all []deploy.Synced) error {
	for _, s := range all {
		var more string
		switch s.State {
		case deploy.SyncFailed:
			more = ": " + s.Reason
		case deploy.SyncKept:
		default:
			more = "  from " + s.From
		}
		if _, err := fmt.Fprintf(out, "%-8s %s %s%s\n", s.State, s.Name, s.Version, more); err != nil {
			return err
		}
	}
	return nil
}
