package telemetry

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// delivery is one of GET /telemetry/deliveries.
type delivery struct {
	At          time.Time
	To, Outcome string
	Taken       bool
	Bytes       int
	Messages    []struct {
		ID, Collector, Version string
		Window                 uint64
	}
}

// what names the messages of d in short: windows with their collectors.
func (d *delivery) what() string {
	var parts []string
	last := uint64(0)
	for _, m := range d.Messages {
		if m.Window != last {
			parts = append(parts, fmt.Sprintf("window %d:", m.Window))
			last = m.Window
		}
		parts = append(parts, m.Collector)
	}
	return strings.Join(parts, " ")
}

func logCommand() *cobra.Command {
	var ids bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print what was delivered when, to where, and what came of it",
		Long: "Print the last 500 attempts to deliver telemetry, the oldest first: when, what came of it, how much, to where, and whose messages.\n" +
			"The log lies with the spool: switching telemetry off removes it.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printAnswer(cmd, "/telemetry/deliveries", func(out io.Writer, page *deliveryList) error { return page.print(out, ids) })
		},
	}
	cmd.Flags().BoolVar(&ids, "ids", false, "the id of each message, too: the one that the platform knows it by")
	return cmdutil.JSONFlag(addFlags(cmd))
}

// deliveryList is what GET /telemetry/deliveries answers.
type deliveryList struct{ Results []delivery }

func (page *deliveryList) print(out io.Writer, ids bool) error {
	if len(page.Results) == 0 {
		_, err := fmt.Fprintln(out, "nothing was sent, nor tried (`parley telemetry status` says where it would go)")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, d := range page.Results {
		fmt.Fprintf(w, "%s\t%s\t%d bytes\t%s\t%s\n", d.At.UTC().Format(time.RFC3339), d.Outcome, d.Bytes, d.To, d.what())
		if ids {
			for _, m := range d.Messages {
				fmt.Fprintf(w, "\t%s %s %s\n", m.ID, m.Collector, m.Version)
			}
		}
	}
	return w.Flush()
}
