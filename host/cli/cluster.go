package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/parley-search/parley/host/cli/internal/cmdutil"
	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/node"
)

func clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Make a cluster, and see the state of its nodes",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(clusterCreateCommand(), clusterStatusCommand(), clusterSnapshotCommand(), clusterResignCommand(), clusterUpgradeCommand(), clusterJoinCommand(), clusterResetCommand(), clusterBackupCommand(), clusterRestoreCommand())
	return cmd
}

func clusterCreateCommand() *cobra.Command {
	var replicas int
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make the log of a new cluster, once",
		Long: "Make the log of a new cluster on servers of NATS with JetStream, once in its life: a stream, and stores for large requests and snapshots.\n\n" +
			"No node makes them automatically: if the log were lost, nodes with data would go on with an empty one. The master key is that of\n" +
			"the nodes, which verify the log by it. If the log exists, nothing\n" +
			"is changed. Three replicas need three servers, and the servers need `sync_interval: always`.",
		Example: "  parley cluster create --cluster-name docs --cluster-nats tls://n1:4222,tls://n2:4222,tls://n3:4222",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadCluster(cmd)
			if err != nil {
				return err
			}
			if replicas != 1 && replicas != 3 && replicas != 5 {
				return cmdutil.UsageError{Err: fmt.Errorf("--replicas is %d: want 1, 3 or 5", replicas)}
			}
			if err := node.Create(cmd.Context(), c, replicas, programVersion()); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "The log of cluster %s is there. Start its nodes: parley serve --cluster-name %s --cluster-nats …\n", c.Cluster.Name, c.Cluster.Name)
			return nil
		},
	}
	addNamed(cmd, node.OptionNames())
	cmd.Flags().IntVar(&replicas, "replicas", 3, "servers of NATS that keep the log: 1, 3 or 5")
	return cmd
}

func clusterJoinCommand() *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "join",
		Short: "Put a snapshot of the cluster into the data directory of a node",
		Long: "Put the newest snapshot of the cluster into --db-path, in place of what a node has there. No host may run there.\n\n" +
			"`parley serve` does so automatically where a node has no data, or where the log does not reach back to it. With --replace the data may\n" +
			"be of another log, as on a node that disagrees with the others: it is lost then.",
		Example: "  parley cluster join --cluster-name docs --cluster-nats tls://n1:4222 \\\n    --db-path /var/lib/parley --replace",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadCluster(cmd)
			if err != nil {
				return err
			}
			joined, err := node.Join(cmd.Context(), c, replace)
			if err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, joined, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "%s has what the cluster had at message %d of log %s: %d bytes. Start the node.\n", c.DBPath, joined.Message, joined.Log, joined.Bytes)
				return err
			})
		},
	}
	addNamed(cmd, nodeDataOptions())
	cmd.Flags().BoolVar(&replace, "replace", false, "also where the data is of another log, or of a node that disagrees with the others")
	return cmdutil.JSONFlag(cmd)
}

func clusterResetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Start a new log from one node's data, after the cluster's log was lost",
		Long: "Start a new log from the data of the node with the data directory --db-path. Use it if the stream was lost, or if the nodes\n" +
			"disagree. End all nodes first, choose the one whose data counts, delete the stream and make it again empty by\n" +
			"`parley cluster create`. Start this node first; the others take over what it has by `parley cluster join --replace`.",
		Example: "  parley cluster reset --cluster-name docs --cluster-nats tls://n1:4222 --db-path /var/lib/parley",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadCluster(cmd)
			if err != nil {
				return err
			}
			begun, err := node.Reset(cmd.Context(), c)
			if err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, begun, func(out io.Writer) error {
				_, err := fmt.Fprintf(out, "What %s had at message %d begins log %s. Start this node first, then `parley cluster join --replace` on the others.\n", c.DBPath, begun.Message, begun.Log)
				return err
			})
		},
	}
	addNamed(cmd, nodeDataOptions())
	return cmdutil.JSONFlag(cmd)
}

// nodeDataOptions are the host's options that the commands on a node's data obey.
func nodeDataOptions() []string { return append(node.OptionNames(), "db-path") }

// loadCluster reads which cluster is meant, and the data directory.
func loadCluster(cmd *cobra.Command) (config.Config, error) {
	return loadNamedCluster(cmd, nodeDataOptions())
}

// loadNamedCluster reads which cluster is meant, and the options called names.
func loadNamedCluster(cmd *cobra.Command, names []string) (config.Config, error) {
	c, err := cmdutil.LoadOnly(cmd, names)
	if err == nil && (c.Cluster.Name == "" || len(c.Cluster.NATS) == 0) {
		err = cmdutil.UsageError{Err: errors.New("--cluster-name and --cluster-nats say which cluster: give both")}
	}
	return c, err
}

func clusterStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show which node of a cluster leads, and how far each is",
		Example: "  parley cluster status --url http://127.0.0.1:7700",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := cmdutil.OpenClient(cmd)
			if err != nil {
				return err
			}
			var s httpapi.ClusterBody
			if err := c.Call(cmd.Context(), http.MethodGet, "/cluster", nil, &s); err != nil {
				return err
			}
			return cmdutil.PrintResult(cmd, &s, func(out io.Writer) error { return printCluster(out, &s) })
		},
	}
	return cmdutil.ClientFlags(cmdutil.JSONFlag(cmd), "metrics.get")
}

func printCluster(out io.Writer, s *httpapi.ClusterBody) error {
	if !s.Enabled {
		_, err := fmt.Fprintln(out, "This host is not part of a cluster: it was started without --cluster-name.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "cluster %s, log %s in format %d, term %d\n", s.Name, s.Log, s.Format, s.Node.Term)
	fmt.Fprintln(w, "NODE\tROLE\tMESSAGE\tURL\tVERSION\tFORMAT")
	for _, n := range append([]httpapi.ClusterNodeBody{*s.Node}, s.Nodes...) {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\n", n.ID, n.Role, n.Seq, n.URL, n.Version, n.Format)
	}
	fmt.Fprintf(w, "Searches of the first node know message %d.\n", s.Words)
	if s.Stale {
		fmt.Fprintln(w, "It has not reached the log for longer than --cluster-max-lag.")
	}
	if s.Trouble != "" {
		fmt.Fprintf(w, "The log does not answer it as it should: %s.\n", s.Trouble)
	}
	if s.Halted != "" {
		fmt.Fprintf(w, "It is halted: %s.\n", s.Halted)
	}
	if s.Plugins != "" {
		fmt.Fprintf(w, "It does not run the cluster's plugins: %s.\n", s.Plugins)
	}
	if n := s.NATS; n != nil {
		printNATS(w, n)
	}
	return w.Flush()
}

func printNATS(w io.Writer, n *httpapi.ClusterNATS) {
	if !n.Quorum {
		fmt.Fprintln(w, "The log has no leader: most of the servers of NATS that keep it are away, or out of reach.")
		return
	}
	var servers []string
	for _, s := range n.Servers {
		servers = append(servers, s.Name+" "+s.State)
	}
	fmt.Fprintf(w, "NATS: %d servers have to keep the log, %s; %s in %d messages.\n", n.Replicas, strings.Join(servers, ", "), humanize.IBytes(n.LogBytes), n.LogMessages)
	fmt.Fprintf(w, "Last snapshot: %s, of message %d. Last backup: %s.\n", formatTime(n.SnapshotAt), n.SnapshotSeq, formatTime(n.BackupAt))
}

// formatTime is t as text, "never" if nil.
func formatTime(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.Format(time.RFC3339Nano)
}
