package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host"
)

const flagConfigFile = "config-file-path"

// addOptions gives cmd a flag for every option of the host.
func addOptions(cmd *cobra.Command) {
	cmd.Flags().String(flagConfigFile, "", "TOML file with options (default "+host.DefaultConfigFile+" where it exists)")
	for _, o := range host.AllOptions() {
		cmd.Flags().String(o.Name, o.Default, fmt.Sprintf("%s: %s", o.Meaning, o.Allowed))
		cmd.Flags().Lookup(o.Name).NoOptDefVal = o.Bare
		if o.Switch {
			cmd.Flags().Lookup(o.Name).NoOptDefVal = "true"
		}
	}
	cmd.Flags().SortFlags = false
}

// loadConfig reads the configuration by flags, environment and file. preset
// holds what this command wants where the operator says nothing.
func loadConfig(cmd *cobra.Command, preset map[string]string) (host.Config, []host.Setting, error) {
	return readConfig(cmd, host.Sources{Preset: preset})
}

// loadOnly reads the options called names, for a command that needs no others.
func loadOnly(cmd *cobra.Command, names []string) (host.Config, error) {
	c, _, err := readConfig(cmd, host.Sources{Only: names})
	return c, err
}

func readConfig(cmd *cobra.Command, from host.Sources) (host.Config, []host.Setting, error) {
	from.Environ, from.Flags = os.Environ(), map[string]string{}
	from.File = os.Getenv(host.EnvPrefix + "CONFIG_FILE_PATH")
	known := map[string]bool{}
	for _, o := range host.AllOptions() {
		known[o.Name] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Name == flagConfigFile:
			from.File = f.Value.String()
		case known[f.Name]:
			from.Flags[f.Name] = f.Value.String()
		}
	})
	c, settings, err := host.LoadConfig(from)
	if err != nil {
		return c, nil, usageError{err}
	}
	return c, settings, nil
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show what the host is configured with",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	explain := &cobra.Command{
		Use:   "explain",
		Short: "Print every option with its value, its origin and its meaning",
		Long: "Print every option with its value, its origin and its meaning.\n" +
			"Strongest first: flag, environment variable, configuration file, default.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, settings, err := loadConfig(cmd, nil)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "OPTION\tVALUE\tORIGIN\tVARIABLE\tFILE KEY\tMEANING")
			for _, s := range settings {
				value := s.Value
				if value == "" {
					value = "-"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s (%s)\n", s.Option.Name, value, s.Origin, s.Option.Env(), s.Option.Key(), s.Option.Meaning, s.Option.Allowed)
			}
			return w.Flush()
		},
	}
	addOptions(explain)
	cmd.AddCommand(explain)
	return cmd
}
