package cli

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
)

func pluginListCommand() *cobra.Command {
	var asJSON, available bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show which plugins are pinned, and whether their files are intact",
		Long: "Show what plugins.lock pins and what else is in the plugin directory. In the column USE, * is the version in use, < the one that\n" +
			"a rollback takes in use. OWNER is the plugin that answers the source where a workspace names none. Plugins that the binary carries are not listed; GET /plugins of a running host shows them too.\n" +
			"--available lists the plugins that `parley plugin install NAME` finds, and from where.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := openDeployment(cmd)
			if err != nil {
				return err
			}
			if available {
				return listAvailable(cmd, d, asJSON)
			}
			items, err := d.Dir.List(d.Embedded)
			if err != nil {
				return err
			}
			if asJSON {
				return cmdutil.WriteJSON(cmd.OutOrStdout(), items)
			}
			return printItems(cmd.OutOrStdout(), items)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the whole hashes and the reasons")
	cmd.Flags().BoolVar(&available, "available", false, "list what can be installed by name")
	return addDeployment(cmd, optionRegistry)
}

// An availablePlugin is one that can be installed by its name.
type availablePlugin struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // empty where the registry says
	Kind    string `json:"kind"`
	Source  string `json:"source,omitempty"` // of a provider
	From    string `json:"from"`
}

// listAvailable prints what `parley plugin install NAME` finds.
func listAvailable(cmd *cobra.Command, d *deploy.Installer, asJSON bool) error {
	plugins, err := shippedPlugins("*")
	if err != nil {
		return err
	}
	var list []availablePlugin
	for _, p := range plugins {
		a := availablePlugin{p.Name, p.Version, p.Kind, p.Source, "this program"}
		if d.Dir.Registry != "" {
			a.From, a.Version = "the registry", "" // which has versions of its own
		} else if module, err := p.embedded(); err != nil {
			return err
		} else if module == nil {
			a.From = "its sources in this program, built with go"
		}
		list = append(list, a)
	}
	if asJSON {
		return cmdutil.WriteJSON(cmd.OutOrStdout(), list)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tKIND\tSOURCE\tFROM")
	for _, a := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", a.Name, dashIfEmpty(a.Version), a.Kind, dashIfEmpty(a.Source), a.From)
	}
	return w.Flush()
}

func printItems(out io.Writer, items []deploy.Item) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tUSE\tBY\tKIND\tSOURCE\tOWNER\tABI\tSHA256\tSTATE\tGRANTS")
	for _, i := range items {
		use := ""
		switch {
		case i.Use:
			use = "*"
		case i.Before:
			use = "<"
		}
		name := i.Name
		if name == "" {
			name = i.File
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.12s\t%s\t%s\n",
			name, dashIfEmpty(i.Version), dashIfEmpty(use), dashIfEmpty(i.Constraint), dashIfEmpty(i.Kind), dashIfEmpty(i.Source), dashIfEmpty(i.Owner), i.ABI, dashIfEmpty(i.SHA256), i.State, i.Grants)
	}
	return w.Flush()
}
