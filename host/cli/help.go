package cli

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is how many characters a line of help has at most.
const helpWidth = 100

// fitHelp wraps the help of root and of all commands below it.
func fitHelp(root *cobra.Command) {
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", "FlagUsagesWrapped 100"))
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Long = fill(cmd.Long)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

// fill breaks the lines of each paragraph of text anew. A paragraph ends at an empty line; lines that
// are indented stay as they are.
func fill(text string) string {
	var out strings.Builder
	at := 0 // characters in the line under way
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || line[0] == ' ' {
			if at > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(line)
			at = 0
			continue
		}
		for _, word := range words {
			n := utf8.RuneCountInString(word)
			switch {
			case at > 0 && at+1+n > helpWidth:
				out.WriteByte('\n')
				at = 0
			case at > 0:
				out.WriteByte(' ')
				at++
			}
			out.WriteString(word)
			at += n
		}
	}
	return out.String()
}
