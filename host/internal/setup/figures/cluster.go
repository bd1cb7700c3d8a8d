package figures

import (
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi"
	"github.com/parley-search/parley/host/internal/setup/metrics"
)

// A Membership is what GET /metrics has of a node of a cluster.
type Membership struct {
	Leads, Halted, Stale    bool
	Term, Seq, Ahead, Words uint64
	Nodes                   int // this one too
	Claims, Failed, Void    uint64
	Unverified              uint64
	Forwarded               uint64
	LagSeconds              float64
	Appends                 uint64
	AppendSeconds           float64
	NATS                    *httpapi.ClusterNATS
}

// Cluster is what GET /metrics has of a node of a cluster.
func Cluster(m *Membership) []metrics.Family {
	family := func(name, help string, kind metrics.Kind, value float64) metrics.Family {
		return metrics.Family{Name: "parley_cluster_" + name, Help: help, Kind: kind, Samples: []metrics.Sample{{Value: value}}}
	}
	n := m.NATS
	if n == nil {
		n = &httpapi.ClusterNATS{}
	}
	return []metrics.Family{
		family("leader", "1 where this node takes the cluster's writes.", metrics.Gauge, ofBool(m.Leads)),
		family("halted", "1 where this node takes nothing from the log any more.", metrics.Gauge, ofBool(m.Halted)),
		family("stale", "1 where this node has not known for longer than cluster-max-lag that it has all of the log.", metrics.Gauge, ofBool(m.Stale)),
		family("nodes", "Nodes heard of within a day, this one too.", metrics.Gauge, float64(m.Nodes)),
		family("term", "Term of the log that this node knows.", metrics.Gauge, float64(m.Term)),
		family("seq", "Message of the log up to which the database of this node is.", metrics.Gauge, float64(m.Seq)),
		family("lag_records", "Messages of the log that this node lacks, as far as it heard.", metrics.Gauge, float64(m.Ahead-m.Seq)),
		family("lag_seconds", "Time since this node knew that it has all of the log.", metrics.Gauge, m.LagSeconds),
		family("words_lag_records", "Messages of the log that searches of this node do not know yet.", metrics.Gauge, float64(m.Seq-m.Words)),
		family("claims_total", "Terms that this node tried to begin.", metrics.Counter, float64(m.Claims)),
		family("appends_total", "Writes that this node appended to the log.", metrics.Counter, float64(m.Appends)),
		family("append_seconds_total", "Time that these appends took.", metrics.Counter, m.AppendSeconds),
		family("log_bytes", "Size of the log, as this node saw it within a minute.", metrics.Gauge, float64(n.LogBytes)),
		family("nats_connected", "1 where this node is connected to a server of NATS.", metrics.Gauge, ofBool(n.Server != "")),
		family("nats_quorum", "1 where the log's stream has a leader that answered within a minute.", metrics.Gauge, ofBool(n.Quorum)),
		family("nats_replicas", "Servers of NATS that have to keep the log.", metrics.Gauge, float64(n.Replicas)),
		family("nats_replicas_current", "Servers of NATS that keep all of the log; 0 without a quorum.", metrics.Gauge, float64(n.Current())),
		family("snapshot_timestamp_seconds", "When the newest snapshot of the cluster was kept, since 1970; 0: there is none.", metrics.Gauge, ofTime(n.SnapshotAt)),
		family("snapshot_lag_records", "Messages of the log that the newest snapshot of the cluster lacks.", metrics.Gauge, float64(max(m.Seq, n.SnapshotSeq)-n.SnapshotSeq)),
		family("backup_timestamp_seconds", "When `parley cluster backup` last wrote a file, since 1970; 0: never.", metrics.Gauge, ofTime(n.BackupAt)),
		family("append_failed_total", "Writes whose append got no answer.", metrics.Counter, float64(m.Failed)),
		family("void_total", "Messages of the log that do not count.", metrics.Counter, float64(m.Void)),
		family("unverified_total", "Messages of the log, and beats, that no node of the cluster wrote, or that were sent again.", metrics.Counter, float64(m.Unverified)),
		family("forwarded_total", "Requests that this node sent on to the leader.", metrics.Counter, float64(m.Forwarded)),
	}
}

func ofTime(t *time.Time) float64 {
	if t == nil {
		return 0
	}
	return float64(t.Unix())
}

func ofBool(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
