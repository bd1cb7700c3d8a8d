package telemetry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
)

func exportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write all that telemetry has of this instance as JSON",
		Long: "Write all that telemetry has of this instance as one JSON object: its UID, the window under way, what waits or was refused, the last windows,\n" +
			"the deliveries, and the state that the next process would go on with. Bodies of messages are texts, so that no byte of them differs from what is sent.\n" +
			"Nothing is changed. What a platform has got is there, under the same UID.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all json.RawMessage
			if err := cmdutil.AskHost(cmd, "/telemetry/export", &all); err != nil {
				return err
			}
			var b bytes.Buffer
			if err := json.Indent(&b, all, "", "  "); err != nil {
				return fmt.Errorf("read the host's answer: %w", err)
			}
			b.WriteByte('\n')
			if output == "" {
				_, err := b.WriteTo(cmd.OutOrStdout())
				return err
			}
			file, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return fmt.Errorf("export telemetry: %w", err)
			}
			if _, err := b.WriteTo(file); err != nil {
				file.Close()
				return fmt.Errorf("export telemetry: %w", err)
			}
			return file.Close()
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "new `FILE` for it; none: the standard output")
	return addFlags(cmd)
}
