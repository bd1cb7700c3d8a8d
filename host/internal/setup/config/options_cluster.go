package config

import (
	"time"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// ClusterConfig makes the host a node of a cluster. The zero value: it is alone.
type ClusterConfig struct {
	Name        string
	NATS        []secret.Text // URLs, which may hold a password
	Credentials string        // file; empty: none
	CA          string        // file; empty: those of the system
	Synced      bool
	Insecure    bool   // plain NATS beyond this machine
	Advertise   string // URL; empty: from HTTPAddr
	Lease       time.Duration
	MaxLag      time.Duration
	ServeStale  bool
	Snapshots   time.Duration // between two
	LogSize     int64         // past which one is made earlier
}

// clusterOptions are the rows of [ClusterConfig].
func clusterOptions() []Option {
	return []Option{
		{
			Name: "cluster-name", Meaning: "makes this host a node of the cluster of that name: letters, digits and hyphens; none: it is alone",
			Kind: clusterNameKind(),
		},
		{
			Name: "cluster-nats", Meaning: "servers of NATS that have the cluster's log, such as nats://n1:4222,nats://n2:4222; with user and password where they want some", Secret: true,
			Kind: natsKind(),
		},
		{
			Name: "cluster-nats-creds", Meaning: "file of the user's credentials for NATS: a JWT and its key",
			Kind: fileKind(func(c *Config) *string { return &c.Cluster.Credentials }),
		},
		{
			Name: "cluster-nats-ca", Meaning: "PEM file of the authorities that certificates of NATS are checked by; none: those of the system",
			Kind: fileKind(func(c *Config) *string { return &c.Cluster.CA }),
		},
		{
			Name: "cluster-insecure", Default: "false", Meaning: "let nats:// URLs of cluster-nats name other machines: without TLS, who sees that network reads all documents. Records have codes, so that nobody can change them",
			Kind: switchKind(func(c *Config) *bool { return &c.Cluster.Insecure }),
		},
		{
			Name: "cluster-nats-synced", Default: "false", Meaning: "says that the servers of NATS have `sync_interval: always`, which no client can see: else a power failure of most of them may lose writes that were acknowledged",
			Kind: switchKind(func(c *Config) *bool { return &c.Cluster.Synced }),
		},
		{
			Name: "cluster-advertise", Meaning: "URL at which the other nodes reach this one, to send it writes while it leads; none: http-addr",
			Kind: advertiseKind(),
		},
		{
			Name: "cluster-lease", Default: "2s", Meaning: "how long the cluster's leader may be silent before another node takes its place",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.Cluster.Lease }),
		},
		{
			Name: "cluster-max-lag", Default: "30s", Meaning: "how long a node that does not reach the cluster's log goes on answering; it knows nothing of keys that were deleted in the meantime",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.Cluster.MaxLag }),
		},
		{
			Name: "cluster-serve-stale", Default: "false", Meaning: "answer beyond cluster-max-lag, too",
			Kind: switchKind(func(c *Config) *bool { return &c.Cluster.ServeStale }),
		},
		{
			Name: "cluster-snapshot-every", Default: "6h", Meaning: "how often one of the cluster's nodes keeps a snapshot with NATS, from which nodes join; the log before the last but one is purged",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.Cluster.Snapshots }),
		},
		{
			Name: "cluster-log-size", Default: "4 GiB", Meaning: "what the cluster's log had better not exceed: snapshots are made earlier for it, and past it the log does not keep what a silent node lacks, which begins with a snapshot when it is back",
			Kind: sizeKind(func(c *Config) *int64 { return &c.Cluster.LogSize }),
		},
	}
}
