package host

import (
	"context"

	"github.com/parley-search/parley/host/internal/base/logs"
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/data/archive"
	"github.com/parley-search/parley/host/internal/data/store"
	"github.com/parley-search/parley/host/internal/setup/backup"
	"github.com/parley-search/parley/host/internal/setup/config"
	"github.com/parley-search/parley/host/internal/setup/masterkey"
	"github.com/parley-search/parley/host/internal/setup/meilidump"
	"github.com/parley-search/parley/host/internal/setup/node"
)

// What package config has for programs that start a host.
type (
	Config      = config.Config
	Option      = config.Option
	OptionError = config.OptionError
	Setting     = config.Setting
	Sources     = config.Sources
)

// See package config.
const (
	DefaultConfigFile = config.DefaultConfigFile
	EnvConfigFile     = config.EnvConfigFile
	EnvPrefix         = config.EnvPrefix
	KindDirectory     = config.KindDirectory
	KindFile          = config.KindFile
	KindSwitch        = config.KindSwitch
	LockOff           = config.LockOff
	LogsJSON          = logs.JSON
	ConsoleOn         = config.ConsoleOn
)

// LoadConfig reads the configuration. The error names every wrong option with
// its origin, its value and what is allowed.
func LoadConfig(from Sources) (Config, []Setting, error) { return config.Load(from) }

// AllOptions lists every option of the host, in the order in which they are
// explained.
func AllOptions() []Option { return config.AllOptions() }

// NearestName returns the one of known that name was most likely meant to be,
// or "" where none is near.
func NearestName(name string, known []string) string { return apierr.Nearest(name, known) }

// ReadHolder returns the process that has the data directory dir open, or had it last,
// and the URL where it serves; empty what is not known.
func ReadHolder(dir string) (pid, url string) { return store.ReadHolder(dir) }

// InspectArchive reads a dump or a snapshot to its end and returns what is in
// it. The error says what is wrong with one that is not whole.
func InspectArchive(path string) (*archive.Contents, error) {
	return backup.Inspect(context.Background(), path)
}

// A Joined says with what a node of a cluster begins.
type Joined = node.Joined

// ClusterOptions are the options that [CreateCluster] heeds.
func ClusterOptions() []string { return node.OptionNames() }

// CreateCluster makes the log of the cluster that c names, see [node.Create].
func CreateCluster(ctx context.Context, c Config, replicas int, version string) error {
	return node.Create(ctx, c, replicas, version)
}

// JoinCluster gives a node the newest snapshot of its cluster, see [node.Join].
func JoinCluster(ctx context.Context, c Config, replace bool) (*Joined, error) {
	return node.Join(ctx, c, replace)
}

// ResetCluster begins a new log with what a node has, see [node.Reset].
func ResetCluster(ctx context.Context, c Config) (*Joined, error) { return node.Reset(ctx, c) }

// BackupCluster writes a snapshot of a cluster to a file, see [node.Backup].
func BackupCluster(ctx context.Context, c Config, path string) (*Joined, error) {
	return node.Backup(ctx, c, path)
}

// RestoreCluster makes the first node of a cluster of a backup, see [node.Restore].
func RestoreCluster(ctx context.Context, c Config, path string, log zerolog.Logger) (*Joined, error) {
	return node.Restore(ctx, c, path, log)
}

// MoveInReport is what came of restoring a dump of Meilisearch.
type MoveInReport = meilidump.Report

// RestoreArchive makes the data directory of c from the dump or snapshot at
// path; see [backup.Restore].
func RestoreArchive(ctx context.Context, c Config, kind, path string) (*MoveInReport, error) {
	return backup.Restore(ctx, c, kind, path)
}

// Rotation is what came of [RotateMasterKey].
type Rotation = masterkey.Rotation

// RotateMasterKey seals every secret in c's data directory under another master
// key than c's; see [masterkey.Rotate].
func RotateMasterKey(ctx context.Context, c Config, newKey string, lost bool) (*Rotation, error) {
	return masterkey.Rotate(ctx, c, newKey, lost)
}
