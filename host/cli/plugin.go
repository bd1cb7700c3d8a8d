package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin"
)

// distDir is where built modules go in a checkout.
const distDir = "plugins/dist"

func pluginCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Build and try plugins, and choose which a deployment runs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(pluginBuildCommand(), pluginPackCommand(), pluginInspectCommand(), pluginTryCommand(), pluginReplayCommand(),
		pluginNewCommand(), pluginCheckCommand(), pluginBenchCommand())
	cmd.AddCommand(pluginInstallCommand(), pluginSyncCommand(), pluginListCommand(), pluginPinCommand(), pluginSourceCommand(), pluginVerifyCommand(), pluginDiffCommand(),
		pluginRollbackCommand(), pluginRemoveCommand())
	cmd.AddCommand(pluginPushCommand(), pluginSaveCommand(), pluginOutdatedCommand(), pluginUpdateCommand(), pluginCacheCommand())
	for _, sub := range cmd.Commands() {
		failStopped(sub)
	}
	return cmd
}

// failStopped makes it an error that a signal ends cmd: it is not done then, and
// a script must not take it for a success.
func failStopped(cmd *cobra.Command) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if err != nil && cmd.Context().Err() != nil {
			return errors.New("a signal ended it before it was done")
		}
		return err
	}
}

func pluginBuildCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "Compile a plugin written in Go and give it its manifest",
		Long: "Compile the Go plugin in DIR with the local toolchain, append DIR/manifest.json to it and write\n" +
			"<name>-<version>.wasm. Nothing is compiled where that file is up to date.",
		Example: "  parley plugin build plugins/provider/vllm",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := plugin.Build(cmd.Context(), args[0], out, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return printFile(cmd, file)
		},
	}
	cmd.Flags().StringVar(&out, "out", distDir, "folder to write to")
	return cmdutil.JSONFlag(cmd)
}

// printFile prints which file cmd wrote.
func printFile(cmd *cobra.Command, file string) error {
	return cmdutil.PrintResult(cmd, map[string]string{"file": file}, func(out io.Writer) error {
		_, err := fmt.Fprintln(out, file)
		return err
	})
}

func pluginPackCommand() *cobra.Command {
	var manifest, out string
	cmd := &cobra.Command{
		Use:   "pack MODULE.wasm",
		Short: "Give a module in any language its manifest",
		Long: "Append a manifest to a core Wasm module, check that the module exports what its kind needs, and write\n" +
			"<name>-<version>.wasm. A manifest that was there is replaced.",
		Example: "  parley plugin pack build/mine.wasm --manifest manifest.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			module, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read module: %w", err)
			}
			m, err := os.ReadFile(manifest)
			if err != nil {
				return fmt.Errorf("read manifest: %w", err)
			}
			packed, err := plugin.Pack(module, m)
			if err != nil {
				return fmt.Errorf("pack %s: %w", args[0], err)
			}
			packedAs, err := plugin.ReadManifest(packed)
			if err != nil {
				return fmt.Errorf("pack %s: %w", args[0], err)
			}
			name := packedAs.Name + "-" + packedAs.Version + ".wasm"
			for _, w := range plugin.ManifestWarnings(m) {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", manifest, w)
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("make folder: %w", err)
			}
			if other := sameButCase(out, name); other != "" {
				return fmt.Errorf("pack %s: %s holds %s, which differs from %s in case alone, and not every file system tells these apart: give this one another version", args[0], out, other, name)
			}
			file := filepath.Join(out, name)
			if err := os.WriteFile(file, packed, 0o644); err != nil {
				return fmt.Errorf("write plugin: %w", err)
			}
			return printFile(cmd, file)
		},
	}
	cmd.Flags().StringVar(&manifest, "manifest", "manifest.json", "the manifest, a JSON file")
	cmd.Flags().StringVar(&out, "out", ".", "folder to write to")
	return cmdutil.JSONFlag(cmd)
}

// sameButCase returns the file of a folder whose name differs from name in case alone.
func sameButCase(folder, name string) string {
	entries, _ := os.ReadDir(folder) // what cannot be read will not be written to
	for _, e := range entries {
		if e.Name() != name && strings.EqualFold(e.Name(), name) {
			return e.Name()
		}
	}
	return ""
}

func pluginInspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "inspect PLUGIN.wasm",
		Short:   "Print what a plugin says of itself and may do, without running it",
		Example: "  parley plugin inspect plugins/dist/vllm-0.1.0.wasm",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			module, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read plugin: %w", err)
			}
			report, err := plugin.Inspect(module)
			if err != nil {
				return fmt.Errorf("inspect %s: %w", args[0], err)
			}
			for _, w := range report.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", args[0], w)
			}
			if report.NeedsHost != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "needs a host from %s on, for %s\n", report.NeedsHost, strings.Join(report.Manifest.Features, ", "))
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(report)
		},
	}
}
