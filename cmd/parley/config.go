package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host"
)

const (
	flagConfigFile    = "config-file-path"
	configFileMeaning = "TOML file with options (default " + host.DefaultConfigFile + " where it exists)"
)

// addOptions gives cmd a flag for every option of the host.
func addOptions(cmd *cobra.Command) {
	cmd.Flags().String(flagConfigFile, "", configFileMeaning)
	for _, o := range host.AllOptions() {
		cmd.Flags().String(o.Name, o.Default, fmt.Sprintf("%s: %s", o.Meaning, o.Kind.Allowed))
		cmd.Flags().Lookup(o.Name).NoOptDefVal = o.Bare
		if o.Kind.Name == host.KindSwitch {
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

// pluginRegistry is the value of --plugin-registry where the operator sets none: the
// build may name one, by -ldflags "-X main.pluginRegistry=registry.example.com/parley".
var pluginRegistry string

func readConfig(cmd *cobra.Command, from host.Sources) (host.Config, []host.Setting, error) {
	if pluginRegistry != "" {
		preset := map[string]string{optionRegistry: pluginRegistry}
		maps.Copy(preset, from.Preset)
		from.Preset = preset
	}
	from.Environ, from.Flags = os.Environ(), map[string]string{}
	from.File, from.FileOrigin = configFile(cmd)
	known := map[string]bool{}
	for _, o := range host.AllOptions() {
		known[o.Name] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if known[f.Name] {
			from.Flags[f.Name] = f.Value.String()
		}
	})
	c, settings, err := host.LoadConfig(from)
	if err != nil {
		return c, nil, usageError{err}
	}
	return c, settings, nil
}

// configFile is the configuration file that the operator names, and where; empty
// where nobody does.
func configFile(cmd *cobra.Command) (path, origin string) {
	if f := cmd.Flags().Lookup(flagConfigFile); f != nil && f.Changed {
		return f.Value.String(), "flag --" + flagConfigFile
	}
	if path := os.Getenv(host.EnvConfigFile); path != "" {
		return path, "environment " + host.EnvConfigFile
	}
	return "", ""
}

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration of the host",
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
			if wantsJSON(cmd) {
				return writeJSON(cmd.OutOrStdout(), explainOptions(cmd, settings))
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "OPTION\tVALUE\tORIGIN\tVARIABLE\tFILE KEY\tMEANING")
			file, origin := configFile(cmd)
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t-\t%s\n", flagConfigFile, cmp.Or(file, "-"), cmp.Or(origin, "default"), host.EnvConfigFile, configFileMeaning)
			for _, s := range settings {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s (%s)\n", s.Option.Name, cmp.Or(s.Value, "-"), s.Origin, s.Option.Env(), s.Option.Key(), s.Option.Meaning, s.Option.Kind.Allowed)
			}
			return w.Flush()
		},
	}
	addOptions(jsonFlag(explain))
	cmd.AddCommand(explain)
	return cmd
}

// explainedOption is an option with what is in force, for programs.
type explainedOption struct {
	Option   string `json:"option"`
	Value    string `json:"value"` // as it is printed: a secret's is hidden
	Origin   string `json:"origin"`
	Variable string `json:"variable"`
	FileKey  string `json:"fileKey,omitempty"`
	Meaning  string `json:"meaning"`
	Allowed  string `json:"allowed,omitempty"`
}

func explainOptions(cmd *cobra.Command, settings []host.Setting) []explainedOption {
	file, origin := configFile(cmd)
	all := []explainedOption{{
		Option: flagConfigFile, Value: file, Origin: cmp.Or(origin, "default"), Variable: host.EnvConfigFile, Meaning: configFileMeaning,
	}}
	for _, s := range settings {
		all = append(all, explainedOption{s.Option.Name, s.Value, s.Origin, s.Option.Env(), s.Option.Key(), s.Option.Meaning, s.Option.Kind.Allowed})
	}
	return all
}
