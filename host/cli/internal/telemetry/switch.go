package telemetry

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host"
	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// switched is what the commands of this file print for programs.
type switched struct {
	Off     bool   `json:"off"` // by the data directory
	DBPath  string `json:"dbPath"`
	Deleted string `json:"deletedInstanceUid,omitempty"`
	Contact string `json:"contact,omitempty"` // whom to ask to delete what was sent
}

func offCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "off",
		Short: "Switch telemetry off, from the next start of the host on",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.LoadOnly(cmd, hostOptions)
			if err != nil {
				return err
			}
			if err := telemetry.SwitchOff(c.DBPath); err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, switched{Off: true, DBPath: c.DBPath}, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "telemetry is off for %s from the next start of the host on, which also removes what was kept; `parley telemetry on` takes it back\n", c.DBPath)
				return err
			})
		},
	}))
}

func onCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "on",
		Short: "Take back what off did",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.LoadOnly(cmd, hostOptions)
			if err != nil {
				return err
			}
			if err := telemetry.SwitchOn(c.DBPath); err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, switched{DBPath: c.DBPath}, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "telemetry is not switched off for %s any more; other switches hold as they did\n", c.DBPath)
				return err
			})
		},
	}))
}

func deleteCommand() *cobra.Command {
	return cmdutil.JSONFlag(addFlags(&cobra.Command{
		Use:   "delete",
		Short: "Switch telemetry off and delete all of it, and ask for the rest to be deleted",
		Long: "Switch telemetry off, remove what it kept in the data directory, and print the Instance UID that was:\n" +
			"it is the only key to what a platform holds. --telemetry-contact says whom to ask there. The host must not run.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.LoadOnly(cmd, hostOptions)
			if err != nil {
				return err
			}
			uid, err := host.TelemetryDelete(c.DBPath)
			if err != nil {
				return err
			}
			if cmdutil.WantsJSON(cmd) {
				return cmdutil.WriteJSON(cmd.OutOrStdout(), switched{Off: true, DBPath: c.DBPath, Deleted: uid, Contact: c.Telemetry.Contact})
			}
			if uid == "" {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has no Instance UID: nothing was ever collected there; telemetry is off\n", c.DBPath)
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "telemetry is off for %s, and nothing of it is left there.\n"+
				"Where it was sent to a platform, ask %s, with these words:\n\n"+
				"  Please delete all telemetry of the Parley instance %s.\n", c.DBPath, cmp.Or(c.Telemetry.Contact, "whoever runs that"), uid)
			return err
		},
	}))
}
