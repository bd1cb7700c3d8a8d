package main

import (
	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/collector"
)

// The ends of ranges in manifest.json.
const (
	mostBytes   = 1 << 50
	mostThreads = 4096
	mostEntries = 1 << 31
	mostDays    = 36_500
	mostSeconds = 31_536_000
)

// window is the last that was told of each.
type window struct {
	launch   event.Launch
	features event.Features
	host     event.Host
}

func (w *window) Observe(e collector.Event) {
	switch e.Kind() {
	case event.KindLaunch:
		w.launch = *e.Launch()
	case event.KindFeatures:
		w.features = *e.Features()
	case event.KindHost:
		w.host = *e.Host()
	}
}

func (w *window) Flush(m *collector.Metrics) {
	flushOptions(m, &w.launch)
	flushExperimental(m, &w.launch, &w.features)
	flushHost(m, &w.host)
}

func flushOptions(m *collector.Metrics, l *event.Launch) {
	m.Handle(metricVersion, l.Version)
	m.Label(metricEnv, collector.Known(l.Env))
	m.Flag(metricDBPath, l.DBPath)
	m.Flag(metricImportDump, l.ImportDump)
	m.Flag(metricDumpDir, l.DumpDir)
	m.Flag(metricIgnoreMissingDump, l.IgnoreMissingDump)
	m.Flag(metricIgnoreDump, l.IgnoreDumpIfDBExists)
	m.Flag(metricImportSnapshot, l.ImportSnapshot)
	if seconds, given := l.ScheduleSnapshot.Get(); given {
		m.UpTo(metricScheduleSnapshot, max(seconds, 1), mostSeconds)
	}
	m.Flag(metricSnapshotDir, l.SnapshotDir)
	m.Flag(metricIgnoreMissingSnapshot, l.IgnoreMissingSnapshot)
	m.Flag(metricIgnoreSnapshot, l.IgnoreSnapshotIfDB)
	m.Flag(metricHTTPAddr, l.HTTPAddr)
	m.UpTo(metricPayloadLimit, uint64(l.HTTPPayloadSizeLimit), mostBytes)
	m.Label(metricLogLevel, collector.Known(l.LogLevel))
	m.UpTo(metricIndexingMemory, uint64(l.MaxIndexingMemory), mostBytes)
	m.UpTo(metricIndexingThreads, uint64(l.MaxIndexingThreads), mostThreads)
	m.Flag(metricSSLAuthPath, l.SSLAuthPath)
	m.Flag(metricSSLCertPath, l.SSLCertPath)
	m.Flag(metricSSLKeyPath, l.SSLKeyPath)
	m.Flag(metricSSLOCSPPath, l.SSLOCSPPath)
	m.Flag(metricSSLRequireAuth, l.SSLRequireAuth)
	m.Flag(metricSSLResumption, l.SSLResumption)
	m.Flag(metricSSLTickets, l.SSLTickets)
	m.Flag(metricConfigurationFile, l.WithConfigurationFile)
	m.Flag(metricWebhook, l.TaskQueueWebhook)
}

func flushExperimental(m *collector.Metrics, l *event.Launch, f *event.Features) {
	m.Flag(metricCompositeEmbedders, f.CompositeEmbedders)
	m.Flag(metricContainsFilter, f.ContainsFilter)
	m.Flag(metricEnableMetrics, l.EnableMetrics)
	m.Flag(metricMultimodal, f.Multimodal)
	m.UpTo(metricCacheEntries, uint64(l.EmbeddingCacheEntries), mostEntries)
	m.Flag(metricReplication, l.ReplicationParameters)
	m.Flag(metricReduceMemory, l.ReduceIndexingMemory)
	m.Label(metricLogsMode, collector.Known(l.LogsMode))
	m.Flag(metricLogsRoute, l.EnableLogsRoute)
	m.UpTo(metricQueueSize, uint64(l.SearchQueueSize), mostEntries)
}

func flushHost(m *collector.Metrics, h *event.Host) {
	m.Handle(metricDistribution, h.Distribution)
	m.Handle(metricKernel, h.KernelVersion)
	m.UpTo(metricCores, max(uint64(h.Cores), 1), mostThreads)
	m.Count(metricRAM, uint64(h.RAMSize))
	m.Count(metricDisk, uint64(h.DiskSize))
	m.Handle(metricProvider, h.ServerProvider)
	m.Count(metricDatabaseSize, uint64(h.DatabaseSize))
	m.UpTo(metricIndexes, uint64(h.Indexes), mostEntries)
	m.UpTo(metricSinceDays, uint64(h.StartSinceDays), mostDays)
}
