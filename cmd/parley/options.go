package main

import (
	"fmt"
	"maps"
	"os"

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
		preset := map[string]string{"plugin-registry": pluginRegistry}
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
