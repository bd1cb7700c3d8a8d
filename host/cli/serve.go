package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/setup/config"
)

func serveCommand(carry loadModules) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Long: "Run the service until it is interrupted.\n\n" +
			"It runs the plugins that plugins.lock in the plugin directory pins (`parley plugin install`), exactly as they were pinned, and of other\n" +
			"names those that this program carries, or builds with Go at its first start. What is altered, missing or unlisted is left out, and named in the log and by GET /plugins.\n" +
			"--plugin-lock=off, for development, runs whatever the directory holds.\n\n" +
			"Every option is also an environment variable (" + config.EnvPrefix + "…) and a key of the configuration file:\n" +
			"`parley config explain` shows them with what is in force.",
		Example: "  parley plugin install openai-1.0.0.wasm && parley serve\n" +
			"  parley serve --plugin-dir plugins/dist --plugin-lock=off\n" +
			"  PARLEY_MASTER_KEY=… parley serve --env production --db-path /var/lib/parley",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // who reads the log may go, and the service is not to end with that
			collectEarly()
			c, settings, err := cmdutil.LoadConfig(cmd, nil)
			stderr := cmd.ErrOrStderr()
			hub, noLog := logs.New(stderr, c.LogsMode, c.LogLevel)
			if noLog != nil {
				return cmp.Or(err, noLog)
			}
			if c.LogsMode == logs.JSON {
				stderr = hub.Lines() // who reads the log reads JSON alone
			}
			if err == nil {
				warnOfFlags(stderr, settings)
				err = serveWith(cmd.Context(), c, hub, stderr, carry)
			}
			if err != nil && c.LogsMode == logs.JSON && cmd.Context().Err() == nil {
				log := hub.Logger()
				if e := log.Error(); e.Enabled() { // at --log-level off it is for stderr alone
					e.Err(err).Msg("the service ends")
					return toldError{err}
				}
			}
			return err
		},
	}
	cmdutil.AddOptions(cmd)
	return cmd
}

// serveWith runs a host to its end.
func serveWith(ctx context.Context, c config.Config, hub *logs.Hub, stderr io.Writer, carry loadModules) error {
	if inProgram, _ := hasModules(); !inProgram {
		if err := checkUnused(ctx, c); err != nil {
			return err
		}
	}
	modules, err := carry(ctx, stderr)
	if err != nil {
		return fmt.Errorf("read the plugins of this program: %w", err)
	}
	h, err := host.Open(ctx, c, hostOptions(hub, modules))
	if err != nil {
		return err
	}
	return serveHost(ctx, h)
}

// checkUnused refuses to begin where the address or the data directory is taken already: a
// first start builds plugins before it opens them, which takes a minute.
func checkUnused(ctx context.Context, c config.Config) error {
	if pid, url := cmdutil.RunningIn(ctx, c.DBPath); url != "" {
		return fmt.Errorf("the data directory %s is in use by process %s, which serves %s: stop it, or give another --db-path and --http-addr", c.DBPath, pid, url)
	}
	return checkFree(c.HTTPAddr)
}

// warnOfFlags names the secrets that came by the command line, which shells keep
// and, while a program starts, its neighbours see.
func warnOfFlags(w io.Writer, settings []config.Setting) {
	for _, s := range settings {
		if o := s.Option; o.Secret && s.Origin == "flag --"+o.Name {
			fmt.Fprintf(w, "parley: --%s on the command line can be read by others: use the variable %s or the configuration file\n", o.Name, o.Env())
		}
	}
}
