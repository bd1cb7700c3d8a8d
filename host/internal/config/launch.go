package config

import (
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/telemetry"
)

// given is what the configuration says, option by option.
type given map[string]Setting

func newGiven(settings []Setting) given {
	g := given{}
	for _, s := range settings {
		g[s.Option.Name] = s
	}
	return g
}

// by reports whether somebody gave the option: by flag, variable or file.
func (g given) by(option string) event.Flag {
	s, ok := g[option]
	return event.FlagOf(ok && s.Origin != defaultOrigin)
}

func (g given) on(option string) event.Flag {
	b, _ := strconv.ParseBool(g[option].Value)
	return event.FlagOf(b)
}

func (g given) number(option string) event.Count {
	n, _ := strconv.ParseUint(g[option].Value, 10, 63)
	return event.CountOf(n)
}

func (g given) size(option string) event.Count {
	n, _ := humanize.ParseBytes(g[option].Value)
	return event.CountOf(n)
}

// seconds is a time given as a number of seconds or as a duration; nothing
// where it is not given, or switched off.
func (g given) seconds(option string) event.MaybeCount {
	v := g[option].Value
	d, err := time.ParseDuration(v)
	if n, e := strconv.ParseUint(v, 10, 32); e == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d <= 0 {
		return 0
	}
	return event.MaybeCountOf(int64(d.Seconds()))
}

// Launch is what the configuration comes to, for telemetry. An option that this
// host does not have is one that nobody gave.
func (c *Config) Launch(h *telemetry.Handles, version string) event.Launch {
	g := newGiven(c.settings)
	return event.Launch{
		Version: h.Version(version), Env: event.OrdinalOf[event.Env](g["env"].Value),
		DBPath: g.by("db-path"), HTTPAddr: g.by("http-addr"), HTTPPayloadSizeLimit: g.size("http-payload-size-limit"),
		ImportDump: g.by("import-dump"), DumpDir: g.by("dump-dir"),
		IgnoreMissingDump: g.on("ignore-missing-dump"), IgnoreDumpIfDBExists: g.on("ignore-dump-if-db-exists"),
		ImportSnapshot: g.by("import-snapshot"), ScheduleSnapshot: g.seconds("schedule-snapshot"), SnapshotDir: g.by("snapshot-dir"),
		IgnoreMissingSnapshot: g.on("ignore-missing-snapshot"), IgnoreSnapshotIfDB: g.on("ignore-snapshot-if-db-exists"),
		LogLevel: event.OrdinalOf[event.LogLevel](g["log-level"].Value), LogsMode: event.OrdinalOf[event.LogsMode](g["experimental-logs-mode"].Value),
		MaxIndexingMemory: g.size("max-indexing-memory"), MaxIndexingThreads: g.number("max-indexing-threads"),
		SSLAuthPath: g.by("ssl-auth-path"), SSLCertPath: g.by("ssl-cert-path"), SSLKeyPath: g.by("ssl-key-path"), SSLOCSPPath: g.by("ssl-ocsp-path"),
		SSLRequireAuth: g.on("ssl-require-auth"), SSLResumption: g.by("ssl-resumption"), SSLTickets: g.by("ssl-tickets"),
		TaskQueueWebhook: g.by("task-webhook-url"),
		EnableMetrics:    g.on("experimental-enable-metrics"), EmbeddingCacheEntries: g.number("experimental-embedding-cache-entries"),
		NoEdition2024:         g.on("experimental-no-edition-2024-for-settings"),
		ReplicationParameters: g.on("experimental-replication-parameters"),
		ReduceIndexingMemory:  g.on("experimental-reduce-indexing-memory-usage"),
		EnableLogsRoute:       g.on("experimental-enable-logs-route"),
		SearchQueueSize:       g.number("experimental-search-queue-size"),
		DumplessUpgrade:       g.on("experimental-dumpless-upgrade"),
		WithConfigurationFile: event.FlagOf(c.fromFile),
	}
}
