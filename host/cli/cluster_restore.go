package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/parley-search/parley/host/internal/setup/node"
)

func clusterBackupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write what a cluster keeps to a file, on this machine",
		Long: "Write the newest snapshot that a cluster keeps with NATS to FILE, on the machine where the command runs, whichever node made it.\n" +
			"It has the documents, vectors, settings, keys, workspaces, tasks and shared plugins of one moment. `parley cluster snapshot` has the\n" +
			"leader keep one of now first. `parley cluster restore` makes a new cluster of it, which has to have the same master key.",
		Example: "  parley cluster snapshot --url http://127.0.0.1:7700\n" +
			"  parley cluster backup docs.backup --cluster-name docs --cluster-nats tls://n1:4222",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadCluster(cmd)
			if err != nil {
				return err
			}
			kept, err := node.Backup(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, kept, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "%s has what the cluster had at message %d of log %s: %d bytes.\n", args[0], kept.Message, kept.Log, kept.Bytes)
				return err
			})
		},
	}
	addNamed(cmd, node.OptionNames())
	return cmdutil.JSONFlag(cmd)
}

func clusterRestoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Begin a cluster with a backup, a dump or a snapshot",
		Long: "Make the data directory of a new cluster's first node of FILE: of what `parley cluster backup` wrote, of a dump or snapshot of a host\n" +
			"alone or of a leader, or of a dump of Meilisearch. Run `parley cluster create` first, and this on the machine of one node, without\n" +
			"data in its --db-path. Start that node first; the others begin with a snapshot that it keeps within a minute.",
		Example: "  parley cluster create --cluster-name docs --cluster-nats tls://n1:4222\n" +
			"  parley cluster restore docs.backup --cluster-name docs --cluster-nats tls://n1:4222 \\\n    --db-path /var/lib/parley/data",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := loadNamedCluster(cmd, restoreOptions())
			if err != nil {
				return err
			}
			logs, err := logs.New(cmd.ErrOrStderr(), c.LogsMode, c.LogLevel)
			if err != nil {
				return err
			}
			begun, err := node.Restore(cmd.Context(), c, args[0], logs.Logger())
			if err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, begun, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "What %s has begins log %s, in %s. Start this node first; the others take over what it has once it keeps a snapshot.\n", args[0], begun.Log, c.DBPath)
				return err
			})
		},
	}
	addNamed(cmd, restoreOptions())
	return cmdutil.JSONFlag(cmd)
}

// restoreOptions are the host's options that `cluster restore` obeys.
func restoreOptions() []string {
	return append(nodeDataOptions(), "plugin-dir", "import-dump-master-key", "log-level", "experimental-logs-mode")
}
