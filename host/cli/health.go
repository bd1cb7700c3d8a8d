package cli

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// healthTimeout is how long a service that is well may take to say so.
const healthTimeout = 5 * time.Second

func healthCommand() *cobra.Command {
	var ready bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask whether the service is well: the exit status is 0 where it is, 1 else",
		Long: "Ask GET /health of the service, or GET /ready, and print its status. The exit status is 0 where the service\n" +
			"says that it is well, and 1 else: for the HEALTHCHECK of an image that has no shell and no curl.",
		Example: "  parley health\n" +
			"  parley health --ready --url https://ask.example.org",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			path := "/health"
			if ready {
				path = "/ready"
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), healthTimeout)
			defer cancel()
			var said struct{ Status string }
			if err := c.Call(ctx, http.MethodGet, path, nil, &said); err != nil {
				return fmt.Errorf("ask %s: %w", path, err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), said.Status)
			return nil
		},
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it takes questions: all plugins run and all indexes are built")
	return cmdutil.AddressFlags(cmd)
}
