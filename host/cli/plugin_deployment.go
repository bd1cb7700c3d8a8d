package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/cli/internal/telemetry"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// deploymentOptions are the host's options that a command on the plugin
// directory obeys too, downloadOptions those that say where it may download from.
var (
	deploymentOptions = []string{"plugin-dir", "plugin-public-key"}
	downloadOptions   = []string{optionPrivate, optionRegistry, "env", "http-addr"}
)

const (
	optionPrivate  = "allow-private-networks"
	optionRegistry = "plugin-registry"
)

// addDeployment gives cmd the flags of deploymentOptions, and of more.
func addDeployment(cmd *cobra.Command, more ...string) *cobra.Command {
	return addNamed(cmd, append(slices.Clone(deploymentOptions), more...))
}

// addNamed gives cmd the flags of the host's options called names, and of the file
// that has them.
func addNamed(cmd *cobra.Command, names []string) *cobra.Command {
	cmd.Flags().String(cmdutil.FlagConfigFile, "", "TOML file with options (default "+config.DefaultConfigFile+" where it exists)")
	for _, o := range config.AllOptions() {
		if slices.Contains(names, o.Name) {
			cmd.Flags().String(o.Name, o.Default, fmt.Sprintf("%s: %s", o.Meaning, o.Kind.Allowed))
		}
	}
	return cmd
}

// openDeployment returns the plugin directory that flags, environment and file name.
func openDeployment(cmd *cobra.Command) (*deploy.Installer, error) {
	c, err := cmdutil.LoadOnly(cmd, slices.Concat(deploymentOptions, downloadOptions))
	if err != nil {
		return nil, err
	}
	modules, err := embeddedModules()
	if err != nil {
		return nil, fmt.Errorf("read embedded plugins: %w", err)
	}
	d := host.OpenInstaller(c, host.Options{Embedded: modules, Compiler: cmdutil.CompilerArgs()})
	d.Try = tellOfTry(d.Try, cmd.ErrOrStderr())
	return d, nil
}

// tellOfTry returns try, which tells a person who has waited for a while what it does.
func tellOfTry(try func(context.Context, []byte) error, w io.Writer) func(context.Context, []byte) error {
	return func(ctx context.Context, module []byte) error {
		name := "plugin"
		if m := manifestOf(module); m != nil {
			name = m.Name + " " + m.Version
		}
		done := make(chan struct{})
		timer := time.AfterFunc(2*time.Second, func() {
			defer close(done)
			fmt.Fprintf(w, "parley: compiling %s and starting it once; on a slow machine this takes a minute or two\n", name)
		})
		defer func() {
			if !timer.Stop() {
				<-done // it may write yet
			}
		}()
		return try(ctx, module)
	}
}

// collectorManifests are those of the plugin directory, and of the rest that a name or
// file may stand for.
var collectorManifests = telemetry.Manifests{
	Flags: func(cmd *cobra.Command) *cobra.Command { return addDeployment(cmd, optionPrivate) },
	Open:  openDeployment,
}

// What the flags do that accept what a plugin may do from now on.
const (
	grantUsage = "accept grants that are wider than those of the version in use"
	takeUsage  = "answer the source in place of the plugin of another name that answers it, with its grants"
)

// askToAccept runs change and, where it wants wider grants or a taken source to be
// accepted and a person sits at a terminal, asks that person and runs it again.
func askToAccept(cmd *cobra.Command, o deploy.InstallOptions, change func(deploy.InstallOptions) (*deploy.Change, error)) error {
	c, err := acceptChange(cmd, o, change)
	if err != nil {
		return err
	}
	return printChanged(cmd, c)
}

// acceptChange is askToAccept without the printing.
func acceptChange(cmd *cobra.Command, o deploy.InstallOptions, change func(deploy.InstallOptions) (*deploy.Change, error)) (*deploy.Change, error) {
	c, err := change(o)
	if logs.IsTerminal(os.Stdin) && logs.IsTerminal(os.Stderr) {
		in := bufio.NewReader(cmd.InOrStdin())
		for err != nil && askPerson(cmd.ErrOrStderr(), in, err, &o) {
			c, err = change(o)
		}
	}
	return c, err
}

