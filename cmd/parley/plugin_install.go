package main

import (
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

func pluginInstallCommand() *cobra.Command {
	var wishes host.InstallWishes
	cmd := &cobra.Command{
		Use:   "install FILE-or-URL[@SHA256]",
		Short: "Copy a plugin into the plugin directory and pin it",
		Long: "Copy a plugin into the plugin directory as <name>-<version>.wasm and write its hash and its grants to plugins.lock.\n" +
			"It is compiled and started once before, and nothing is kept of one that cannot run. It comes in use where it is the\n" +
			"first of its name, or newer than the version in use and allowed by its constraint; otherwise it is pinned beside it.\n" +
			"A version that asks for more than the one in use is kept only with --grant, or a yes at the terminal.\n" +
			"A running host notices by itself.",
		Example: "  parley plugin install plugins/dist/openai-1.0.0.wasm\n" +
			"  parley plugin install https://plugins.example.com/openai-1.1.0.wasm@5f1c…",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := deployment(cmd)
			if err != nil {
				return err
			}
			return askToGrant(cmd, wishes.Grant, func(grant bool) (*host.PluginChange, error) {
				return d.Install(cmd.Context(), args[0], host.InstallWishes{Grant: grant, Beside: wishes.Beside})
			})
		},
	}
	cmd.Flags().BoolVar(&wishes.Grant, "grant", false, grantUsage)
	cmd.Flags().BoolVar(&wishes.Beside, "beside", false, "pin it beside the version in use, for workspaces whose pluginVersion names it")
	return addDeployment(cmd)
}
