package telemetry

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// printAnswer prints what the running host answers to GET path: as it came where
// --json asks for that, and for people by text.
func printAnswer[T any](cmd *cobra.Command, path string, text func(io.Writer, *T) error) error {
	return printCall(cmd, http.MethodGet, path, text)
}

// printCall is printAnswer for any request without a body.
func printCall[T any](cmd *cobra.Command, method, path string, text func(io.Writer, *T) error) error {
	var said json.RawMessage
	if err := cmdutil.CallHost(cmd, method, path, nil, &said); err != nil {
		return err
	}
	if cmdutil.WantsJSON(cmd) {
		return cmdutil.WriteJSON(cmd.OutOrStdout(), said)
	}
	var v T
	if err := json.Unmarshal(said, &v); err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	return text(cmd.OutOrStdout(), &v)
}
