package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/logs"
)

// version is the release, which a build of one sets by the linker.
var version string

// programVersion is the release, or the version that `go install` took.
func programVersion() string {
	return cmp.Or(version, strings.TrimPrefix(installedVersion(), "v"), "0.2.0-dev")
}

// installedVersion is the version that `go install` made this program of, or "".
func installedVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePath || info.Main.Sum == "" {
		return ""
	}
	return info.Main.Version
}

func versionCommand() *cobra.Command {
	return cmdutil.JSONFlag(&cobra.Command{
		Use:   "version",
		Short: "Print the version of the host and of the ABI it speaks",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			revision, date := readCommit()
			v := map[string]any{
				"version": programVersion(), "commit": revision, "commitDate": date, "abi": abi.Version, "minAbi": abi.MinVersion,
				"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
			}
			return cmdutil.PrintResult(cmd, v, func(out io.Writer) error {
				_, err := fmt.Fprint(out, versionText())
				return err
			})
		},
	})
}

// versionText is what `parley version` and `parley --version` print.
func versionText() string {
	revision, date := readCommit()
	return fmt.Sprintf("parley %s\ncommit %s of %s\nabi %d (runs %d to %d)\n%s %s/%s\n",
		programVersion(), revision, date, abi.Version, abi.MinVersion, abi.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// readCommit returns the revision that the binary was built from and when it was made,
// as far as the build recorded it.
func readCommit() (revision, date string) {
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
func hostOptions(logs *logs.Hub, modules [][]byte) host.Options {
	revision, date := readCommit()
	return host.Options{Logs: logs, Embedded: modules, Compiler: cmdutil.CompilerArgs(), Version: programVersion(), Commit: revision, CommitDate: date, NoteCrash: true}
}
