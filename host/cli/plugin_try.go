package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/setup/trial"
)

func pluginTryCommand() *cobra.Command {
	var t trial.TryOptions
	var question, model string
	var options []string
	cmd := &cobra.Command{
		Use:   "try PLUGIN.wasm --chat TEXT [--option NAME=VALUE] [--send]",
		Short: "Show what a provider plugin makes of a question: request, events, records",
		Long: "Ask a provider plugin a question as a host would, and print what goes in and out: the request that it describes,\n" +
			"and with --send each event of the response with the records that become of it, over all steps and rounds.\n\n" +
			"--option sets a workspace's option or setting, such as region or baseUrl. Of a secret give the name of a\n" +
			"variable, which no list of processes shows: --option apiKey=env:OPENAI_API_KEY. No secret is printed.",
		Example: "  parley plugin try dist/acme-0.1.0.wasm --chat Hello --option region=eu\n" +
			"  parley plugin try dist/acme-0.1.0.wasm --chat Hello --option apiKey=env:ACME_KEY --send",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			module, err := os.ReadFile(args[0])
			if err != nil {
				return fmt.Errorf("read plugin: %w", err)
			}
			t.Values = map[string]string{}
			for _, o := range options {
				name, value, ok := strings.Cut(o, "=")
				if !ok {
					return cmdutil.UsageError{Err: fmt.Errorf("--option %q has no =: write it as NAME=VALUE", o)}
				}
				if variable, ok := strings.CutPrefix(value, "env:"); ok {
					if value = os.Getenv(variable); value == "" {
						return cmdutil.UsageError{Err: fmt.Errorf("--option %s: the variable %s is not set", name, variable)}
					}
				}
				t.Values[name] = value
			}
			t.Chat, err = json.Marshal(map[string]any{"model": model, "stream": true, "messages": []any{map[string]string{"role": "user", "content": question}}})
			if err != nil {
				return err
			}
			t.Compiler, t.CacheDir = cmdutil.CompilerArgs(), cmdutil.CompiledDir()
			if err := trial.Try(cmd.Context(), module, t, cmd.OutOrStdout()); err != nil {
				return fmt.Errorf("try %s: %w", args[0], err)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&question, "chat", "Hello", "the question")
	f.StringVar(&model, "model", "model", "name of the model")
	f.StringArrayVar(&options, "option", nil, "an option or setting of the workspace, NAME=VALUE or NAME=env:VARIABLE; may be given again")
	f.BoolVar(&t.Send, "send", false, "send what the plugin describes")
	return cmd
}
