package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
)

// version is the release; a build of a release sets it by the linker.
var version = "0.1.0-dev"

func versionCommand() *cobra.Command {
	return jsonFlag(&cobra.Command{
		Use:   "version",
		Short: "Print the version of the host and of the ABI it speaks",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			revision, date := commit()
			v := map[string]any{
				"version": version, "commit": revision, "commitDate": date, "abi": abi.Version, "minAbi": abi.MinVersion,
				"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			}
			return printResult(cmd, v, func(out io.Writer) error {
				_, err := fmt.Fprint(out, versionText())
				return err
			})
		},
	})
}

// versionText is what `parley version` and `parley --version` print.
func versionText() string {
	revision, date := commit()
	return fmt.Sprintf("parley %s\ncommit %s of %s\nabi %d (runs %d to %d)\n%s %s/%s\n",
		version, revision, date, abi.Version, abi.MinVersion, abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commit is the revision that the binary was built from and when it was made,
// as far as the build recorded it.
func commit() (revision, date string) {
	revision, date = "unknown", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return revision, date
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			date = s.Value
		}
	}
	return revision, date
}

// hostOptions is what every host of this program is given.
func hostOptions(logs *host.Logs, modules [][]byte) host.Options {
	revision, date := commit()
	return host.Options{Logs: logs, Embedded: modules, Compiler: compiler(), Version: version, Commit: revision, CommitDate: date}
}
