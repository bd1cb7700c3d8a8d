package cmdutil

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// FlagJSON is the flag that asks for a result for programs.
const FlagJSON = "json"

// JSONFlag gives cmd the flag for programs.
func JSONFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool(FlagJSON, false, "print the result as JSON")
	return cmd
}

// PrintResult prints what cmd came to: v as JSON where --json asks for that, and
// for people by text.
func PrintResult(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if WantsJSON(cmd) {
		return WriteJSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}

// WantsJSON reports whether cmd was asked for JSON.
func WantsJSON(cmd *cobra.Command) bool {
	asked, err := cmd.Flags().GetBool(FlagJSON)
	return err == nil && asked
}

// WriteJSON prints v for programs and for people.
func WriteJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// FormatCount counts n things.
func FormatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
