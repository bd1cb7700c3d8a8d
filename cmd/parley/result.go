package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

const flagJSON = "json"

// jsonFlag gives cmd the flag for programs.
func jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool(flagJSON, false, "print the result as JSON")
	return cmd
}

// printResult prints what cmd came to: v as JSON where --json asks for that, and
// for people by text.
func printResult(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	if wantsJSON(cmd) {
		return writeJSON(cmd.OutOrStdout(), v)
	}
	return text(cmd.OutOrStdout())
}

func wantsJSON(cmd *cobra.Command) bool {
	asked, err := cmd.Flags().GetBool(flagJSON)
	return err == nil && asked
}

// writeJSON prints v for programs and for people.
func writeJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
