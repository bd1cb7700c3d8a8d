package cmdutil

import (
	"fmt"
	"maps"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host/internal/setup/config"
)

const (
	FlagConfigFile    = "config-file-path"
	ConfigFileMeaning = "TOML file with options (default " + config.DefaultConfigFile + " where it exists)"
)

// AddOptions gives cmd a flag for every option of the host.
func AddOptions(cmd *cobra.Command) {
	cmd.Flags().String(FlagConfigFile, "", ConfigFileMeaning)
	for _, o := range config.AllOptions() {
		cmd.Flags().String(o.Name, o.Default, fmt.Sprintf("%s: %s", o.Meaning, o.Kind.Allowed))
		cmd.Flags().Lookup(o.Name).NoOptDefVal = o.Bare
		if o.Kind.Name == config.KindSwitch {
			cmd.Flags().Lookup(o.Name).NoOptDefVal = "true"
		}
	}
	cmd.Flags().SortFlags = false
}

// LoadConfig reads the configuration by flags, environment and file. preset
// holds what this command wants where the operator says nothing.
func LoadConfig(cmd *cobra.Command, preset map[string]string) (config.Config, []config.Setting, error) {
	return readConfig(cmd, config.Sources{Preset: preset})
}

// LoadOnly reads the options called names, for a command that needs no others.
func LoadOnly(cmd *cobra.Command, names []string) (config.Config, error) {
	c, _, err := readConfig(cmd, config.Sources{Only: names})
	return c, err
}

// pluginRegistry is the value of --plugin-registry where the operator sets none: the
// build may name one, by -ldflags "-X <path of this package>.pluginRegistry=registry.example.com/parley".
var pluginRegistry string

func readConfig(cmd *cobra.Command, from config.Sources) (config.Config, []config.Setting, error) {
	if pluginRegistry != "" {
		preset := map[string]string{"plugin-registry": pluginRegistry}
		maps.Copy(preset, from.Preset)
		from.Preset = preset
	}
	from.Environ, from.Flags = os.Environ(), map[string]string{}
	from.File, from.FileOrigin = ConfigFile(cmd)
	known := map[string]bool{}
	for _, o := range config.AllOptions() {
		known[o.Name] = true
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if known[f.Name] {
			from.Flags[f.Name] = f.Value.String()
		}
	})
	c, settings, err := config.Load(from)
	if err != nil {
		return c, nil, UsageError{Err: err}
	}
	return c, settings, nil
}

// ConfigFile is the configuration file that the operator names, and where; empty
// where nobody does.
func ConfigFile(cmd *cobra.Command) (path, origin string) {
	if f := cmd.Flags().Lookup(FlagConfigFile); f != nil && f.Changed {
		return f.Value.String(), "flag --" + FlagConfigFile
	}
	if path := os.Getenv(config.EnvConfigFile); path != "" {
		return path, "environment " + config.EnvConfigFile
	}
	return "", ""
}
