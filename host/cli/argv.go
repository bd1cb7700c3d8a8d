package cli

import (
	"strings"

	"github.com/parley-search/parley/host/internal/setup/config"
)

// takeArguments returns a copy of a program's arguments, after which the values
// of secret options are gone from the program's own command line, where the
// system lets it write there. It must be the first to see them.
func takeArguments(arguments []string) []string {
	secrets := map[string]bool{}
	for _, o := range config.AllOptions() {
		secrets["--"+o.Name] = o.Secret
	}
	own := make([]string, len(arguments))
	follows := false // the argument is the value of the flag before it
	for i, a := range arguments {
		own[i] = strings.Clone(a)
		name, value, joined := strings.Cut(a, "=")
		switch {
		case follows:
			blankArgument(a)
		case joined && secrets[name]:
			blankArgument(value)
		}
		follows = !follows && !joined && secrets[a]
		arguments[i] = own[i]
	}
	return own
}
