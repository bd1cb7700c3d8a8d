package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// AskHost reads what the running host answers to GET path.
func AskHost(cmd *cobra.Command, path string, into any) error {
	return CallHost(cmd, http.MethodGet, path, "", into)
}

// CallHost reads what the running host answers to a request, whose body is JSON
// where there is one.
func CallHost(cmd *cobra.Command, method, path, body string, into any) error {
	c, err := LoadOnly(cmd, clientOptions)
	if err != nil {
		return err
	}
	base, _ := cmd.Flags().GetString(FlagURL) // the command has it
	if base == "" {
		base = hostURL(c)
	} else if base, err = ServiceURL(base); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if !c.MasterKey.IsZero() {
		req.Header.Set("Authorization", "Bearer "+c.MasterKey.Reveal())
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the host: %w: start it, or say where it is with --http-addr or --%s", errors.Unwrap(err), FlagURL)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		var said struct{ Message string }
		_ = json.Unmarshal(b, &said) // what is not JSON has no message
		if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
			said.Message += " (--master-key, or PARLEY_MASTER_KEY, says who asks)"
		}
		return fmt.Errorf("the host answers %s: %s", resp.Status, said.Message)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	return nil
}
