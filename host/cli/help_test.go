package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpWidth holds the help of each command to the width of a terminal.
func TestHelpWidth(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
				t.Errorf("%s --help has a line of %d characters, want at most 100: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(carryNone))
}
