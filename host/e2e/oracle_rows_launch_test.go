package e2e

// launchRows are the metrics of options and features.
func launchRows() []row {
	return []row{
		{"context.app.version", bare, "1.2.3", byFile, "0.0.0"},
		{"infos.env", byFlags, "production", byFile, "development"},
		{"infos.db_path", byFile, true, bare, false},
		{"infos.import_dump", byFlags, true, bare, false},
		{"infos.dump_dir", byFile, true, bare, false}, // with the value that it has anyway
		{"infos.dump_dir", byFlags, true, bare, false},
		{"infos.ignore_missing_dump", byFlags, true, bare, false},
		{"infos.ignore_dump_if_db_exists", byFlags, true, bare, false},
		{"infos.import_snapshot", byFlags, true, bare, false},
		{"infos.schedule_snapshot", byFlags, 86400, bare, nil},
		{"infos.snapshot_dir", byFile, true, bare, false},
		{"infos.ignore_missing_snapshot", byFlags, true, bare, false},
		{"infos.ignore_snapshot_if_db_exists", byFlags, true, bare, false},
		{"infos.http_addr", byFlags, true, bare, false},
		{"infos.http_payload_size_limit", byFlags, 50_000_000, bare, 104_857_600},
		{"infos.log_level", byFlags, "trace", byFile, "info"},
		{"infos.max_indexing_memory", byFlags, 67_108_864, bare, 536_870_912},
		{"infos.max_indexing_threads", byFlags, 3, bare, 0},
		{"infos.ssl_auth_path", byFlags, true, bare, false},
		{"infos.ssl_cert_path", byFlags, true, bare, false},
		{"infos.ssl_key_path", byFlags, true, bare, false},
		{"infos.ssl_ocsp_path", byFlags, true, bare, false},
		{"infos.ssl_require_auth", byFlags, true, byFile, false}, // its value counts
		{"infos.ssl_resumption", byFile, true, bare, false},      // that it is given counts, even as false
		{"infos.ssl_tickets", byFile, true, bare, false},
		{"infos.with_configuration_file", byFile, true, byFlags, false},
		{"infos.task_queue_webhook", byFlags, true, bare, false},

		{"infos.experimental_composite_embedders", switched(`{"compositeEmbedders":true}`), true, switched(`{"compositeEmbedders":false,"metrics":true}`), false},
		{"infos.experimental_contains_filter", byFlags, true, bare, false},
		{"infos.experimental_contains_filter", switched(`{"containsFilter":true}`), true, switched(`{"containsFilter":false,"metrics":true}`), false},
		constant("infos.experimental_edit_documents_by_function", false),
		{"infos.experimental_enable_metrics", byFlags, true, switched(`{"metrics":true}`), false},
		{"infos.experimental_embedding_cache_entries", byFlags, 100, bare, 0},
		{"infos.experimental_multimodal", switched(`{"multimodal":true}`), true, switched(`{"multimodal":false,"metrics":true}`), false},
		constant("infos.experimental_no_edition_2024_for_settings", false),
		{"infos.experimental_replication_parameters", byFlags, true, bare, false},
		{"infos.experimental_reduce_indexing_memory_usage", byFlags, true, bare, false},
		{"infos.experimental_logs_mode", byFlags, "json", bare, "human"},
		{"infos.experimental_enable_logs_route", byFlags, true, switched(`{"logsRoute":true}`), false},
		{"infos.experimental_search_queue_size", byFlags, 500, bare, 1000},
		constant("infos.experimental_dumpless_upgrade", false),
		constant("infos.gpu_enabled", false),

		{"network", switched(`{"network":true}`), true, "GET /experimental-features", absent{}},
		{"network", networked + switched(`{"metrics":true}`), true, switched(`{"network":false}`) + "\n" + switched(`{"metrics":false}`), false},
		{"experimental_network", switched(`{"network":true}`), true, switched(`{"network":false}`) + "\n" + switched(`{"metrics":false}`), false},
		{"multimodal", switched(`{"multimodal":true}`), true, "GET /experimental-features", absent{}},
		{"multimodal", switched(`{"multimodal":true}`) + "\n" + switched(`{"metrics":true}`), true, switched(`{"multimodal":false}`) + "\n" + switched(`{"metrics":false}`), false},
	}
}

// machineRows are the metrics of machine and database.
func machineRows() []row {
	return []row{
		{"system.distribution", bare, "debian", byFile, "other"},
		{"system.kernel_version", byFlags, "5.15.167", byFile, absent{}},
		{"system.cores", byFlags, 16, bare, 2},
		{"system.ram_size", byFlags, 8 << 20, bare, 2 << 20},
		{"system.disk_size", byFlags, 500_000_000_000, bare, 40_000_000_000},
		{"system.server_provider", byFlags, "aws", bare, ""},
		{"system.server_provider", byFlags, "aws", byFile, "other"},
		{"stats.database_size", megabytes(), bound{over: true, n: 5_000_000}, bare, bound{n: 500_000_000}}, // Badger's logs have 2 GB, and hardly anything in them
		{"stats.indexes_number", older, 2, bare, 0},
		{"start_since_days", older, 10, bare, 0},
	}
}

// switched is a window in which features are of them.
func switched(body string) scenario { return scenario("PATCH /experimental-features " + body) }
