package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

func pluginInstallCommand() *cobra.Command {
	var wishes host.InstallWishes
	var wait bool
	cmd := &cobra.Command{
		Use:   "install FILE-or-URL[@SHA256]",
		Short: "Copy a plugin into the plugin directory and pin it",
		Long: "Copy a plugin into the plugin directory as <name>-<version>.wasm and write its hash and its grants to plugins.lock.\n" +
			"It is compiled and started once before, and nothing is kept of one that cannot run. It comes in use where it is the\n" +
			"first of its name, or newer than the version in use and allowed by its constraint; otherwise it is pinned beside it.\n" +
			"A version that asks for more than the one in use is kept only with --grant, or a yes at the terminal. One whose source the plugin\n" +
			"of another name answers takes its place only with --take-source, or a yes; --beside leaves the source where it is.\n" +
			"A running host notices by itself; --wait returns once it serves the version, or says why it does not.\n" +
			"URLs are downloaded without a proxy, and by the rule that the host's own requests obey: private addresses as\n" +
			"--allow-private-networks says, link-local and metadata addresses never.",
		Example: "  parley plugin install plugins/dist/openai-1.0.0.wasm\n" +
			"  parley plugin install https://plugins.example.com/openai-1.1.0.wasm@5f1c…",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := deployment(cmd)
			if err != nil {
				return err
			}
			var done *host.PluginChange
			err = askToAccept(cmd, wishes, func(o host.InstallWishes) (_ *host.PluginChange, err error) {
				done, err = d.Install(cmd.Context(), args[0], o)
				return done, err
			})
			if err != nil || !wait {
				return err
			}
			return awaitPlugin(cmd, done)
		},
	}
	cmd.Flags().BoolVar(&wishes.Grant, "grant", false, grantUsage)
	cmd.Flags().BoolVar(&wishes.TakeSource, "take-source", false, takeUsage)
	cmd.Flags().BoolVar(&wishes.Beside, "beside", false, "pin it beside what is in use, for workspaces that name it or its version")
	cmd.Flags().BoolVar(&wait, "wait", false, "return when the running host serves the version, or say why it does not")
	cmd.Flags().String("http-addr", "", "with --wait: address of the running host (default that of the configuration)")
	cmd.Flags().String("master-key", "", "with --wait: the running host's master key")
	cmd.Flags().String(flagURL, "", "with --wait: address of the host, such as https://search.example.com")
	return jsonFlag(addDeployment(cmd, optionPrivate))
}

// awaitPlugin has the running host take up what its directory says, and returns once
// the version that c tells of runs there.
func awaitPlugin(cmd *cobra.Command, c *host.PluginChange) error {
	var reloaded struct {
		Refused []struct{ Name, Version, Error string }
	}
	if err := callHost(cmd, http.MethodPost, "/plugins/reload", "", &reloaded); err != nil {
		return fmt.Errorf("plugin %s %s is installed, and whether a host serves it is not known: %w", c.Name, c.Version, err)
	}
	for _, r := range reloaded.Refused {
		if r.Name == c.Name && r.Version == c.Version {
			return fmt.Errorf("plugin %s %s is installed, and the host refuses it: %s", c.Name, c.Version, r.Error)
		}
	}
	var running struct {
		Results []struct{ Name, Version, SHA256, State string }
	}
	if err := askHost(cmd, "/plugins", &running); err != nil {
		return err
	}
	for _, p := range running.Results {
		if p.Name == c.Name && p.Version == c.Version && p.SHA256 == c.SHA256 && p.State == "ready" {
			if wantsJSON(cmd) {
				return nil // the change is the result, and the exit code says that it is served
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "serves   %s %s\n", p.Name, p.Version)
			return err
		}
	}
	return fmt.Errorf("plugin %s %s is installed, and the host does not run it: does it have the same --plugin-dir?", c.Name, c.Version)
}
