package figures

import (
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
	LogBytes                uint64 // of the stream
}

// Cluster is what GET /metrics has of a node of a cluster.
func Cluster(m *Membership) []metrics.Family {
	family := func(name, help string, kind metrics.Kind, value float64) metrics.Family {
		return metrics.Family{Name: "parley_cluster_" + name, Help: help, Kind: kind, Samples: []metrics.Sample{{Value: value}}}
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
		family("log_bytes", "Size of the log, as this node saw it within a minute.", metrics.Gauge, float64(m.LogBytes)),
		family("append_failed_total", "Writes whose append got no answer.", metrics.Counter, float64(m.Failed)),
		family("void_total", "Messages of the log that do not count.", metrics.Counter, float64(m.Void)),
		family("unverified_total", "Messages of the log, and beats, that no node of the cluster wrote, or that were sent again.", metrics.Counter, float64(m.Unverified)),
		family("forwarded_total", "Requests that this node sent on to the leader.", metrics.Counter, float64(m.Forwarded)),
	}
}

func ofBool(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
