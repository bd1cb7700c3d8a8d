package cli

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/setup/config"
)

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
			_, settings, err := cmdutil.LoadConfig(cmd, nil)
			if err != nil {
				return err
			}
			if cmdutil.WantsJSON(cmd) {
				return cmdutil.WriteJSON(cmd.OutOrStdout(), explainOptions(cmd, settings))
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "OPTION\tVALUE\tORIGIN\tVARIABLE\tFILE KEY\tMEANING")
			file, origin := cmdutil.ConfigFile(cmd)
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t-\t%s\n", cmdutil.FlagConfigFile, cmp.Or(file, "-"), cmp.Or(origin, "default"), config.EnvConfigFile, cmdutil.ConfigFileMeaning)
			for _, s := range settings {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s (%s)\n", s.Option.Name, cmp.Or(s.Value, "-"), s.Origin, s.Option.Env(), s.Option.Key(), s.Option.Meaning, s.Option.Kind.Allowed)
			}
			return w.Flush()
		},
	}
	cmdutil.AddOptions(cmdutil.JSONFlag(explain))
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

func explainOptions(cmd *cobra.Command, settings []config.Setting) []explainedOption {
	file, origin := cmdutil.ConfigFile(cmd)
	all := []explainedOption{{
		Option: cmdutil.FlagConfigFile, Value: file, Origin: cmp.Or(origin, "default"), Variable: config.EnvConfigFile, Meaning: cmdutil.ConfigFileMeaning,
	}}
	for _, s := range settings {
		all = append(all, explainedOption{s.Option.Name, s.Value, s.Origin, s.Option.Env(), s.Option.Key(), s.Option.Meaning, s.Option.Kind.Allowed})
	}
	return all
}
