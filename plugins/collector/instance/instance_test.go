package main

import (
	"testing"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/sdk/plugintest"
)

func TestReference(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	d.Compare(plugintest.Reference{
		"context.app.version":                             d.Says("Launch.Version"),
		"infos.env":                                       d.Says("Launch.Env"),
		"infos.db_path":                                   d.Says("Launch.DBPath"),
		"infos.import_dump":                               d.Says("Launch.ImportDump"),
		"infos.dump_dir":                                  d.Says("Launch.DumpDir"),
		"infos.ignore_missing_dump":                       d.Says("Launch.IgnoreMissingDump"),
		"infos.ignore_dump_if_db_exists":                  d.Says("Launch.IgnoreDumpIfDBExists"),
		"infos.import_snapshot":                           d.Says("Launch.ImportSnapshot"),
		"infos.schedule_snapshot":                         lastOf(d, "Launch.ScheduleSnapshot"),
		"infos.snapshot_dir":                              d.Says("Launch.SnapshotDir"),
		"infos.ignore_missing_snapshot":                   d.Says("Launch.IgnoreMissingSnapshot"),
		"infos.ignore_snapshot_if_db_exists":              d.Says("Launch.IgnoreSnapshotIfDB"),
		"infos.http_addr":                                 d.Says("Launch.HTTPAddr"),
		"infos.http_payload_size_limit":                   d.Says("Launch.HTTPPayloadSizeLimit"),
		"infos.log_level":                                 d.Says("Launch.LogLevel"),
		"infos.max_indexing_memory":                       d.Says("Launch.MaxIndexingMemory"),
		"infos.max_indexing_threads":                      d.Says("Launch.MaxIndexingThreads"),
		"infos.ssl_auth_path":                             d.Says("Launch.SSLAuthPath"),
		"infos.ssl_cert_path":                             d.Says("Launch.SSLCertPath"),
		"infos.ssl_key_path":                              d.Says("Launch.SSLKeyPath"),
		"infos.ssl_ocsp_path":                             d.Says("Launch.SSLOCSPPath"),
		"infos.ssl_require_auth":                          d.Says("Launch.SSLRequireAuth"),
		"infos.ssl_resumption":                            d.Says("Launch.SSLResumption"),
		"infos.ssl_tickets":                               d.Says("Launch.SSLTickets"),
		"infos.with_configuration_file":                   d.Says("Launch.WithConfigurationFile"),
		"infos.task_queue_webhook":                        d.Says("Launch.TaskQueueWebhook"),
		"infos.experimental_composite_embedders":          d.Says("Features.CompositeEmbedders"),
		"infos.experimental_contains_filter":              d.Says("Features.ContainsFilter"),
		"infos.experimental_enable_metrics":               d.Says("Launch.EnableMetrics"),
		"infos.experimental_embedding_cache_entries":      d.Says("Launch.EmbeddingCacheEntries"),
		"infos.experimental_multimodal":                   d.Says("Features.Multimodal"),
		"infos.experimental_replication_parameters":       d.Says("Launch.ReplicationParameters"),
		"infos.experimental_reduce_indexing_memory_usage": d.Says("Launch.ReduceIndexingMemory"),
		"infos.experimental_logs_mode":                    lastOf(d, "Launch.LogsMode"),
		"infos.experimental_enable_logs_route":            d.Says("Launch.EnableLogsRoute"),
		"infos.experimental_search_queue_size":            d.Says("Launch.SearchQueueSize"),
		"system.distribution":                             d.Says("Host.Distribution"),
		"system.kernel_version":                           d.Says("Host.KernelVersion"),
		"system.cores":                                    d.Says("Host.Cores"),
		"system.ram_size":                                 d.Says("Host.RAMSize"),
		"system.disk_size":                                d.Says("Host.DiskSize"),
		"system.server_provider":                          d.Says("Host.ServerProvider"),
		"stats.database_size":                             d.Says("Host.DatabaseSize"),
		"stats.indexes_number":                            d.Says("Host.Indexes"),
		"start_since_days":                                d.Says("Host.StartSinceDays"),
	})
}

// lastOf returns the rule of a field of the launch that may be open: the last
// launch decides, and where it says nothing there is no value.
func lastOf(d *plugintest.CollectorDriver, field string) plugintest.Rule {
	says := d.Says(field)
	return func(e any) any {
		if v := says(e); v != nil {
			return v
		}
		if _, ok := e.(event.Launch); ok {
			return plugintest.Nothing{}
		}
		return nil
	}
}

// TestKernel leaves out a kernel without a number, and nothing else.
func TestKernel(t *testing.T) {
	d := plugintest.NewCollector(t, &window{}, "manifest.json")
	plugintest.Emit(d, event.Launch{Version: d.Handle(event.VocabularyVersion, "1.2.3"), Env: 1, LogLevel: 4, LogsMode: 1})
	plugintest.Emit(d, event.Features{ContainsFilter: 1})
	plugintest.Emit(d, event.Host{Distribution: d.Handle(event.VocabularyDistribution, "plan9"), ServerProvider: d.Handle(event.VocabularyServerProvider, ""), Cores: 2})
	got := d.End()
	if _, ok := got["system.kernel_version"]; ok {
		t.Errorf("metrics = %v, want no version of a kernel that has none", got)
	}
	if v, ok := got["system.server_provider"]; v != "" || !ok {
		t.Errorf("metrics = %v, want a provider of the empty text", got)
	}
	if got["infos.experimental_contains_filter"] != true || got["infos.env"] != "development" {
		t.Errorf("metrics = %v, want containsFilter, and development", got)
	}
}
