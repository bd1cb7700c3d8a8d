package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// hostTimeout bounds how long the host may take to answer.
const hostTimeout = 30 * time.Second

// AskHost reads what the running host answers to GET path.
func AskHost(cmd *cobra.Command, path string, into any) error {
	return CallHost(cmd, http.MethodGet, path, nil, into)
}

// CallHost reads what the running host answers to a request, whose body is JSON
// where there is one. The host is where --url or its own options say.
func CallHost(cmd *cobra.Command, method, path string, body, into any) error {
	c, err := LoadOnly(cmd, clientOptions)
	if err != nil {
		return err
	}
	base, err := serviceURL(cmd, c)
	if err != nil {
		return err
	}
	by, err := httpClient(cmd.Flags(), c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), hostTimeout)
	defer cancel()
	host := &Client{URL: base, http: by, Key: c.MasterKey.Reveal(), keyFrom: "--master-key or $" + KeyEnv, nearby: []string{QuickstartData(), c.DBPath}}
	err = host.Call(ctx, method, path, body, into)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the host at %s has not answered within %s: %w", base, hostTimeout, err)
	}
	return err
}
