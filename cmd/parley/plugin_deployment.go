package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

// deploymentOptions are the host's options that a command on the plugin
// directory obeys too.
var deploymentOptions = []string{"plugin-dir", "plugin-public-key"}

// addDeployment gives cmd the flags of deploymentOptions.
func addDeployment(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String(flagConfigFile, "", "TOML file with options (default "+host.DefaultConfigFile+" where it exists)")
	for _, o := range host.AllOptions() {
		if slices.Contains(deploymentOptions, o.Name) {
			cmd.Flags().String(o.Name, o.Default, fmt.Sprintf("%s: %s", o.Meaning, o.Allowed))
		}
	}
	return cmd
}

// deployment is the plugin directory that flags, environment and file name.
func deployment(cmd *cobra.Command) (*host.Deployment, error) {
	c, err := loadOnly(cmd, deploymentOptions)
	if err != nil {
		return nil, err
	}
	modules, err := embeddedModules()
	if err != nil {
		return nil, fmt.Errorf("read embedded plugins: %w", err)
	}
	return host.OpenDeployment(c, modules), nil
}

const grantUsage = "accept grants that are wider than those of the version in use"

// askToGrant runs change and, where it wants wider grants to be accepted and a
// person sits at a terminal, asks that person and runs it again.
func askToGrant(cmd *cobra.Command, grant bool, change func(grant bool) (*host.PluginChange, error)) error {
	c, err := change(grant)
	if widened, ok := errors.AsType[*host.PluginWidened](err); ok && host.IsTerminal(os.Stdin) && host.IsTerminal(os.Stderr) {
		w := widened.Change
		fmt.Fprintf(cmd.ErrOrStderr(), "plugin %s %s asks for more than %s:\n", w.Name, w.Version, widened.Than)
		printGrants(cmd.ErrOrStderr(), "  ", w.Widened)
		fmt.Fprint(cmd.ErrOrStderr(), "Accept that? [y/N] ")
		answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n') // an end is a no
		if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
			c, err = change(true)
		}
	}
	if err != nil {
		return err
	}
	printChange(cmd.OutOrStdout(), c)
	return nil
}

// printChange tells what has come of a version.
func printChange(w io.Writer, c *host.PluginChange) {
	fmt.Fprintf(w, "plugin   %s %s\n", c.Name, c.Version)
	fmt.Fprintf(w, "file     %s\n", c.File)
	fmt.Fprintf(w, "sha256   %s\n", c.SHA256)
	printGrants(w, "grants   ", c.Grants)
	in := c.Use
	switch {
	case c.Before == "":
		in += " (the first)"
	case c.Before != c.Use:
		in += " (before: " + c.Before + ")"
	}
	if c.Constraint != "" {
		in += ", by " + c.Constraint
	}
	fmt.Fprintf(w, "in use   %s\n", in)
	if c.Kept != "" {
		fmt.Fprintf(w, "note     %s\n", c.Kept)
	}
}

// printGrants prints a line for each grant, the first behind head.
func printGrants(w io.Writer, head string, g host.PluginGrants) {
	var lines []string
	for _, s := range g.HTTP {
		lines = append(lines, "requests to "+s)
	}
	for _, s := range g.Secrets {
		lines = append(lines, "the secret "+s)
	}
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	for _, line := range lines {
		fmt.Fprintln(w, head+line)
		head = strings.Repeat(" ", len(head))
	}
}

// dash stands for what is not there in a table.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
