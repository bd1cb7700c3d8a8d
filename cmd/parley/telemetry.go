package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

// telemetryOptions are the options of the host that the commands of telemetry
// read: where it listens, who may ask, where its data lies.
var telemetryOptions = []string{"db-path", "http-addr", "master-key", "ssl-cert-path"}

func telemetryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "telemetry",
		Short: "See, redirect, switch off and delete usage telemetry",
		Long: "See, redirect, switch off and delete usage telemetry: anonymous figures that collector plugins make of\n" +
			"numbers, once an hour. status, show and explain ask a running host; on, off and delete change its data directory.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(telemetryStatusCommand(), telemetryShowCommand(), telemetryExplainCommand(), telemetryOffCommand(), telemetryOnCommand(), telemetryDeleteCommand())
	return cmd
}

// telemetryFlags gives cmd the flags of telemetryOptions.
func telemetryFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().String(flagConfigFile, "", "TOML file with options (default "+host.DefaultConfigFile+" where it exists)")
	for _, o := range host.AllOptions() {
		for _, name := range telemetryOptions {
			if o.Name == name {
				cmd.Flags().String(o.Name, o.Default, o.Meaning)
			}
		}
	}
	cmd.Flags().String(flagURL, "", "address of the host, such as https://search.example.com (default: that of --http-addr)")
	cmd.Flags().SortFlags = false
	return cmd
}

const flagURL = "url"

// askHost reads what the running host answers to GET path.
func askHost(cmd *cobra.Command, path string, into any) error {
	c, err := loadOnly(cmd, telemetryOptions)
	if err != nil {
		return err
	}
	base, _ := cmd.Flags().GetString(flagURL) // the command has it
	if base == "" {
		base = "http://" + c.HTTPAddr
		if c.TLS.Cert != "" {
			base = "https://" + c.HTTPAddr
		}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+path, nil)
	if err != nil {
		return usageError{fmt.Errorf("--%s is no address: %w", flagURL, err)}
	}
	if !c.MasterKey.IsZero() {
		req.Header.Set("Authorization", "Bearer "+c.MasterKey.Reveal())
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("ask the host: %w: start it, or say where it is with --http-addr or --%s", errors.Unwrap(err), flagURL)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		var said struct{ Message string }
		_ = json.Unmarshal(b, &said) // what is no JSON has no message
		return fmt.Errorf("the host answers %s: %s (--master-key, or PARLEY_MASTER_KEY, says who asks)", resp.Status, said.Message)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	return nil
}

type telemetryMessage struct {
	Collector, Version, Body string
	Window                   uint64
	Outbound                 bool
}

func telemetryShowCommand() *cobra.Command {
	var next, pending, last, raw bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print what is sent: the window under way, the one before, or what waits",
		Long: "Print the messages of telemetry. Looking changes nothing.\n" +
			"--raw prints the body of the request as it would be sent, byte for byte, and so without what stays on this machine.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			of := "next"
			switch {
			case pending:
				of = "pending"
			case last:
				of = "last"
			}
			var page struct{ Results []telemetryMessage }
			if err := askHost(cmd, "/telemetry/messages?of="+url.QueryEscape(of), &page); err != nil {
				return err
			}
			return showMessages(cmd.OutOrStdout(), page.Results, raw)
		},
	}
	cmd.Flags().BoolVar(&next, "next", false, "the window under way, as it would be sealed now (the default)")
	cmd.Flags().BoolVar(&last, "last", false, "the window before")
	cmd.Flags().BoolVar(&pending, "pending", false, "what is sealed and not delivered yet")
	cmd.Flags().BoolVar(&raw, "raw", false, "the request's body, byte for byte")
	cmd.MarkFlagsMutuallyExclusive("next", "last", "pending")
	return telemetryFlags(cmd)
}

func showMessages(w io.Writer, messages []telemetryMessage, raw bool) error {
	if raw {
		var bodies []string
		for _, m := range messages {
			if m.Outbound {
				bodies = append(bodies, m.Body)
			}
		}
		_, err := fmt.Fprintf(w, `{"batch":[%s]}`, strings.Join(bodies, ","))
		return err
	}
	if len(messages) == 0 {
		_, err := fmt.Fprintln(w, "nothing: no collector has anything to say (`parley telemetry status` tells why)")
		return err
	}
	for _, m := range messages {
		goes := "is sent"
		if !m.Outbound {
			goes = "stays on this machine"
		}
		var body any
		if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
			return fmt.Errorf("read message of collector %s: %w", m.Collector, err)
		}
		pretty, err := json.MarshalIndent(body, "", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "collector %s %s, window %d, %d bytes, %s\n%s\n", m.Collector, m.Version, m.Window, len(m.Body), goes, pretty); err != nil {
			return err
		}
	}
	return nil
}

func telemetryOffCommand() *cobra.Command {
	return telemetryFlags(&cobra.Command{
		Use:   "off",
		Short: "Switch telemetry off, from the next start of the host on",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadOnly(cmd, telemetryOptions)
			if err != nil {
				return err
			}
			if err := host.TelemetrySwitchOff(c.DBPath); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "telemetry is off for %s from the next start of the host on, which also removes what was kept; `parley telemetry on` takes it back\n", c.DBPath)
			return err
		},
	})
}

func telemetryOnCommand() *cobra.Command {
	return telemetryFlags(&cobra.Command{
		Use:   "on",
		Short: "Take back what off did",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadOnly(cmd, telemetryOptions)
			if err != nil {
				return err
			}
			if err := host.TelemetrySwitchOn(c.DBPath); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "telemetry is not switched off for %s any more; other switches hold as they did\n", c.DBPath)
			return err
		},
	})
}

func telemetryDeleteCommand() *cobra.Command {
	return telemetryFlags(&cobra.Command{
		Use:   "delete",
		Short: "Switch telemetry off and delete all of it, and ask for the rest to be deleted",
		Long: "Switch telemetry off, remove what it kept in the data directory, and print the Instance UID that was:\n" +
			"it is the only key to what a platform holds. The host must not run.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadOnly(cmd, telemetryOptions)
			if err != nil {
				return err
			}
			uid, err := host.TelemetryDelete(c.DBPath)
			if err != nil {
				return err
			}
			if uid == "" {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has no Instance UID: nothing was ever collected there; telemetry is off\n", c.DBPath)
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "telemetry is off for %s, and nothing of it is left there.\n"+
				"Where it was sent to a platform, ask whoever runs that, with these words:\n\n"+
				"  Please delete all telemetry of the Parley instance %s.\n", c.DBPath, uid)
			return err
		},
	})
}
