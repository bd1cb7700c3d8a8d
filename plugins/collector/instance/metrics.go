package main

// The metrics, by their place in manifest.json.
const (
	metricVersion = iota
	metricEnv
	metricDBPath
	metricImportDump
	metricDumpDir
	metricIgnoreMissingDump
	metricIgnoreDump
	metricImportSnapshot
	metricScheduleSnapshot
	metricSnapshotDir
	metricIgnoreMissingSnapshot
	metricIgnoreSnapshot
	metricHTTPAddr
	metricPayloadLimit
	metricLogLevel
	metricIndexingMemory
	metricIndexingThreads
	metricSSLAuthPath
	metricSSLCertPath
	metricSSLKeyPath
	metricSSLOCSPPath
	metricSSLRequireAuth
	metricSSLResumption
	metricSSLTickets
	metricConfigurationFile
	metricWebhook
	metricCompositeEmbedders
	metricContainsFilter
	metricEditByFunction
	metricEnableMetrics
	metricCacheEntries
	metricMultimodal
	metricNoEdition2024
	metricReplication
	metricReduceMemory
	metricLogsMode
	metricLogsRoute
	metricQueueSize
	metricDumplessUpgrade
	metricGPU
	metricDistribution
	metricKernel
	metricCores
	metricRAM
	metricDisk
	metricProvider
	metricDatabaseSize
	metricIndexes
	metricSinceDays
)
