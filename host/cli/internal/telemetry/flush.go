package telemetry

import (
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

func flushCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "flush",
		Short: "Deliver what waits, end the window under way, and print what it came to",
		Long: "Have a host send at once what waits to be delivered, as for a day after the platform refused its write key. One that runs in\n" +
			"development also ends its window now, as it does after an hour, and prints the messages: for who writes a collector.\n" +
			"They are kept and delivered like those of any window, and the next one begins. A host with --env production refuses that; there\n" +
			"`parley telemetry show` prints what the window comes to so far.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printCall(cmd, http.MethodPost, "/telemetry/flush", func(w io.Writer, ended *window) error {
				return (&windowList{[]window{*ended}}).print(w, false)
			})
		},
	}))
}
