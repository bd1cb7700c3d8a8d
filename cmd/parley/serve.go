package main

import (
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/cmd/parley/internal/cli"
	"github.com/parley-search/parley/host"
)

func serveCommand(carry loadModules) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: "Run the service until it is interrupted.\n\n" +
			"It runs the plugins that plugins.lock in the plugin directory pins (`parley plugin install`), exactly as they were pinned, and of other\n" +
			"names those that this program carries, or builds with Go at its first start. What is altered, missing or unlisted is left out, and named in the log and by GET /plugins.\n" +
			"--plugin-lock=off, for development, runs whatever the directory holds.\n\n" +
			"Every option is also an environment variable (" + host.EnvPrefix + "…) and a key of the configuration file:\n" +
			"`parley config explain` shows them with what is in force.",
		Example: "  parley plugin install openai-1.0.0.wasm && parley serve\n" +
			"  parley serve --plugin-dir plugins/dist --plugin-lock=off\n" +
			"  PARLEY_MASTER_KEY=… parley serve --env production --db-path /var/lib/parley",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // who reads the log may go, and the service is not to end with that
			collectEarly()
			c, settings, err := cli.LoadConfig(cmd, nil)
			if err != nil {
				return err
			}
			warnOfFlags(cmd.ErrOrStderr(), settings)
			modules, err := carry(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return fmt.Errorf("read the plugins of this program: %w", err)
			}
			logs, err := host.OpenLogs(c, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			h, err := host.Open(cmd.Context(), c, hostOptions(logs, modules))
			if err != nil {
				return err
			}
			return serveHost(cmd.Context(), h)
		},
	}
	cli.AddOptions(cmd)
	return cmd
}

// warnOfFlags names the secrets that came by the command line, which shells keep
// and, while a program starts, its neighbours see.
func warnOfFlags(w io.Writer, settings []host.Setting) {
	for _, s := range settings {
		if o := s.Option; o.Secret && s.Origin == "flag --"+o.Name {
			fmt.Fprintf(w, "parley: --%s on the command line can be read by others: use the variable %s or the configuration file\n", o.Name, o.Env())
		}
	}
}
