package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

func compileCommand() *cobra.Command {
	return &cobra.Command{
		Use:    cmdutil.CompileName,
		Short:  "Compile the module on standard input into a cache: the host starts this for itself",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			code, err := host.CompileModule(cmd.Context(), os.Stdin, func() { os.Exit(exitFailed) })
			if err != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "parley: compile module:", err)
				os.Exit(code)
			}
			return nil
		},
	}
}

// serveHost runs h to its end, and reloads its plugins upon SIGHUP.
func serveHost(ctx context.Context, h *host.Host) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-hangup:
				_ = h.Reload(ctx) // which logs its error
			case <-ctx.Done():
				return
			}
		}
	}()
	err := h.Run(ctx)
	cancel()
	signal.Stop(hangup)
	<-ended
	return err
}
