package cmdutil

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

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
// for people by text, without what a terminal would obey.
func PrintResult(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if WantsJSON(cmd) {
		return WriteJSON(cmd.OutOrStdout(), v)
	}
	var b strings.Builder
	err := text(&b)
	if _, e := io.WriteString(cmd.OutOrStdout(), StripControls(b.String())); err == nil {
		err = e
	}
	return err
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
