package event

// Launch says how the process was started. A collector gets it at the start of
// each window, when it takes over from another version, and again before it is
// asked for its metrics where something has changed since.
//
//parley:event 1
type Launch struct {
	Version               Handle     `vocabulary:"version"` // of the service
	Env                   Env        // option env
	DBPath                Flag       // db-path was given
	ImportDump            Flag       // import-dump was given
	DumpDir               Flag       // dump-dir was given
	IgnoreMissingDump     Flag       // value of ignore-missing-dump
	IgnoreDumpIfDBExists  Flag       // value of ignore-dump-if-db-exists
	ImportSnapshot        Flag       // import-snapshot was given
	ScheduleSnapshot      MaybeCount // seconds; nothing where it is off
	SnapshotDir           Flag       // snapshot-dir was given
	IgnoreMissingSnapshot Flag       // value of ignore-missing-snapshot
	IgnoreSnapshotIfDB    Flag       `name:"ignore_snapshot_if_db_exists"` // value of ignore-snapshot-if-db-exists
	HTTPAddr              Flag       // http-addr was given
	HTTPPayloadSizeLimit  Count      // bytes
	LogLevel              LogLevel   // option log-level
	MaxIndexingMemory     Count      // bytes
	MaxIndexingThreads    Count      // threads
	SSLAuthPath           Flag       // ssl-auth-path was given
	SSLCertPath           Flag       // ssl-cert-path was given
	SSLKeyPath            Flag       // ssl-key-path was given
	SSLOCSPPath           Flag       `name:"ssl_ocsp_path"` // ssl-ocsp-path was given
	SSLRequireAuth        Flag       // value of ssl-require-auth
	SSLResumption         Flag       // ssl-resumption was given
	SSLTickets            Flag       // ssl-tickets was given
	WithConfigurationFile Flag       // a configuration file was read
	TaskQueueWebhook      Flag       // task-webhook-url was given
	EnableMetrics         Flag       // experimental-enable-metrics
	EmbeddingCacheEntries Count      // experimental-embedding-cache-entries
	NoEdition2024         Flag       `name:"no_edition_2024_for_settings"` // experimental-no-edition-2024-for-settings
	ReplicationParameters Flag       // experimental-replication-parameters
	ReduceIndexingMemory  Flag       `name:"reduce_indexing_memory_usage"` // experimental-reduce-indexing-memory-usage
	LogsMode              LogsMode   // experimental-logs-mode
	EnableLogsRoute       Flag       // experimental-enable-logs-route
	SearchQueueSize       Count      // experimental-search-queue-size
	DumplessUpgrade       Flag       // experimental-dumpless-upgrade
	GPUEnabled            Flag       // built with support for GPUs
}

// Features says which runtime features are on. A collector gets it when
// [Launch] comes, with Patched at 0, and after each change by the route.
//
//parley:event 2
type Features struct {
	Patched                 Flag // this is a PATCH of /experimental-features, not a report
	CompositeEmbedders      Flag // feature compositeEmbedders
	ContainsFilter          Flag // feature containsFilter
	EditDocumentsByFunction Flag // feature editDocumentsByFunction
	Metrics                 Flag // feature metrics
	Multimodal              Flag // feature multimodal
	Network                 Flag // feature network
	LogsRoute               Flag // feature logsRoute
	ChatCompletions         Flag // feature chatCompletions
	VectorStoreSetting      Flag // feature vectorStoreSetting
	GetTaskDocumentsRoute   Flag // feature getTaskDocumentsRoute
}

// Host describes machine and database, rounded. A collector gets it when
// [Launch] comes.
//
//parley:event 3
type Host struct {
	Distribution   Handle `vocabulary:"distribution"`    // of the operating system
	KernelVersion  Handle `vocabulary:"kernel"`          // cut behind its numbers; none where it has none
	ServerProvider Handle `vocabulary:"server_provider"` // variable PARLEY_SERVER_PROVIDER; the empty text where unset
	Cores          Count  // processors
	RAMSize        Count  // KiB, in steps of 64 MiB
	DiskSize       Count  // bytes of the largest disk, in steps of 1 GB
	DatabaseSize   Count  // bytes, in steps of 1 MB
	Indexes        Count  // how many there are
	StartSinceDays Count  // whole days since the data directory was first used
}
