// Command parley answers questions over your own documents with the LLM of
// your choice. Every provider is a sandboxed WebAssembly plugin.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-search/parley/host"
)

func main() { os.Exit(program()) }

// program runs until it is done, or a signal ends it.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal ends what is under way in order, a second one at once.
	defer context.AfterFunc(ctx, stop)()
	return run(ctx, takeArguments(os.Args)[1:], os.Stdout, os.Stderr)
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // wrong command line or configuration
)

// A usageError is a mistake in what the operator wrote.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run is the program: it returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "parley:", err)
	_, wrote := errors.AsType[usageError](err)
	_, named := errors.AsType[host.OptionError](err)
	if wrote || named {
		return exitUsage
	}
	return exitFailed
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "parley",
		Short: "Ask your documents questions through the LLM of your choice",
		Long: "Parley answers questions over your own documents with the LLM of your choice.\n" +
			"Every provider is a sandboxed WebAssembly plugin that you can read, pin and replace.",
		Example: "  parley quickstart                     an answer from sample documents, with no key and no model\n" +
			"  parley serve --db-path ./data         the service",
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// Without this a wrong name would print the help and succeed.
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}")
	root.Flags().Bool("version", false, "print the same as parley version")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if near := nearestFlag(cmd, err); near != "" {
			return usageError{fmt.Errorf("%w: did you mean --%s?", err, near)}
		}
		return usageError{fmt.Errorf("%w; `%s --help` lists what there is", err, cmd.CommandPath())}
	})
	root.AddCommand(serveCommand(), quickstartCommand(), pluginCommand(), telemetryCommand(), documentsCommand(),
		archiveCommand("dump", "all data, readable by later versions"), archiveCommand("snapshot", "all data as it is on disk, quick to restore"),
		keyCommand(), benchCommand(), configCommand(), versionCommand(), compileCommand())
	wrapArgs(root)
	return root
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
	return host.NearestName(unknown.GetSpecifiedName(), known)
}

// wrapArgs makes wrong arguments and unknown commands usage errors.
func wrapArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				if !cmd.HasSubCommands() {
					return usageError{fmt.Errorf("the arguments are %q: write `%s`; `%s --help` says more", args, cmd.UseLine(), cmd.CommandPath())}
				}
				var known []string
				for _, sub := range cmd.Commands() {
					if sub.IsAvailableCommand() {
						known = append(known, sub.Name())
					}
				}
				if near := host.NearestName(firstOf(args), known); near != "" {
					return usageError{fmt.Errorf("%w: did you mean %q?", err, near)}
				}
				return usageError{fmt.Errorf("%w; `%s --help` lists what there is", err, cmd.CommandPath())}
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		wrapArgs(sub)
	}
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