// printChanged prints what a command changed about a plugin's version.
func printChanged(cmd *cobra.Command, c *deploy.Change) error {
	return cmdutil.PrintResult(cmd, c, func(w io.Writer) error {
		printChange(w, c)
		return nil
	})
}

// askPerson puts what err wants accepted to a person, and notes a yes in o. It returns
// false where the answer is no, or err is not of that kind.
func askPerson(w io.Writer, in *bufio.Reader, err error, o *deploy.InstallOptions) bool {
	accept := &o.Grant
	if widened, ok := errors.AsType[*deploy.WidenedError](err); ok {
		c := widened.Change
		fmt.Fprintf(w, "plugin %s %s asks for more than %s:\n", c.Name, c.Version, widened.Than)
		printGrants(w, "  ", c.Widened)
	} else if taken, ok := errors.AsType[*deploy.TakenError](err); ok {
		c := taken.Change
		fmt.Fprintf(w, "plugin %s %s is for the source %s, which plugin %s answers. In its place it would get its requests and keys, and may do more than it:\n", c.Name, c.Version, c.Source, c.Owner)
		printGrants(w, "  ", c.Widened)
		accept = &o.TakeSource
	} else {
		return false
	}
	if *accept {
		return false // it was, and the error is still the same
	}
	fmt.Fprint(w, "Accept that? [y/N] ")
	answer, _ := in.ReadString('\n') // an end is a no
	a := strings.ToLower(strings.TrimSpace(answer))
	*accept = a == "y" || a == "yes"
	return *accept
}

// printChange tells what has come of a version.
func printChange(w io.Writer, c *deploy.Change) {
	fmt.Fprintf(w, "plugin   %s %s\n", c.Name, c.Version)
	if c.File != "" {
		fmt.Fprintf(w, "file     %s\n", c.File)
		fmt.Fprintf(w, "sha256   %s\n", c.SHA256)
	}
	if c.From != "" {
		fmt.Fprintf(w, "from     %s\n", c.From)
	}
	printGrants(w, "grants   ", c.Grants)
	printSource(w, c)
	in := c.Use
	switch {
	case c.File == "":
		in = c.Version + " (carried by the binary)"
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

// printSource tells whether the plugin answers its source, and who did before.
func printSource(w io.Writer, c *deploy.Change) {
	switch {
	case c.Source == "":
	case c.Owner == c.Name && c.OwnerBefore != "" && c.OwnerBefore != c.Name:
		fmt.Fprintf(w, "source   %s (before: plugin %s)\n", c.Source, c.OwnerBefore)
		if len(c.Widened.HTTP)+len(c.Widened.Secrets) > 0 {
			printGrants(w, "more     ", c.Widened)
		}
	case c.Owner == c.Name:
		fmt.Fprintf(w, "source   %s\n", c.Source)
	default:
		fmt.Fprintf(w, "source   %s, answered by plugin %s: this one answers only workspaces that name it; `parley plugin source %s %s` gives it the source\n", c.Source, dashIfEmpty(c.Owner), c.Source, c.Name)
	}
}

// printGrants prints a line for each grant, the first behind head.
func printGrants(w io.Writer, head string, g deploy.Grants) {
	var lines []string
	for _, s := range g.HTTP {
		lines = append(lines, "requests to "+s)
	}
	for _, s := range g.Secrets {
		lines = append(lines, "the secret "+s)
	}
	for _, s := range g.Auth {
		lines = append(lines, "signing requests in by "+s)
	}
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	for _, line := range lines {
		fmt.Fprintln(w, head+line)
		head = strings.Repeat(" ", len(head))
	}
}

// dashIfEmpty returns s, or a dash for what is not there in a table.
func dashIfEmpty(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
