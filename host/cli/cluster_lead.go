package cli

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/api/httpapi"
)

func clusterSnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Have the leader keep a snapshot for nodes that begin",
		Long: "Have the leader of a cluster keep a snapshot of what it has now with NATS, and wait until it is kept. It does so by itself at the interval\n" +
			"--cluster-snapshot-every; this one is for a node that is to join now, or before somebody works on the log. It is not a backup.",
		Example: "  parley cluster snapshot --url http://127.0.0.1:7700",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			var done httpapi.ClusterSnapshot
			for path := "/cluster/snapshot"; !done.Done; path = fmt.Sprintf("/cluster/snapshot?message=%d", done.Message) {
				if err := c.Call(cmd.Context(), http.MethodPost, path, nil, &done); err != nil {
					return err
				}
			}
			return cmdutil.PrintResult(cmd, &done, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "A snapshot of the cluster at message %d is kept: %d bytes.\n", done.Kept, done.Bytes)
				return err
			})
		},
	}
	return cmdutil.ClientFlags(cmdutil.JSONFlag(cmd), "cluster.update")
}

func clusterResignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resign",
		Short: "Have another node lead",
		Long: "Have the leader of a cluster hand over to another node, and wait until one leads. Before its machine is serviced, or where another\n" +
			"one is nearer to the embedder. Writes answer 503 for a moment; a batch of tasks under way begins again on the next leader. A leader that\n" +
			"ends by a signal does so by itself.",
		Example: "  parley cluster resign --url http://127.0.0.1:7700",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			var done httpapi.ClusterHandover
			if err := c.Call(cmd.Context(), http.MethodPost, "/cluster/resign", nil, &done); err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, &done, func(out io.Writer) error {
				if done.Leader == nil {
					_, err := fmt.Fprintf(out, "Node %s does not lead any more. No other node leads yet: see `parley cluster status`.\n", done.From)
					return err
				}
				_, err := fmt.Fprintf(out, "Node %s leads in term %d, after node %s.\n", *done.Leader, done.Term, done.From)
				return err
			})
		},
	}
	return cmdutil.ClientFlags(cmdutil.JSONFlag(cmd), "cluster.update")
}

func clusterUpgradeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Have the log be written in the newest format, once all nodes are upgraded",
		Long: "Have a cluster's log be written in the newest format of records that its leader has. Until then nodes of two versions share the log in\n" +
			"the older one, and the older version can be brought back. It is refused where a node was heard of within a day that does not read the\n" +
			"format. Nodes of versions before it cannot join any more. Where there is no newer format, nothing changes.",
		Example: "  parley cluster upgrade --url http://127.0.0.1:7700",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			var done httpapi.ClusterUpgrade
			if err := c.Call(cmd.Context(), http.MethodPost, "/cluster/upgrade", nil, &done); err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, &done, func(out io.Writer) error {
				if done.From == done.To {
					_, err := fmt.Fprintf(out, "The log is written in format %d, the newest that the leader has: nothing changes.\n", done.To)
					return err
				}
				_, err := fmt.Fprintf(out, "The log is written in format %d from now on; it was %d.\n", done.To, done.From)
				return err
			})
		},
	}
	return cmdutil.ClientFlags(cmdutil.JSONFlag(cmd), "cluster.update")
}
