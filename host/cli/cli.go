// Package cli is the program parley: its commands.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host/cli/internal/benchmark"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/cli/internal/documents"
	"github.com/parley-search/parley/host/cli/internal/query"
	"github.com/parley-search/parley/host/cli/internal/telemetry"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/setup/config"
)

// Main runs the program with the arguments of the process, and returns its exit code.
func Main() int { return runProgram(carriedModules) }

// runProgram runs until it is done, or a signal ends it.
func runProgram(carry loadModules) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends what is under way in order, a second one at once.
	defer context.AfterFunc(ctx, stop)()
	return runArguments(ctx, takeArguments(os.Args)[1:], os.Stdout, os.Stderr, carry)
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong command line or configuration
	// exitBlocked is of `guard try`, where the guard blocked the text.
	exitBlocked = 3
	// exitInterrupted is what a shell has for a command that Ctrl-C ended: it then does not run
	// what was to follow.
	exitInterrupted = 130
)

// endless are the commands that run until they are interrupted, also while they start.
var endless = []string{"serve", "quickstart"}

// A toldError is one that the log has already.
type toldError struct{ error }

func (e toldError) Unwrap() error { return e.error }

// loadModules returns the modules that serve runs where no other version is pinned.
// Progress gets lines for a person.
type loadModules func(ctx context.Context, progress io.Writer) ([][]byte, error)

// runArguments is the program: it returns its exit code.
func runArguments(ctx context.Context, args []string, stdout, stderr io.Writer, carry loadModules) int {
	root := rootCommand(carry)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran := root
	err := checkCommand(root, args)
	if err == nil {
		ran, err = root.ExecuteContextC(ctx)
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		if slices.Contains(endless, ran.Name()) {
			return exitOK
		}
		fmt.Fprintln(stderr, "parley: interrupted before it was done")
		return exitInterrupted
	}
	if err == nil {
		return exitOK
	}
	if _, told := errors.AsType[toldError](err); !told {
		fmt.Fprintln(stderr, "parley:", err)
	}
	_, wrote := errors.AsType[cmdutil.UsageError](err)
	_, named := errors.AsType[config.OptionError](err)
	if wrote || named {
		return exitUsage
	}
	if _, blocked := errors.AsType[*blockedText](err); blocked {
		return exitBlocked
	}
	return exitFailed
}

func rootCommand(carry loadModules) *cobra.Command {
	root := &cobra.Command{
		Use:   "parley",
		Short: "Ask your documents questions through the LLM of your choice",
		Long: "Parley answers questions over your own documents with the LLM of your choice.\n" +
			"Every provider is a sandboxed WebAssembly plugin that you can read, pin and replace.",
		Example: "  parley quickstart                     an answer from sample documents, with no key and no model\n" +
			"  parley init ./parley                  a folder with what the service needs\n" +
			"  parley serve --db-path ./data         the service\n" +
			"  parley ask '…' --workspace demo       a question to it",
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without this a wrong name would print the help and succeed.
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print the same as parley version")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if near := nearestFlag(cmd, err); near != "" {
			return cmdutil.UsageError{Err: fmt.Errorf("%w: did you mean --%s?", err, near)}
		}
		return cmdutil.UsageError{Err: fmt.Errorf("%w; `%s --help` lists what there is", err, cmd.CommandPath())}
	})
	root.AddCommand(serveCommand(carry), quickstartCommand(), initCommand(), query.AskCommand(), query.SearchCommand(), query.EvalCommand(), pluginCommand(), telemetry.Command(collectorManifests), documents.Command(), guardCommand(),
		archiveCommand("dump", "all data, readable by later versions"), archiveCommand("snapshot", "all data as it is on disk, quick to restore"),
		clusterCommand(), keyCommand(), benchmark.Command(findModule), configCommand(), healthCommand(), versionCommand(), compileCommand(), endChildrenCommand())
	wrapArgs(root)
	fitHelp(root)
	return root
}

