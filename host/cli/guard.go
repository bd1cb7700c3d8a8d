package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

func guardCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "guard", Short: "Try guards: plugins that see what enters and leaves a conversation"}
	cmd.AddCommand(guardTryCommand())
	return cmd
}

// mostTried bounds a text that is tried, in bytes.
const mostTried = 16 << 20

func guardTryCommand() *cobra.Command {
	var t trial.GuardOptions
	var options []string
	var dir string
	cmd := &cobra.Command{
		Use:   "try NAME|PLUGIN.wasm --stage STAGE [--option NAME=VALUE]",
		Short: "Show what a guard makes of a text",
		Long: "Give the text on standard input to a guard, and print it as it would pass: at the stage question as a user's\n" +
			"message, at passages as the text of a hit, at arguments as the arguments of a call, at answer and reasoning as the\n" +
			"model's. Notes go to standard error. Where the text is blocked, the message goes there, and the exit code is 3.\n\n" +
			"NAME is looked for among the plugins that the binary carries and those of --plugin-dir, and in a checkout among\n" +
			"those that are built from their source.",
		Example: "  echo 'Mail me: ann@example.com' | parley guard try mask --stage question",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(abi.Stages, t.Stage) {
				return cmdutil.UsageError{Err: fmt.Errorf("--stage %q must be one of: %s", t.Stage, strings.Join(abi.Stages, ", "))}
			}
			t.Values = map[string]string{}
			for _, o := range options {
				name, value, ok := strings.Cut(o, "=")
				if !ok {
					return cmdutil.UsageError{Err: fmt.Errorf("--option %q has no =: write it as NAME=VALUE", o)}
				}
				t.Values[name] = value
			}
			text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), mostTried+1))
			if err != nil {
				return fmt.Errorf("read text: %w", err)
			}
			if len(text) > mostTried {
				return fmt.Errorf("the text has more than %d MiB: give a part of it", mostTried>>20)
			}
			t.Compiler, t.CacheDir = cmdutil.CompilerArgs(), cmdutil.CompiledDir()
			module, err := guardModule(cmd, args[0], dir)
			if err != nil {
				return err
			}
			result, err := trial.Guard(cmd.Context(), module, text, t)
			if err != nil {
				return err
			}
			for _, note := range result.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), "note:", note)
			}
			if _, err := cmd.OutOrStdout().Write(result.Text); err != nil {
				return err
			}
			if result.Blocked {
				return &blockedText{result.Message}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&t.Stage, "stage", "", "question, passages, arguments, answer or reasoning")
	f.StringArrayVar(&options, "option", nil, "an option of the guard, NAME=VALUE; may be given again")
	f.StringVar(&dir, "plugin-dir", distDir, "directory of <name>-<version>.wasm files")
	return cmd
}

// A blockedText is how a guard ended a text.
type blockedText struct{ message string }

func (e *blockedText) Error() string { return "blocked: " + e.message }

// guardModule returns the module of a guard: of a file, of the program, or of a
// directory of plugins.
func guardModule(cmd *cobra.Command, name, dir string) ([]byte, error) {
	if strings.HasSuffix(name, ".wasm") {
		module, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read plugin: %w", err)
		}
		return module, nil
	}
	shipped, err := shippedPlugins(abi.KindGuard)
	if err != nil {
		return nil, err
	}
	var names []string
	if !cmd.Flags().Changed("plugin-dir") {
		for _, p := range shipped {
			if p.Name == name {
				return p.module(cmd.Context(), cmd.ErrOrStderr())
			}
			names = append(names, p.Name)
		}
	}
	files, err := sysinfo.Glob(dir, "*.wasm")
	if err != nil {
		return nil, err
	}
	for _, file := range slices.Backward(files) {
		module, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read plugin: %w", err)
		}
		if report, err := plugin.Inspect(module); err == nil && report.Manifest.Kind == abi.KindGuard {
			if report.Manifest.Name == name {
				return module, nil
			}
			names = append(names, report.Manifest.Name)
		}
	}
	return nil, fmt.Errorf("there is no guard %q (here are: %s): name its file, or the folder that holds it by --plugin-dir", name, cmp.Or(strings.Join(names, ", "), "none"))
}
