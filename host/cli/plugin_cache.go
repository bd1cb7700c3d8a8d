package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/wasm"
)

// cacheOptions are the options of the host that say where compiled plugins are.
var cacheOptions = []string{"plugin-cache-dir"}

func pluginCacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show and remove compiled plugins",
		Long: "Hosts and commands keep compiled plugins, packed, in --plugin-cache-dir. All of it can be made again. What was not used\n" +
			"for 60 days is removed when a host starts, and the rest is kept below 512 MiB.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(pluginCacheListCommand(), pluginCacheCleanCommand())
	return cmd
}

func pluginCacheListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show the compiled plugins that are kept, the last used first",
		Example: "  parley plugin cache list",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := cacheFolder(cmd)
			if err != nil {
				return err
			}
			kept, err := wasm.ListCache(dir)
			if err != nil {
				return fmt.Errorf("list compiled plugins: %w", err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"dir": dir, "modules": kept})
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "MODULE\tKB\tUSED")
			for _, k := range kept {
				fmt.Fprintf(w, "%s\t%d\t%s\n", dashIfEmpty(k.Module), k.Size/1000, k.Used.Format(time.DateTime))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return addNamed(cmd, cacheOptions)
}

func pluginCacheCleanCommand() *cobra.Command {
	var asJSON bool
	var unused time.Duration
	cmd := &cobra.Command{
		Use:     "clean",
		Short:   "Remove compiled plugins; the next start compiles those that it needs",
		Example: "  parley plugin cache clean --unused 168h",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := cacheFolder(cmd)
			if err != nil {
				return err
			}
			removed, err := wasm.CleanCache(dir, unused)
			if err != nil {
				return fmt.Errorf("remove compiled plugins: %w", err)
			}
			size := int64(0)
			for _, k := range removed {
				size += k.Size
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"dir": dir, "removed": len(removed), "bytes": size})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %d compiled modules, %d kB, from %s\n", len(removed), size/1000, dir)
			return err
		},
	}
	cmd.Flags().DurationVar(&unused, "unused", 0, "leave what was used within that time, such as 168h; 0: remove all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return addNamed(cmd, cacheOptions)
}

// cacheFolder is the folder that cmd's options name.
func cacheFolder(cmd *cobra.Command) (string, error) {
	c, err := cmdutil.LoadOnly(cmd, cacheOptions)
	if err != nil {
		return "", err
	}
	dir := host.PluginCacheDir(c)
	if dir == "" {
		return "", fmt.Errorf("the system has no cache folder: name one by --plugin-cache-dir")
	}
	return dir, nil
}
