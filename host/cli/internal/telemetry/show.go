package telemetry

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

type message struct {
	ID, Collector, Version, Body string
	Window                       uint64
	Outbound                     bool
}

// goes says whether what a collector says may leave the machine, in the words that the
// console has, too.
func goes(outbound bool) string {
	if outbound {
		return "sent if --telemetry-url is set"
	}
	return "stays here"
}

// messageList is what GET /telemetry/messages answers.
type messageList struct {
	Results  []message
	Requests []string
}

// window is one of GET /telemetry/windows.
type window struct {
	Window   uint64
	Sealed   time.Time
	Messages []message
	Requests []string
}

func showCommand() *cobra.Command {
	var next, pending, raw bool
	var last int
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print what is counted, and what of it would be sent",
		Long: "Print the messages of telemetry. Looking changes nothing.\n" +
			"--raw prints the bodies of the requests as they would be sent, byte for byte, one a line, and so without what stays on this machine.",
		Example: "  parley telemetry show                 the window under way, readable\n" +
			"  parley telemetry show --next --raw    the same as it would be sent\n" +
			"  parley telemetry show --last 24       the last 24 windows, delivered or not",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("last") {
				if last < 1 {
					return cmdutil.UsageError{Err: fmt.Errorf("--last is %d: want how many windows, 1 or more", last)}
				}
				return showLast(cmd, last, raw)
			}
			of := "next"
			if pending {
				of = "pending"
			}
			return printAnswer(cmd, "/telemetry/messages?of="+url.QueryEscape(of), func(out io.Writer, page *messageList) error {
				if raw {
					return showRequests(out, page.Requests)
				}
				return showMessages(out, page.Results)
			})
		},
	}
	cmd.Flags().BoolVar(&next, "next", false, "the window under way, as it would be sealed now (the default)")
	cmd.Flags().IntVar(&last, "last", 0, "the last `N` windows that are over, delivered or not, the newest first")
	cmd.Flags().BoolVar(&pending, "pending", false, "what is sealed and not delivered yet")
	cmd.Flags().BoolVar(&raw, "raw", false, "the requests' bodies, byte for byte")
	cmd.MarkFlagsMutuallyExclusive("next", "last", "pending")
	cmdutil.JSONFlag(addFlags(cmd))
	cmd.MarkFlagsMutuallyExclusive("raw", cmdutil.FlagJSON)
	return cmd
}

func showLast(cmd *cobra.Command, last int, raw bool) error {
	return printAnswer(cmd, fmt.Sprintf("/telemetry/windows?limit=%d", last), func(w io.Writer, page *windowList) error { return page.print(w, raw) })
}

// windowList is what GET /telemetry/windows answers.
type windowList struct{ Results []window }

func (page *windowList) print(w io.Writer, raw bool) error {
	if raw {
		var requests []string
		for _, window := range page.Results {
			requests = append(requests, window.Requests...)
		}
		return showRequests(w, requests)
	}
	if len(page.Results) == 0 {
		_, err := fmt.Fprintln(w, "nothing: no window has ended yet (`parley telemetry status` says how old the one under way is)")
		return err
	}
	for _, window := range page.Results {
		if _, err := fmt.Fprintf(w, "window %d, sealed at %s\n", window.Window, window.Sealed.UTC().Format(time.RFC3339)); err != nil {
			return err
		}
		if err := showMessages(w, window.Messages); err != nil {
			return err
		}
	}
	return nil
}

// showRequests prints bodies as they are sent: the only one with not a byte
// around it.
func showRequests(w io.Writer, requests []string) error {
	_, err := io.WriteString(w, strings.Join(requests, "\n"))
	return err
}

func showMessages(w io.Writer, messages []message) error {
	if len(messages) == 0 {
		_, err := fmt.Fprintln(w, "nothing: no collector has anything to say (`parley telemetry status` tells why)")
		return err
	}
	for _, m := range messages {
		pretty, err := indentBody(m.Body)
		if err != nil {
			return fmt.Errorf("read message of collector %s: %w", m.Collector, err)
		}
		if _, err := fmt.Fprintf(w, "collector %s %s, window %d, %d bytes, %s\n%s\n", m.Collector, m.Version, m.Window, len(m.Body), goes(m.Outbound), pretty); err != nil {
			return err
		}
	}
	return nil
}

// indentBody makes a message readable.
func indentBody(body string) (string, error) {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return "", err
	}
	b, err := json.MarshalIndent(v, "", "  ")
	return string(b), err
}
