package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginDiffCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what an upgrade of a plugin changes, without running it",
		Long: "Show what differs between two plugins: grants, settings, limits, events, metrics, size, memory, imports, exports. Each is a file, a URL,\n" +
			"NAME (the version in use) or NAME@VERSION (in the plugin directory). A grant that OLD does not have is marked with !.",
		Example: "  parley plugin diff openai plugins/dist/openai-1.1.0.wasm\n" +
			"  parley plugin diff openai@1.0.0 openai@1.1.0",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			diff, err := d.Diff(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			if asJSON {
				return cmdutil.WriteJSON(cmd.OutOrStdout(), diff)
			}
			printDiff(cmd.OutOrStdout(), diff)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return addDeployment(cmd, optionPrivate)
}

// printDiff shows a line for each change: "! " in front of a grant that came.
func printDiff(w io.Writer, d *deploy.Diff) {
	fmt.Fprintf(w, "%s %s (%.12s) → %s %s (%.12s)\n", d.Old.Name, d.Old.Version, d.Old.SHA256, d.New.Name, d.New.Version, d.New.SHA256)
	widened := slices.Concat(d.Widened.HTTP, d.Widened.Secrets)
	for _, c := range d.Changes {
		_, grant, _ := strings.Cut(c.Path, ".")
		mark := "  "
		if c.Group == "grants" && slices.Contains(widened, grant) {
			mark = "! "
		}
		what := c.Group
		if c.Path != "" {
			what += " " + c.Path
		}
		what, c.Old, c.New = logs.Escape(what), logs.Escape(c.Old), logs.Escape(c.New) // names in a module are its author's
		switch {
		case c.Old == "" && c.New == "yes":
			fmt.Fprintf(w, "%s+ %s\n", mark, what)
		case c.Old == "":
			fmt.Fprintf(w, "%s+ %s: %s\n", mark, what, c.New)
		case c.New == "" && c.Old == "yes":
			fmt.Fprintf(w, "%s- %s\n", mark, what)
		case c.New == "":
			fmt.Fprintf(w, "%s- %s: %s\n", mark, what, c.Old)
		default:
			fmt.Fprintf(w, "%s~ %s: %s → %s\n", mark, what, c.Old, c.New)
		}
	}
	if len(d.Changes) == 0 {
		fmt.Fprintln(w, "  nothing differs")
	}
}
