package config

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/secret"
	"github.com/parley-search/parley/host/internal/telemetry"
	"github.com/parley-search/parley/host/internal/upstream"
)

// An Option is one thing that an operator may set: by flag, environment
// variable and key of the configuration file.
type Option struct {
	Name    string // of the flag, without dashes
	Default string
	Meaning string // one line, for --help and "config explain"
	Allowed string // what a value may be, for error messages
	Secret  bool   // never printed
	Switch  bool   // true or false; the bare flag means true
	Bare    string // what the bare flag of another option means; empty: it needs a value
	set     func(c *Config, value string) error
}

// EnvPrefix begins the name of every environment variable of the host.
const EnvPrefix = "PARLEY_"

// Env is the option's environment variable.
func (o Option) Env() string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(o.Name, "-", "_"))
}

// Key is the option's key in the configuration file.
func (o Option) Key() string { return strings.ReplaceAll(o.Name, "-", "_") }

// AllOptions lists every option of the host, in the order in which they are
// explained.
func AllOptions() []Option {
	return []Option{
		{
			Name: "db-path", Default: "./data", Meaning: "directory that holds everything durable",
			Allowed: aDirectory, set: directoryPath(func(c *Config) *string { return &c.DBPath }),
		},
		{
			Name: "http-addr", Default: "127.0.0.1:7700", Meaning: "address and port to listen on",
			Allowed: "host:port", set: addr,
		},
		{
			Name: "allow-private-networks", Meaning: "private addresses, those of this machine too, that providers, embedders, remotes, exports, the webhook, telemetry and URLs of plugins may have; none: any where env is development and http-addr of this machine, else none; link-local and metadata addresses never",
			Allowed: "any, or networks such as 127.0.0.1,10.1.0.0/16",
			set:     func(c *Config, v string) (err error) { c.PrivateNetworks, err = upstream.ParsePrivate(v); return err },
		},
		{
			Name: "allowed-hosts", Meaning: "names by which requests may ask a host without a master key, beside those of this machine, and beyond it addresses and names of local networks; with a master key, those that come from this machine without a key",
			Allowed: "host names without port, separated by commas", set: hosts,
		},
		{
			Name: "console", Meaning: "the page for people at /console/: on or off; none: on where env is development, else off",
			Allowed: "on or off", set: oneOf(func(c *Config) *string { return &c.Console }, ConsoleOn, ConsoleOff),
		},
		{
			Name: "docs-page", Default: "true", Meaning: "the page /docs, which describes the HTTP API",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.DocsPage }),
		},
		{
			Name: "allowed-origins", Meaning: "origins of web pages that may ask the host; none: without a master key those of this machine, with one all",
			Allowed: "origins such as https://app.example.com, separated by commas", set: origins,
		},
		{
			Name: "ssl-cert-path", Meaning: "PEM file of the certificate, its chain behind it; with ssl-key-path the API is served over TLS, and a renewed file is taken up by itself",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.TLS.Cert }),
		},
		{
			Name: "ssl-key-path", Meaning: "PEM file of the certificate's private key",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.TLS.Key }),
		},
		{
			Name: "ssl-auth-path", Meaning: "PEM file of the authorities whose clients' certificates are accepted; none: no client is asked for one",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.TLS.Auth }),
		},
		{
			Name: "ssl-require-auth", Default: "false", Meaning: "refuse clients without a certificate of ssl-auth-path",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.TLS.RequireAuth }),
		},
		{
			Name: "ssl-ocsp-path", Meaning: "DER file of the issuer's OCSP response, which is stapled to the certificate",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.TLS.OCSP }),
		},
		{
			Name: "ssl-resumption", Default: "false", Meaning: "let clients resume TLS sessions that the host remembers, 256 of them",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.TLS.Resumption }),
		},
		{
			Name: "ssl-tickets", Default: "false", Meaning: "let clients resume TLS sessions by tickets that they keep themselves, encrypted",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.TLS.Tickets }),
		},
		{
			Name: "env", Default: EnvDevelopment, Meaning: "production makes a master key obligatory",
			Allowed: "development or production", set: oneOf(func(c *Config) *string { return &c.Env }, EnvDevelopment, EnvProduction),
		},
		{
			Name: "master-key", Meaning: "secret that opens every route and from which API keys are derived; none leaves every route open",
			Allowed: "at least 16 bytes when env is production", Secret: true,
			set: func(c *Config, v string) error { c.MasterKey = secret.New(v); return nil },
		},
		{
			Name: "http-payload-size-limit", Default: "100 MiB", Meaning: "largest request body",
			Allowed: "a size such as 1048576, 100MB or 100 MiB", set: size(func(c *Config) *int64 { return &c.PayloadLimit }),
		},
		{
			Name: "http-search-payload-size-limit", Default: "1 MiB", Meaning: "largest body of a search, where http-payload-size-limit is not less: vectors and media of a query count too",
			Allowed: "a size such as 1048576, 4MB or 4 MiB", set: size(func(c *Config) *int64 { return &c.SearchPayload }),
		},
		{
			Name: "max-indexing-memory", Default: "512 MiB", Meaning: "memory that indexing may take beyond what the idle host has; of 128 MiB or less the database may take as much again; mapped files not counted",
			Allowed: "a size such as 64 MiB or 2GB", set: size(func(c *Config) *int64 { return &c.IndexingMemory }),
		},
		{
			Name: "max-vector-memory", Default: "1 GiB", Meaning: "memory for vectors of the indexes that are searched by meaning: 4 bytes a number and about 130 a document; what is beyond is read from disk at each search",
			Allowed: "a size such as 64 MiB or 2GB", set: size(func(c *Config) *int64 { return &c.VectorMemory }),
		},
		{
			Name: "max-indexing-threads", Default: "0", Meaning: "threads that cut documents into words; 0: half of the processors",
			Allowed: "a number from 0 to 512", set: number(func(c *Config) *int { return &c.IndexingThreads }, 0, 512),
		},
		{
			Name: "task-webhook-url", Meaning: "address that is told of finished tasks: NDJSON, packed by gzip; it may hold a token",
			Allowed: "an http or https address with a host, and no user or fragment", Secret: true,
			set: func(c *Config, v string) (err error) { c.TaskWebhook, err = upstream.ParseWebhookURL(v); return err },
		},
		{
			Name: "task-webhook-authorization-header", Meaning: "value of the header Authorization that the task webhook sends",
			Allowed: "a text on one line", Secret: true, set: headerValue(func(c *Config) *secret.Text { return &c.TaskWebhookAuthorization }),
		},
		{
			Name: "log-level", Default: "info", Meaning: "least severe log line that is written",
			Allowed: "off, error, warn, info, debug or trace",
			set:     oneOf(func(c *Config) *string { return &c.LogLevel }, "off", "error", "warn", "info", "debug", "trace"),
		},
		{
			Name: "experimental-logs-mode", Default: "human", Meaning: "form of a log line",
			Allowed: "human or json", set: oneOf(func(c *Config) *string { return &c.LogsMode }, "human", "json"),
		},
		{
			Name: "experimental-enable-metrics", Default: "false", Meaning: "begin with the feature metrics on",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.EnableMetrics }),
		},
		{
			Name: "experimental-enable-logs-route", Default: "false", Meaning: "begin with the feature logsRoute on",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.EnableLogsRoute }),
		},
		{
			Name: "experimental-contains-filter", Default: "false", Meaning: "begin with the feature containsFilter on",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.ContainsFilter }),
		},
		{
			Name: "experimental-reduce-indexing-memory-usage", Default: "false", Meaning: "write documents in parts a quarter as large, and cut them into words on one thread: slower, in less memory",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.ReduceIndexing }),
		},
		{
			Name: "experimental-replication-parameters", Default: "false", Meaning: "let writes say by the header TaskId which number their task has, and by DryRun that nothing is to be written: for an instance that follows another one's log",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.Replicates }),
		},
		{
			Name: "experimental-embedding-cache-entries", Default: "0", Meaning: "vectors of queries that are kept for when they are asked again, in memory alone; 0: each search asks its embedder",
			Allowed: "a number from 0 to 1000000", set: number(func(c *Config) *int { return &c.EmbeddingCache }, 0, 1_000_000),
		},
		{
			Name: "plugin-dir", Default: "plugins", Meaning: "directory of <name>-<version>.wasm files and their lock",
			Allowed: aDirectory, set: directoryPath(func(c *Config) *string { return &c.PluginDir }),
		},
		{
			Name: "plugin-lock", Default: LockOn, Meaning: "on: run the plugins that the lock in the plugin directory pins and, of other names, those that the binary carries; off, for development: whatever the directory holds",
			Allowed: "on or off", set: oneOf(func(c *Config) *string { return &c.PluginLock }, LockOn, LockOff),
		},
		{
			Name: "plugin-fuel", Default: "0", Meaning: "most fuel that one call of a plugin may spend (GET /plugins shows what they do); 0: what its manifest asks for",
			Allowed: "a number from 0 to 2000000000", set: number(func(c *Config) *int { return &c.PluginFuel }, 0, 2_000_000_000),
		},
		{
			Name: "plugin-isolation", Default: string(plugin.IsolateAnswers), Meaning: "between what an instance of a provider's plugin is reset. answer: nothing that one answer left in it reaches another. workspace: answers of one workspace are not reset between, which is quicker where very many run at once and all who ask in it may know of each other",
			Allowed: "answer or workspace", set: oneOf(func(c *Config) *string { return &c.PluginIsolation }, string(plugin.IsolateAnswers), string(plugin.IsolateWorkspaces)),
		},
		{
			Name: "plugin-public-key", Meaning: "whose signature every plugin file needs beside it (<file>.minisig); none: no signature is looked at",
			Allowed: "a public key of minisign or the path of its .pub file", set: publicKey,
		},
		{
			Name: "experimental-search-queue-size", Default: "1000", Meaning: "searches that may wait while as many run as there are processors; more are refused with the status 503",
			Allowed: "a number from 1 to 1000000", set: number(func(c *Config) *int { return &c.SearchQueueSize }, 1, 1_000_000),
		},
		{
			Name: "public-url", Meaning: "where clients reach this host, for links to documents that have none of their own; none: the address that each request was sent to",
			Allowed: "an http or https URL without user, query and fragment, such as https://search.example.com", set: publicURL,
		},
		{
			Name: "responses-ttl", Default: "1h", Meaning: "how long a response of /v1/responses can be referred to after it was last used; kept in memory alone, sealed; 0: none is kept",
			Allowed: durations + ", or 0", set: durationOrZero(func(c *Config) *time.Duration { return &c.ResponsesTTL }),
		},
		{
			Name: "responses-max-bytes", Default: "64 MiB", Meaning: "memory for these responses; the ones that were not used for longest go first",
			Allowed: "a size such as 1048576, 100MB or 100 MiB", set: size(func(c *Config) *int64 { return &c.ResponsesMaxBytes }),
		},
		{
			Name: "chat-max-rounds", Default: "20", Meaning: "requests to the provider that one answer may take",
			Allowed: "a number from 1 to 100", set: number(func(c *Config) *int { return &c.ChatMaxRounds }, 1, 100),
		},
		{
			Name: "provider-connect-timeout", Default: "10s", Meaning: "time to connect to a provider",
			Allowed: durations, set: duration(func(c *Config) *time.Duration { return &c.ProviderConnect }),
		},
		{
			Name: "provider-first-byte-timeout", Default: "1m", Meaning: "time until a provider's first byte",
			Allowed: durations, set: duration(func(c *Config) *time.Duration { return &c.ProviderFirstByte }),
		},
		{
			Name: "provider-silence-timeout", Default: "1m", Meaning: "time between two reads of a provider's answer",
			Allowed: durations, set: duration(func(c *Config) *time.Duration { return &c.ProviderSilence }),
		},
		{
			Name: "provider-timeout-max", Default: "10m", Meaning: "most that a plugin's manifest may ask for in place of the two above",
			Allowed: durations, set: duration(func(c *Config) *time.Duration { return &c.ProviderTimeoutMax }),
		},
		{
			Name: "provider-answer-timeout", Default: "10m", Meaning: "time that one request to a provider may take in all",
			Allowed: durations, set: duration(func(c *Config) *time.Duration { return &c.ProviderAnswer }),
		},
		{
			Name: "dump-dir", Default: "dumps", Meaning: "directory that dumps are written to",
			Allowed: aDirectory, set: directoryPath(func(c *Config) *string { return &c.DumpDir }),
		},
		{
			Name: "import-dump", Meaning: "dump to begin with; an error where there is a database already",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.ImportDump }),
		},
		{
			Name: "import-dump-master-key", Meaning: "master key of the host that the dump or snapshot to import was made by, where it is another one: its secrets are sealed under this host's; without it they are dropped",
			Allowed: "a text", Secret: true,
			set: func(c *Config, v string) error { c.ImportMasterKey = secret.New(v); return nil },
		},
		{
			Name: "ignore-missing-dump", Default: "false", Meaning: "begin without the dump where import-dump names none that exists",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.IgnoreMissingDump }),
		},
		{
			Name: "ignore-dump-if-db-exists", Default: "false", Meaning: "begin with the database that is there rather than with import-dump",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.IgnoreDumpIfDBExists }),
		},
		{
			Name: "snapshot-dir", Default: "snapshots", Meaning: "directory that the snapshot is written to",
			Allowed: aDirectory, set: directoryPath(func(c *Config) *string { return &c.SnapshotDir }),
		},
		{
			Name: "schedule-snapshot", Default: "0", Meaning: "seconds between two snapshots that nobody has to ask for; 0: none; the bare flag: a day",
			Allowed: "a number of seconds, at most a year", Bare: "86400", set: seconds(func(c *Config) *time.Duration { return &c.ScheduleSnapshot }),
		},
		{
			Name: "import-snapshot", Meaning: "snapshot to begin with; an error where there is a database already",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.ImportSnapshot }),
		},
		{
			Name: "ignore-missing-snapshot", Default: "false", Meaning: "begin without the snapshot where import-snapshot names none that exists",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.IgnoreMissingSnapshot }),
		},
		{
			Name: "ignore-snapshot-if-db-exists", Default: "false", Meaning: "begin with the database that is there rather than with import-snapshot",
			Allowed: truths, Switch: true, set: truth(func(c *Config) *bool { return &c.IgnoreSnapshotIfDBExists }),
		},
		{
			Name: "chat-record-dir", Meaning: "directory in which each answer of a provider is written down, secrets removed, for parley plugin replay; it then holds what people asked",
			Allowed: aDirectory, set: directoryPath(func(c *Config) *string { return &c.ChatRecordDir }),
		},
		{
			Name: "chat-record-workspaces", Meaning: "workspaces whose answers chat-record-dir gets; none: all",
			Allowed: "workspace uids, separated by commas", set: uids(func(c *Config) *[]string { return &c.ChatRecordWorkspaces }),
		},
		{
			Name: "no-analytics", Default: "false", Meaning: "no telemetry: no events, no collectors, nothing written or sent; DO_NOT_TRACK does the same",
			Allowed: "anything; 0, false, no, off and nothing leave it on", Switch: true,
			set: func(c *Config, v string) error { c.Telemetry.Off = telemetry.Off(v); return nil },
		},
		{
			Name: "telemetry-url", Meaning: "where telemetry is sent, a Segment-compatible platform such as https://example.com/v1/batch; none: it is kept in the data directory and sent nowhere",
			Allowed: "an http or https URL without user and password",
			set: func(c *Config, v string) error {
				if err := upstream.CheckTelemetryURL(v); err != nil {
					return fmt.Errorf("is wrong: %w", err)
				}
				c.Telemetry.URL = v
				return nil
			},
		},
		{
			Name: "telemetry-write-key", Meaning: "write key of that platform", Allowed: "a text", Secret: true,
			set: func(c *Config, v string) error { c.Telemetry.WriteKey = secret.New(v); return nil },
		},
		{
			Name: "telemetry-contact", Meaning: "whom to ask to delete what was sent to that platform: parley telemetry delete names it",
			Allowed: "an e-mail address, a URL or another text on one line",
			set: func(c *Config, v string) error {
				if v == "" || strings.ContainsFunc(v, unicode.IsControl) {
					return fmt.Errorf("is %q", v)
				}
				c.Telemetry.Contact = v
				return nil
			},
		},
		{
			Name: "telemetry-file", Meaning: "file that gets a line for each message, exactly what is sent and what stays here; at 10 MiB it begins anew and the last two are kept",
			Allowed: aFile, set: filePath(func(c *Config) *string { return &c.Telemetry.File }),
		},
		{
			Name: "telemetry-collectors", Meaning: "collector plugins that are not the program's own, pinned by the lock, whose messages may be sent, too; others' stay on this machine",
			Allowed: "plugin names, separated by commas", set: uids(func(c *Config) *[]string { return &c.Telemetry.Collectors }),
		},
		{
			Name: "otlp-endpoint", Meaning: "collector that is told what chats spend their time with: OpenTelemetry traces without any text, by OTLP over HTTP to its /v1/traces; none: nobody is",
			Allowed: "an http or https URL without user and password, such as http://127.0.0.1:4318",
			set: func(c *Config, v string) error {
				if err := upstream.CheckTelemetryURL(v); err != nil {
					return fmt.Errorf("is wrong: %w", err)
				}
				c.OTLPEndpoint = v
				return nil
			},
		},
		{
			Name: "shutdown-grace", Default: "10s", Meaning: "time that streams under way get to finish at a shutdown",
			Allowed: durations, set: duration(func(c *Config) *time.Duration { return &c.ShutdownGrace }),
		},
	}
}