// otherNames are what other programs call our flags.
var otherNames = map[string]string{
	"port": "http-addr", "p": "http-addr", "host": "http-addr", "addr": "http-addr", "address": "http-addr", "listen": "http-addr", "bind": "http-addr",
	"data": "db-path", "data-dir": "db-path", "datadir": "db-path", "config": "config-file-path", "api-key": "api-key-file", "verbose": "log-level", "model": "workspace",
}

// nearestFlag is the flag that was most likely meant, where err is about one
// that does not exist.
func nearestFlag(cmd *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if meant := otherNames[unknown.GetSpecifiedName()]; slices.Contains(known, meant) {
		return meant
	}
	return apierr.Nearest(unknown.GetSpecifiedName(), known)
}

// wrapArgs makes wrong arguments and unknown commands usage errors.
func wrapArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && cmd.HasSubCommands() {
				return unknownCommand(cmd, firstOf(args))
			}
			if name := missingArgument(cmd, args); err != nil && name != "" {
				return cmdutil.UsageError{Err: fmt.Errorf("%s is missing: write `%s`; `%s --help` says more", name, cmd.UseLine(), cmd.CommandPath())}
			}
			if err != nil {
				return cmdutil.UsageError{Err: fmt.Errorf("the arguments are %q: write `%s`; `%s --help` says more", args, cmd.UseLine(), cmd.CommandPath())}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

// missingArgument is the first of what cmd's line of use names that args lack; "": they
// lack none.
func missingArgument(cmd *cobra.Command, args []string) string {
	_, use, _ := strings.Cut(strings.ReplaceAll(cmd.Use, " | ", "|"), " ")
	names := strings.Fields(use)
	if len(args) >= len(names) || strings.HasPrefix(names[len(args)], "[") {
		return ""
	}
	return names[len(args)]
}

// checkCommand finds the command that args name before their flags are read: those
// of a misspelt command would be called unknown, and not the command.
func checkCommand(root *cobra.Command, args []string) error {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	cmd, rest, err := root.Find(args)
	if err == nil && cmd.Name() == "help" {
		cmd, rest, err = root.Find(rest)
	}
	if err != nil || !cmd.HasSubCommands() {
		return nil // Execute says so, or runs it
	}
	name := firstOf(rest)
	if name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, cobra.ShellCompRequestCmd) {
		return nil
	}
	return unknownCommand(cmd, name)
}

// unknownCommand is the error for a name that cmd has no command of.
func unknownCommand(cmd *cobra.Command, name string) error {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	if meant := commandCalled(cmd, name); meant != nil {
		return cmdutil.UsageError{Err: fmt.Errorf("unknown command %q for %q: did you mean %q?", name, cmd.CommandPath(), meant.CommandPath())}
	}
	if near := apierr.Nearest(name, known); near != "" {
		return cmdutil.UsageError{Err: fmt.Errorf("unknown command %q for %q: did you mean %q?", name, cmd.CommandPath(), near)}
	}
	return cmdutil.UsageError{Err: fmt.Errorf("unknown command %q for %q; `%s --help` lists what there is", name, cmd.CommandPath(), cmd.CommandPath())}
}

// otherCommands are what other programs call our commands, by their path below the root.
var otherCommands = map[string]string{
	"serve": "start run server up daemon", "quickstart": "demo try", "ask": "chat query question", "init": "new setup create",
	"plugin install": "add get", "plugin list": "ls show", "plugin remove": "uninstall rm delete del", "plugin new": "create scaffold init", "plugin update": "upgrade",
	"documents import": "add load upload ingest index", "snapshot create": "make save", "dump create": "make save export backup", "config explain": "show list get",
}

// commandCalled returns the command that the name means which cmd has no command of: one
// of cmd by the name that other programs have for it, or one of a group of cmd. nil: none.
func commandCalled(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		_, path, _ := strings.Cut(sub.CommandPath(), " ")
		if slices.Contains(strings.Fields(otherCommands[path]), name) {
			return sub
		}
	}
	var found []*cobra.Command
	for _, group := range cmd.Commands() {
		for _, sub := range group.Commands() {
			if sub.Name() == name && sub.IsAvailableCommand() {
				found = append(found, sub)
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
