package config

import (
	"cmp"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/api/httpapi/transport"
	"github.com/parley-search/parley/host/internal/base/secret"
	"github.com/parley-search/parley/host/internal/base/sysinfo"
	"github.com/parley-search/parley/host/internal/egress/upstream"
	"github.com/parley-search/parley/host/internal/plugin"
	"github.com/parley-search/parley/host/internal/plugin/deploy"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// Config is what the operator wrote, checked. See [AllOptions] for the meaning of
// each field.
//
// An option is declared in one file alone: a field, and a row of [AllOptions]
// that puts the value there. Those of telemetry and of the cluster have files of
// their own.
type Config struct {
	DBPath            string
	HTTPAddr          string
	PrivateNetworks   upstream.Private // that requests of the host may go to
	TrustedProxies    []netip.Prefix   // whose word on where a request comes from is taken
	AllowedHosts      []string         // names that Host may have, in lower case
	Console           string           // [ConsoleOn] or [ConsoleOff]
	DocsPage          bool
	AllowedOrigins    []string // of pages that may ask; nil: see [httpapi.Site]
	PublicURL         string   // where clients reach the host; empty: as each request says
	Env               string
	MasterKey         secret.Text
	PayloadLimit      int64
	SearchPayload     int64
	ChatPayload       int64
	AnswerLimit       int64
	RequestMemory     int64
	Connections       int
	IndexingMemory    int64
	VectorMemory      int64
	IndexingThreads   int // 0: half of the processors
	ReduceIndexing    bool
	Replicates        bool
	EmbeddingCache    int
	LogLevel          string
	LogsMode          string
	EnableMetrics     bool
	ContainsFilter    bool
	EnableLogsRoute   bool
	PluginDir         string
	PluginCacheDir    string // empty: one in the system's cache folder
	PluginLock        string
	PluginPublicKey   *deploy.PublicKey // nil: none
	PluginAPI         bool
	PluginRegistry    string // as [deploy.ParseRegistry] returns it; empty: none
	SearchQueueSize   int
	PluginFuel        int
	PluginIsolation   string
	ChatMaxRounds     int
	ChatMaxSteps      int
	ResponsesTTL      time.Duration // 0: no responses are kept
	ResponsesMaxBytes int64
	ProviderConnect   time.Duration
	ProviderFirstByte time.Duration
	ProviderSilence   time.Duration
	// ProviderTimeoutMax bounds what a plugin's manifest may say of the two.
	ProviderTimeoutMax time.Duration
	ProviderAnswer     time.Duration
	ShutdownGrace      time.Duration

	TaskWebhook              *url.URL // nil: nobody is told of finished tasks
	TaskWebhookAuthorization secret.Text

	TLS transport.TLSFiles // no Cert: plain HTTP

	DumpDir, SnapshotDir                           string
	ImportDump, ImportSnapshot                     string // files; empty: none
	IgnoreMissingDump, IgnoreMissingSnapshot       bool
	IgnoreDumpIfDBExists, IgnoreSnapshotIfDBExists bool
	ScheduleSnapshot                               time.Duration // 0: never
	ImportMasterKey                                secret.Text   // that the archive was made under; none: the host's own

	Telemetry TelemetryConfig

	Cluster ClusterConfig

	OTLPEndpoint string // empty: nothing is traced

	ChatRecordDir        string // empty: nothing is recorded
	ChatRecordWorkspaces []string
	Guards               []guard.Use

	// For the event launch alone: what the fields came of, whether a file was
	// read, and who hosts the machine.
	settings       []Setting
	fromFile       bool
	secretFiles    map[string]secretFile // by option name; see ReadSecrets
	ServerProvider string
}

// AllOptions lists every option of the host, in the order in which they are
// explained.
func AllOptions() []Option {
	all := []Option{
		{
			Name: "db-path", Default: "./data", Meaning: "directory that holds everything durable",
			Kind:   directoryKind(func(c *Config) *string { return &c.DBPath }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.DBPath }),
		},
		{
			Name: "http-addr", Default: "127.0.0.1:7700", Meaning: "address and port to listen on",
			Kind:   addressKind(),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.HTTPAddr }),
		},
		{
			Name: "allow-private-networks", Meaning: "private addresses, those of this machine too, that providers, embedders, remotes, exports, the webhook, telemetry and URLs of plugins may have; none: any where env is development and http-addr of this machine, else none; link-local and metadata addresses never",
			Kind: networksKind(),
		},
		{
			Name: "allowed-hosts", Meaning: "names by which requests may ask a host without a master key, beside that of --public-url and those of this machine, and beyond it addresses and names of local networks; with a master key, those that come from this machine without a key",
			Kind: hostsKind(),
		},
		{
			Name: "trusted-proxies", Meaning: "addresses of reverse proxies whose X-Forwarded-For says which client asks, for limits with perClient; none: the header is not read",
			Kind: proxiesKind(),
		},
		{
			Name: "console", Meaning: "the page for people at /console/: on or off; none: on where env is development, else off",
			Kind: choiceKind(func(c *Config) *string { return &c.Console }, ConsoleOn, ConsoleOff),
		},
		{
			Name: "docs-page", Default: "true", Meaning: "the page /docs, which describes the HTTP API",
			Kind: switchKind(func(c *Config) *bool { return &c.DocsPage }),
		},
		{
			Name: "allowed-origins", Meaning: "origins of web pages that may ask the host; none: without a master key those of this machine, with one all",
			Kind: originsKind(),
		},
		{
			Name: "ssl-cert-path", Meaning: "PEM file of the certificate, its chain behind it; with ssl-key-path the API is served over TLS, and a renewed file is used automatically",
			Kind:   fileKind(func(c *Config) *string { return &c.TLS.Cert }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SSLCertPath }),
		},
		{
			Name: "ssl-key-path", Meaning: "PEM file of the certificate's private key",
			Kind:   fileKind(func(c *Config) *string { return &c.TLS.Key }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SSLKeyPath }),
		},
		{
			Name: "ssl-auth-path", Meaning: "PEM file of the authorities whose clients' certificates are accepted; none: no client is asked for one",
			Kind:   fileKind(func(c *Config) *string { return &c.TLS.Auth }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SSLAuthPath }),
		},
		{
			Name: "ssl-require-auth", Default: "false", Meaning: "refuse clients without a certificate of ssl-auth-path",
			Kind:   switchKind(func(c *Config) *bool { return &c.TLS.RequireAuth }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.SSLRequireAuth }),
		},
		{
			Name: "ssl-ocsp-path", Meaning: "DER file of the issuer's OCSP response, which is stapled to the certificate",
			Kind:   fileKind(func(c *Config) *string { return &c.TLS.OCSP }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SSLOCSPPath }),
		},
		{
			Name: "ssl-resumption", Default: "false", Meaning: "let clients resume TLS sessions that the host remembers, 256 of them",
			Kind:   switchKind(func(c *Config) *bool { return &c.TLS.Resumption }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SSLResumption }),
		},
		{
			Name: "ssl-tickets", Default: "false", Meaning: "let clients resume TLS sessions by tickets that they keep themselves, encrypted",
			Kind:   switchKind(func(c *Config) *bool { return &c.TLS.Tickets }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SSLTickets }),
		},
		{
			Name: "env", Default: EnvDevelopment, Meaning: "production makes a master key obligatory",
			Kind:   choiceKind(func(c *Config) *string { return &c.Env }, EnvDevelopment, EnvProduction),
			Launch: reportChoice(func(e *event.Launch) *event.Env { return &e.Env }),
		},
		{
			Name: "master-key", Meaning: "secret that opens every route and from which API keys are derived; none leaves every route open",
			Secret: true, Kind: secretKind(func(c *Config) *secret.Text { return &c.MasterKey }, "at least 16 bytes when env is production"),
		},
		{
			Name: "http-payload-size-limit", Default: "100 MiB", Meaning: "largest request body",
			Kind:   sizeKind(func(c *Config) *int64 { return &c.PayloadLimit }),
			Launch: reportSize(func(e *event.Launch) *event.Count { return &e.HTTPPayloadSizeLimit }),
		},
		{
			Name: "http-search-payload-size-limit", Default: "1 MiB", Meaning: "largest body of a search, where http-payload-size-limit is not less: vectors and media of a query count too",
			Kind: sizeKind(func(c *Config) *int64 { return &c.SearchPayload }),
		},
		{
			Name: "http-chat-payload-size-limit", Default: "4 MiB", Meaning: "largest body of all that is no search and brings no documents, files, settings or plugins, such as a chat, a request below /v1 or a message of MCP, where http-payload-size-limit is not less: files in messages count too",
			Kind: sizeKind(func(c *Config) *int64 { return &c.ChatPayload }),
		},
		{
			Name: "http-answer-size-limit", Default: "64 MiB", Meaning: "largest answer of documents, hits and facets, before it is compressed; what would be larger is refused with the status 413",
			Kind: sizeKind(func(c *Config) *int64 { return &c.AnswerLimit }),
		},
		{
			Name: "max-request-memory", Meaning: "memory that bodies and answers of all requests under way may take together, an eighth of it for small ones alone; what is beyond is refused with the status 503; none: a quarter of what the process may take, by GOMEMLIMIT, its control groups or the machine",
			Derive: deriveRequestMemory, Kind: sizeKind(func(c *Config) *int64 { return &c.RequestMemory }),
		},
		{
			Name: "http-max-connections", Meaning: "connections of clients at a time, half of which one address may have that is not in trusted-proxies; where there are more, those are closed whose clients sent nothing for longest; none: half of the files that the process may open, 1,000,000 at most",
			Derive: deriveConnections, Kind: integerKind(func(c *Config) *int { return &c.Connections }, 16, mostConnections),
		},
		{
			Name: "max-indexing-memory", Default: "512 MiB", Meaning: "memory that indexing may take beyond what the idle host has; of 128 MiB or less the database may take as much again; mapped files not counted",
			Kind:   sizeKind(func(c *Config) *int64 { return &c.IndexingMemory }),
			Launch: reportSize(func(e *event.Launch) *event.Count { return &e.MaxIndexingMemory }),
		},
		{
			Name: "max-vector-memory", Default: "1 GiB", Meaning: "memory for vectors of the indexes that are searched by meaning: 4 bytes a number, 9 bits of it where an embedder has over 16,384, and about 150 bytes a document; what is beyond is read from disk at each search",
			Kind: sizeKind(func(c *Config) *int64 { return &c.VectorMemory }),
		},
		{
			Name: "max-indexing-threads", Default: "0", Meaning: "threads that cut documents into words; 0: half of the processors",
			Kind:   integerKind(func(c *Config) *int { return &c.IndexingThreads }, 0, 512),
			Launch: reportNumber(func(e *event.Launch) *event.Count { return &e.MaxIndexingThreads }),
		},
		{
			Name: "task-webhook-url", Meaning: "address that is told of finished tasks: NDJSON, packed by gzip; it may hold a token",
			Secret: true, Kind: webhookKind(),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.TaskQueueWebhook }),
		},
		{
			Name: "task-webhook-authorization-header", Meaning: "value of the header Authorization that the task webhook sends",
			Secret: true, Kind: headerKind(func(c *Config) *secret.Text { return &c.TaskWebhookAuthorization }),
			Live: func(c *Config) secret.Text { return c.TaskWebhookAuthorization },
		},
		{
			Name: "log-level", Default: "info", Meaning: "least severe log line that is written",
			Kind:   choiceKind(func(c *Config) *string { return &c.LogLevel }, "off", "error", "warn", "info", "debug", "trace"),
			Launch: reportChoice(func(e *event.Launch) *event.LogLevel { return &e.LogLevel }),
		},
		{
			Name: "experimental-logs-mode", Default: "human", Meaning: "form of a log line",
			Kind:   choiceKind(func(c *Config) *string { return &c.LogsMode }, "human", "json"),
			Launch: reportChoice(func(e *event.Launch) *event.LogsMode { return &e.LogsMode }),
		},
		{
			Name: "experimental-enable-metrics", Default: "false", Meaning: "begin with the feature metrics on",
			Kind:   switchKind(func(c *Config) *bool { return &c.EnableMetrics }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.EnableMetrics }),
		},
		{
			Name: "experimental-enable-logs-route", Default: "false", Meaning: "begin with the feature logsRoute on",
			Kind:   switchKind(func(c *Config) *bool { return &c.EnableLogsRoute }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.EnableLogsRoute }),
		},
		{
			Name: "experimental-contains-filter", Default: "false", Meaning: "begin with the feature containsFilter on",
			Kind: switchKind(func(c *Config) *bool { return &c.ContainsFilter }),
		},
		{
			Name: "experimental-reduce-indexing-memory-usage", Default: "false", Meaning: "write documents in parts a quarter as large, and cut them into words on one thread: slower, in less memory",
			Kind:   switchKind(func(c *Config) *bool { return &c.ReduceIndexing }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.ReduceIndexingMemory }),
		},
		{
			Name: "experimental-replication-parameters", Default: "false", Meaning: "let writes say by the header TaskId which number their task has, and by DryRun that nothing is to be written: for an instance that follows another one's log",
			Kind:   switchKind(func(c *Config) *bool { return &c.Replicates }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.ReplicationParameters }),
		},
		{
			Name: "experimental-embedding-cache-entries", Default: "0", Meaning: "vectors of queries that are kept for when they are asked again, only in memory; 0: each search asks its embedder",
			Kind:   integerKind(func(c *Config) *int { return &c.EmbeddingCache }, 0, 1_000_000),
			Launch: reportNumber(func(e *event.Launch) *event.Count { return &e.EmbeddingCacheEntries }),
		},
		{
			Name: "plugin-dir", Default: "plugins", Meaning: "directory of <name>-<version>.wasm files and their lock",
			Kind: directoryKind(func(c *Config) *string { return &c.PluginDir }),
		},
		{
			Name: "plugin-cache-dir", Meaning: "directory of compiled plugins, which hosts of one user may share and which is made again if it is missing; where it cannot be written to, each start compiles anew; none: parley/compiled in the system's cache folder",
			Kind: spareDirectoryKind(func(c *Config) *string { return &c.PluginCacheDir }),
		},
		{
			Name: "plugin-lock", Default: LockOn, Meaning: "on: run the plugins that the lock in the plugin directory pins and, of other names, those that the binary carries; off, for development: whatever the directory holds",
			Kind: choiceKind(func(c *Config) *string { return &c.PluginLock }, LockOn, LockOff),
		},
		{
			Name: "plugin-fuel", Default: "0", Meaning: "most fuel that one call of a plugin may spend (GET /plugins shows what they do); 0: what its manifest asks for",
			Kind: integerKind(func(c *Config) *int { return &c.PluginFuel }, 0, 2_000_000_000),
		},
		{
			Name: "plugin-isolation", Default: string(plugin.IsolateAnswers), Meaning: "between what an instance of a provider's plugin is reset. answer: nothing that one answer left in it reaches another. workspace: answers of one workspace are not reset between, which is quicker where very many run at once and all who ask in it may know of each other",
			Kind: choiceKind(func(c *Config) *string { return &c.PluginIsolation }, string(plugin.IsolateAnswers), string(plugin.IsolateWorkspaces)),
		},
		{
			Name: "plugin-public-key", Meaning: "whose signature every plugin file needs next to it (<file>.minisig); none: no signature is looked at",
			Kind: publicKeyKind(),
		},
		{
			Name: "plugin-api", Default: "false", Meaning: "let clients whose key has plugins.update install plugins from URLs, registries and files that they send, pin them and roll them back, under /plugins; not with plugin-lock off",
			Kind: switchKind(func(c *Config) *bool { return &c.PluginAPI }),
		},
		{
			Name: "plugin-registry", Meaning: "where plugins are looked up that are named alone, as in `parley plugin install openai`; none: those that are shipped, which the program has in it or builds with Go",
			Kind: pluginRegistryKind(),
		},
		{
			Name: "experimental-search-queue-size", Default: "1000", Meaning: "searches that may wait while as many run as there are processors; more are refused with the status 503",
			Kind:   integerKind(func(c *Config) *int { return &c.SearchQueueSize }, 1, 1_000_000),
			Launch: reportNumber(func(e *event.Launch) *event.Count { return &e.SearchQueueSize }),
		},
		{
			Name: "public-url", Meaning: "where clients reach this host, for links to documents that have none of their own; none: the address that each request was sent to",
			Kind: publicURLKind(),
		},
		{
			Name: "responses-ttl", Default: "1h", Meaning: "how long a response of /v1/responses can be referred to after it was last used; kept only in memory, encrypted; 0: none is kept",
			Kind: durationOrZeroKind(func(c *Config) *time.Duration { return &c.ResponsesTTL }),
		},
		{
			Name: "responses-max-bytes", Default: "64 MiB", Meaning: "memory for these responses; where it is full, the key that keeps most loses those that it has not used for longest",
			Kind: sizeKind(func(c *Config) *int64 { return &c.ResponsesMaxBytes }),
		},
		{
			Name: "chat-max-rounds", Default: "20", Meaning: "requests to the provider that one answer may take, whatever workspaces say by maxRounds",
			Kind: integerKind(func(c *Config) *int { return &c.ChatMaxRounds }, 1, 100),
		},
		{
			Name: "chat-max-steps", Default: "300", Meaning: "requests that a plugin which polls or uploads may add to one round, whatever its manifest says by steps",
			Kind: integerKind(func(c *Config) *int { return &c.ChatMaxSteps }, 1, 1000),
		},
		{
			Name: "guards", Meaning: "guards that stand before those of each workspace, by their names, or a .json file with an array as the workspaces' setting guards has; what fails there always closes",
			Kind: guardsKind(func(c *Config) *[]guard.Use { return &c.Guards }),
		},
		{
			Name: "provider-connect-timeout", Default: "10s", Meaning: "time to connect to a provider",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.ProviderConnect }),
		},
		{
			Name: "provider-first-byte-timeout", Default: "1m", Meaning: "time until a provider's first byte",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.ProviderFirstByte }),
		},
		{
			Name: "provider-silence-timeout", Default: "1m", Meaning: "time between two reads of a provider's answer",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.ProviderSilence }),
		},
		{
			Name: "provider-timeout-max", Default: "10m", Meaning: "most that a plugin's manifest or a workspace may ask for in place of the two above",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.ProviderTimeoutMax }),
		},
		{
			Name: "provider-answer-timeout", Default: "10m", Meaning: "time that one request to a provider may take in all",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.ProviderAnswer }),
		},
		{
			Name: "dump-dir", Default: "dumps", Meaning: "directory that dumps are written to",
			Kind:   directoryKind(func(c *Config) *string { return &c.DumpDir }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.DumpDir }),
		},
		{
			Name: "import-dump", Meaning: "dump to begin with; an error where there is a database already",
			Kind:   fileKind(func(c *Config) *string { return &c.ImportDump }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.ImportDump }),
		},
		{
			Name: "import-dump-master-key", Meaning: "master key of the host that the dump or snapshot to import was made by, where it is another one: its secrets are sealed under this host's; without it they are dropped",
			Secret: true, Kind: secretKind(func(c *Config) *secret.Text { return &c.ImportMasterKey }, "a text"),
		},
		{
			Name: "ignore-missing-dump", Default: "false", Meaning: "begin without the dump where import-dump names none that exists",
			Kind:   switchKind(func(c *Config) *bool { return &c.IgnoreMissingDump }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.IgnoreMissingDump }),
		},
		{
			Name: "ignore-dump-if-db-exists", Default: "false", Meaning: "begin with the database that is there rather than with import-dump",
			Kind:   switchKind(func(c *Config) *bool { return &c.IgnoreDumpIfDBExists }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.IgnoreDumpIfDBExists }),
		},
		{
			Name: "snapshot-dir", Default: "snapshots", Meaning: "directory that the snapshot is written to",
			Kind:   directoryKind(func(c *Config) *string { return &c.SnapshotDir }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.SnapshotDir }),
		},
		{
			Name: "schedule-snapshot", Default: "0", Meaning: "seconds between two snapshots that nobody has to ask for; 0: none; the bare flag: a day",
			Bare: "86400", Kind: secondsKind(func(c *Config) *time.Duration { return &c.ScheduleSnapshot }),
			Launch: reportSeconds(func(e *event.Launch) *event.MaybeCount { return &e.ScheduleSnapshot }),
		},
		{
			Name: "import-snapshot", Meaning: "snapshot to begin with; an error where there is a database already",
			Kind:   fileKind(func(c *Config) *string { return &c.ImportSnapshot }),
			Launch: reportGiven(func(e *event.Launch) *event.Flag { return &e.ImportSnapshot }),
		},
		{
			Name: "ignore-missing-snapshot", Default: "false", Meaning: "begin without the snapshot where import-snapshot names none that exists",
			Kind:   switchKind(func(c *Config) *bool { return &c.IgnoreMissingSnapshot }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.IgnoreMissingSnapshot }),
		},
		{
			Name: "ignore-snapshot-if-db-exists", Default: "false", Meaning: "begin with the database that is there rather than with import-snapshot",
			Kind:   switchKind(func(c *Config) *bool { return &c.IgnoreSnapshotIfDBExists }),
			Launch: reportOn(func(e *event.Launch) *event.Flag { return &e.IgnoreSnapshotIfDB }),
		},
		{
			Name: "chat-record-dir", Meaning: "directory in which each answer of a provider is written down, secrets removed, for parley plugin replay; it then holds what people asked",
			Kind: directoryKind(func(c *Config) *string { return &c.ChatRecordDir }),
		},
		{
			Name: "chat-record-workspaces", Meaning: "workspaces whose answers chat-record-dir gets; none: all",
			Kind: uidsKind(func(c *Config) *[]string { return &c.ChatRecordWorkspaces }, "workspace uids, separated by commas"),
		},
	}
	all = append(all, telemetryOptions()...)
	all = append(all, clusterOptions()...)
	return append(all,
		Option{
			Name: "otlp-endpoint", Meaning: "collector that is told what chats spend their time with: OpenTelemetry traces without any text, by OTLP over HTTP to its /v1/traces; none: nobody is",
			Kind: telemetryURLKind(func(c *Config) *string { return &c.OTLPEndpoint }, "an http or https URL without user and password, such as http://127.0.0.1:4318"),
		},
		Option{
			Name: "shutdown-grace", Default: "10s", Meaning: "time that streams under way get to finish at a shutdown",
			Kind: durationKind(func(c *Config) *time.Duration { return &c.ShutdownGrace }),
		},
	)
}

// deriveRequestMemory is a quarter of the memory: indexing, vectors and plugins have
// theirs beside it.
func deriveRequestMemory() string {
	n := cmp.Or(sysinfo.Memory(), 4<<30) // where it is not known
	return humanize.IBytes(uint64(max(n/4, 16<<20)))
}

const mostConnections = 1_000_000

// deriveConnections leaves half of the descriptors to files and to what the host
// asks itself: an answer from a provider takes a connection of either kind.
func deriveConnections() string {
	n := uint64(mostConnections)
	if files := sysinfo.Descriptors(); files > 0 {
		n = min(max(files/2, 16), n)
	}
	return strconv.FormatUint(n, 10)
}
