package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
)

// archiveCommand is `parley dump` or `parley snapshot`.
func archiveCommand(kind, what string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   kind,
		Short: fmt.Sprintf("Make, check and restore a %s: %s", kind, what),
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(archiveCreateCommand(kind), archiveInspectCommand(kind), archiveRestoreCommand(kind))
	return cmd
}

func archiveCreateCommand(kind string) *cobra.Command {
	var c creation
	cmd := &cobra.Command{
		Use:   "create",
		Short: fmt.Sprintf("Ask a running service for a %s and wait for it", kind),
		Long: fmt.Sprintf("Ask a running service for a %[1]s and wait until it is written, and checked. It goes to the service's\n"+
			"--%[1]s-dir. The exit status is 0 where it succeeded.", kind),
		Example: "  parley " + kind + " create --url http://127.0.0.1:7700",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.key = cmp.Or(c.key, os.Getenv(keyEnv))
			var err error
			if c.url, err = serviceURL(c.url); err != nil {
				return err
			}
			return c.run(cmd.Context(), kind, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&c.url, "url", defaultURL, "address of the service")
	cmd.Flags().StringVar(&c.key, "key", "", "API key that allows "+kind+"s.create and tasks.get (default: $"+keyEnv+")")
	return cmd
}

// A creation is a dump or snapshot that is asked for.
type creation struct{ url, key string }

func (c creation) run(ctx context.Context, kind string, out io.Writer) error {
	var t struct {
		TaskUID  *uint32
		Status   string
		Duration string
		Details  struct{ DumpUID string }
		Error    struct{ Message, Code string }
	}
	if err := c.call(ctx, http.MethodPost, "/"+kind+"s", &t); err != nil {
		return err
	}
	if t.TaskUID == nil {
		return fmt.Errorf("%s answers without a task: is it a parley service?", c.url)
	}
	uid := *t.TaskUID
	for t.Status == "enqueued" || t.Status == "processing" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		if err := c.call(ctx, http.MethodGet, fmt.Sprintf("/tasks/%d", uid), &t); err != nil {
			return err
		}
	}
	if t.Status != "succeeded" {
		return fmt.Errorf("task %d %s: %s (%s)", uid, t.Status, t.Error.Message, t.Error.Code)
	}
	_, err := fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%s made in %s %s", kind, strings.TrimPrefix(t.Duration, "PT"), t.Details.DumpUID)))
	return err
}

func (c creation) call(ctx context.Context, method, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, http.NoBody)
	if err != nil {
		return err
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no service answers: %w", err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s answers %d: %s", method, path, res.StatusCode, bytes.TrimSpace(b))
	}
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	return err
}

func archiveInspectCommand(kind string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Check a file to its end and print what is in it",
		Long: fmt.Sprintf("Read a %s to its end, check that it is whole and as it was written, and print what is in it. The exit\n"+
			"status is 0 where it can be restored by this version, as far as the file says.", kind),
		Example: "  parley " + kind + " inspect backup." + kind,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := host.InspectArchive(args[0])
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				e := json.NewEncoder(out)
				e.SetIndent("", "  ")
				return e.Encode(c)
			}
			fmt.Fprintf(out, "%s of %s, made by version %s, data format %s: whole\n", c.Kind, c.CreatedAt.Format(time.RFC3339), c.Version, c.Data)
			w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			for _, s := range c.Streams {
				fmt.Fprintf(w, "  %s\t%s\n", s.Name, humanize.IBytes(uint64(s.Bytes)))
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func archiveRestoreCommand(kind string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data directory from a file, while no service runs on it",
		Long: fmt.Sprintf("Make the data directory (--db-path) from a %s. There must be no database in it yet. It comes into its place\n"+
			"whole or not at all. `parley serve --import-%[1]s FILE` does the same and goes on serving.", kind),
		Example: "  parley " + kind + " restore backup." + kind + " --db-path ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := loadConfig(cmd, nil)
			if err != nil {
				return err
			}
			if err := host.RestoreArchive(cmd.Context(), c, kind, args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "restored to %s\n", c.DBPath)
			return err
		},
	}
	addOptions(cmd)
	return cmd
}
