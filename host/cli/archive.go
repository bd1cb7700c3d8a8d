package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/meilidump"
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
	cmd := &cobra.Command{
		Use:   "create",
		Short: fmt.Sprintf("Ask a running service for a %s and wait for it", kind),
		Long: fmt.Sprintf("Ask a running service for a %[1]s and wait until it is written, and checked. It goes to the service's\n"+
			"--%[1]s-dir. The exit status is 0 where it succeeded.", kind),
		Example: "  parley " + kind + " create --url http://127.0.0.1:7700",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			return createArchive(cmd, c, kind)
		},
	}
	return cmdutil.JSONFlag(cmdutil.ClientFlags(cmd, kind+"s.create and tasks.get"))
}

// createArchive asks for a dump or snapshot, and waits for it.
func createArchive(cmd *cobra.Command, c *cmdutil.Client, kind string) error {
	task, err := c.Finish(cmd.Context(), http.MethodPost, "/"+kind+"s", nil)
	if err != nil {
		return err
	}
	var t struct {
		UID      uint32
		Duration string
		Details  struct{ DumpUID string }
	}
	if err := json.Unmarshal(task, &t); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	return cmdutil.PrintResult(cmd, task, func(out io.Writer) error {
		took, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(t.Duration, "PT")))
		if err != nil {
			return fmt.Errorf("read how long task %d took: %w", t.UID, err)
		}
		_, err = fmt.Fprintln(out, strings.TrimSpace(fmt.Sprintf("%s made in %s %s", kind, took.Round(time.Millisecond), t.Details.DumpUID)))
		return err
	})
}

func archiveInspectCommand(kind string) *cobra.Command {
	return cmdutil.JSONFlag(&cobra.Command{
		Use:   "inspect FILE",
		Short: "Check a file to its end and print what is in it",
		Long: fmt.Sprintf("Read a %s to its end, check that it is whole and as it was written, and print what is in it. The exit\n"+
			"status is 0 where it can be restored by this version, as far as the file says.", kind),
		Example: "  parley " + kind + " inspect backup." + kind,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := backup.Inspect(context.Background(), args[0])
			if err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, c, func(out io.Writer) error {
				fmt.Fprintf(out, "%s of %s, made by version %s, data format %s: whole\n", c.Kind, c.CreatedAt.Format(time.RFC3339), logs.Escape(c.Version), c.Data)
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				for _, s := range c.Streams {
					fmt.Fprintf(w, "  %s\t%s\n", logs.Escape(s.Name), humanize.IBytes(uint64(s.Bytes)))
				}
				return w.Flush()
			})
		},
	})
}

func archiveRestoreCommand(kind string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data directory from a file, while no service runs on it",
		Long: fmt.Sprintf("Make the data directory (--db-path) from a %s. There must be no database in it yet. It comes into its place\n"+
			"whole or not at all. `parley serve --import-%[1]s FILE` does the same and then serves.", kind),
		Example: "  parley " + kind + " restore backup." + kind + " --db-path ./data",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := cmdutil.LoadConfig(cmd, nil)
			if err != nil {
				return err
			}
			report, err := backup.Restore(cmd.Context(), c, kind, args[0])
			if err != nil {
				return err
			}
			restored := struct {
				RestoredTo  string            `json:"restoredTo"`
				Meilisearch *meilidump.Report `json:"meilisearch,omitempty"` // what was taken of a dump of it
			}{c.DBPath, report}
			return cmdutil.PrintResult(cmd, restored, func(out io.Writer) error {
				if report != nil {
					report.Write(out)
				}
				_, err := fmt.Fprintf(out, "restored to %s\n", c.DBPath)
				return err
			})
		},
	}
	cmdutil.AddOptions(cmdutil.JSONFlag(cmd))
	return cmd
}
