package host

import (
	"context"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/archive"
	"github.com/parley-search/parley/host/internal/backup"
	"github.com/parley-search/parley/host/internal/config"
	"github.com/parley-search/parley/host/internal/masterkey"
	"github.com/parley-search/parley/host/internal/movein"
	"github.com/parley-search/parley/host/internal/store"
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

// MoveInReport is what came of restoring a dump of Meilisearch.
type MoveInReport = movein.Report

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
