package telemetry

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

// status is what GET /telemetry answers.
type status struct {
	On          bool
	OffBy       string
	InstanceUID string
	SentTo      string
	ElapsedMS   int64
	Engine      struct {
		Window        uint64
		DroppedEvents uint64
		LostEvents    uint64
		Collectors    []struct {
			Name, Version, Off        string
			Outbound                  bool
			Events, Faults            int64
			BadWindows, RefusedEvents int64
		}
		Refused map[string]string
		Failing bool
	}
	Spool struct {
		Pending, Quarantined int
		Bytes, Dropped       int64
	}
	Delivery *struct {
		Delivered, Refused int64
		Last               string
		Next               time.Time
		Stopped            bool
	}
}

func statusCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "status",
		Short: "Print whether telemetry is on, where it goes, and what the collectors do",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printAnswer(cmd, "/telemetry", func(out io.Writer, s *status) error { return s.print(out) })
		},
	}))
}

func (s *status) print(out io.Writer) error {
	if !s.On {
		_, err := fmt.Fprintf(out, "telemetry is off, by %s\n", s.OffBy)
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	sent := s.SentTo
	if sent == "" {
		sent = "nowhere: no --telemetry-url is set, and what is counted is kept here"
	}
	fmt.Fprintf(w, "telemetry\ton\ninstance UID\t%s\nsent to\t%s\n", s.InstanceUID, sent)
	fmt.Fprintf(w, "window\tnumber %d, %s old\n", s.Engine.Window, (time.Duration(s.ElapsedMS) * time.Millisecond).Round(time.Second))
	fmt.Fprintf(w, "events\t%d dropped for want of room, %d lost for want of a collector\n", s.Engine.DroppedEvents, s.Engine.LostEvents)
	fmt.Fprintf(w, "spool\t%d messages to deliver, %d refused by the platform, %d bytes, %d dropped\n", s.Spool.Pending, s.Spool.Quarantined, s.Spool.Bytes, s.Spool.Dropped)
	if s.Engine.Failing {
		fmt.Fprintln(w, "disk\tthe spool takes nothing: the window goes on until it does")
	}
	if d := s.Delivery; d != nil {
		fmt.Fprintf(w, "delivery\t%d messages delivered, %d refused; last: %s\n", d.Delivered, d.Refused, orDash(d.Last))
		switch {
		case d.Stopped:
			fmt.Fprintln(w, "\tstopped until the next start: the platform is gone")
		case d.Next.After(time.Now()):
			fmt.Fprintf(w, "\tthe next request is due at %s\n", d.Next.Format(time.DateTime))
		}
	}
	for _, c := range s.Engine.Collectors {
		state := fmt.Sprintf("%s, %d events, %d faults, %d bad windows", goes(c.Outbound), c.Events, c.Faults, c.BadWindows)
		if c.Off != "" {
			state = "off until the next start " + c.Off
		}
		fmt.Fprintf(w, "collector\t%s %s: %s\n", c.Name, c.Version, state)
	}
	for name, why := range s.Engine.Refused {
		fmt.Fprintf(w, "collector\t%s does not run: %s\n", name, why)
	}
	if len(s.Engine.Collectors) == 0 {
		fmt.Fprintln(w, "collector\tnone runs, so nothing is counted and there is nothing to send; the shipped ones are built at a start\n"+
			"\twhere `go` is in PATH, or installed by their names (`parley plugin list --available`)")
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// metric is what a manifest says of a metric.
type metric struct {
	Collector, Version                                     string
	Path, Kind, Meaning, Source, Note, Aggregation, NoData string
	Nullable, Outbound                                     bool
	Events, Labels                                         []string
	Range                                                  []int64
	Vocabulary, Format                                     string
	By                                                     struct {
		Label, Vocabulary string
		Values            []string
	}
}

func explainCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "explain [PATH]",
		Short: "Print what each metric means, where it comes from, and which collector makes it",
		Long:  "Print what each metric means, or those whose path begins with PATH: from the manifests of the collectors that run.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			prefix := strings.Join(args, "") // one at most
			var page struct{ Results []json.RawMessage }
			if err := cmdutil.AskHost(cmd, "/telemetry/metrics", &page); err != nil {
				return err
			}
			var metrics []metric
			var found []json.RawMessage // as they came
			for _, v := range page.Results {
				var m metric
				if err := json.Unmarshal(v, &m); err != nil {
					return fmt.Errorf("read the host's answer: %w", err)
				}
				if strings.HasPrefix(m.Path, prefix) {
					metrics, found = append(metrics, m), append(found, v)
				}
			}
			if len(found) == 0 {
				return fmt.Errorf("no collector that runs has a metric %s…", prefix)
			}
			return cmdutil.PrintResult(cmd, found, func(out io.Writer) error {
				for _, m := range metrics {
					m.print(out)
				}
				return nil
			})
		},
	}))
}

func (m *metric) print(w io.Writer) {
	kind := m.Kind
	if m.Nullable {
		kind += " or null"
	}
	switch {
	case len(m.Range) == 2:
		kind += fmt.Sprintf(", %d to %d", m.Range[0], m.Range[1])
	case len(m.Labels) > 0:
		kind += " of " + strings.Join(m.Labels, ", ")
	case m.Vocabulary != "":
		kind += " of the vocabulary " + m.Vocabulary
	}
	switch {
	case m.By.Vocabulary != "":
		kind += fmt.Sprintf("; one for each %s, of the vocabulary %s", m.By.Label, m.By.Vocabulary)
	case m.By.Label != "":
		kind += fmt.Sprintf("; one for each %s: %s", m.By.Label, strings.Join(m.By.Values, ", "))
	}
	fmt.Fprintf(w, "%s\n  %s\n  kind       %s\n  rule       %s of %s; without data: %s\n", m.Path, m.Meaning, kind, m.Aggregation, orDash(strings.Join(m.Events, ", ")), m.NoData)
	if m.Source != "" {
		fmt.Fprintf(w, "  source     %s\n", m.Source)
	}
	if m.Note != "" {
		fmt.Fprintf(w, "  note       %s\n", m.Note)
	}
	fmt.Fprintf(w, "  collector  %s %s\n", m.Collector, m.Version)
}
