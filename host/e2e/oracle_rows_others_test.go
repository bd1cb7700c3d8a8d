package e2e

import (
	"encoding/base64"
	"math/rand/v2"
)

// documentsRows are the metrics of documents and indexes.
func documentsRows() []row {
	const add scenario = `POST /indexes/films/documents [{"id":3}]`
	return []row{
		{"payload_type", "[Content-Type: application/x-ndjson; charset=utf-8] POST /indexes/lines/documents {\"id\":1}", []string{"application/x-ndjson"}, listed, absent{}},
		{"payload_type", "415 [Content-Type: nonsense] POST /indexes/films/documents []\n415 [Content-Type:] POST /indexes/films/documents []", []string{"invalid", "missing"}, add, []string{"application/json"}},
		{"primary_key", `PUT /indexes/films/documents?primaryKey=id [{"id":3}]`, "id", add, nil},
		{"primary_key", `POST /indexes {"uid":"keyed","primaryKey":"sku"}`, "sku", `POST /indexes {"uid":"dialed","primaryKey":"5551234567"}`, "other"},
		{"index_creation", `POST /indexes/made/documents [{"id":1}]`, true, add, false},
		{"swap_operation_number", `POST /swap-indexes [{"indexes":["films","slow"]}]` + "\n" + `POST /swap-indexes [{"indexes":["films","slow"]}]`, 2, `POST /indexes {"uid":"unswapped"}`, absent{}},
		{"per_document_id", "DELETE /indexes/films/documents/9", true, "GET /indexes/films/documents/1\n" + listed, false},
		{"per_filter", `POST /indexes/films/documents/fetch {}`, true, "DELETE /indexes/films/documents/9", false},
		{"per_filter", `POST /indexes/films/documents/delete {"filter":"genre = none"}`, true, add, absent{}},
		{"clear_all", "DELETE /indexes/slow/documents\nPOST /indexes/slow/documents " + `[{"id":1,"title":"one two three"}]`, true, listed, false},
		{"per_batch", `POST /indexes/films/documents/delete-batch [9]`, true, "DELETE /indexes/films/documents/9", false},
	}
}

// tasksRows are the metrics of what is asked of tasks.
func tasksRows() []row {
	by := func(filter string) scenario { return scenario("GET /tasks?" + filter) }
	return []row{
		{"per_task_uid", "GET /tasks/0", true, by("uids=0"), false},
		{"filtered_by_uid", by("uids=0"), true, "GET /tasks/0", false},
		{"filtered_by_index_uid", by("indexUids=films"), true, by("types=indexCreation"), false},
		{"filtered_by_type", by("types=indexCreation"), true, by("statuses=failed"), false},
		{"filtered_by_status", "POST /tasks/cancel?statuses=failed", true, by("indexUids=films"), false},
		{"filtered_by_canceled_by", by("canceledBy=0"), true, by("uids=0"), false},
		{"filtered_by_before_enqueued_at", by("beforeEnqueuedAt=2020-01-01"), true, by("afterEnqueuedAt=2020-01-01"), false},
		{"filtered_by_after_enqueued_at", by("afterEnqueuedAt=2020-01-01"), true, by("beforeEnqueuedAt=2020-01-01"), false},
		{"filtered_by_before_started_at", by("beforeStartedAt=2020-01-01"), true, by("afterStartedAt=2020-01-01"), false},
		{"filtered_by_after_started_at", by("afterStartedAt=2020-01-01"), true, by("beforeFinishedAt=2020-01-01"), false},
		{"filtered_by_before_finished_at", "DELETE /tasks?beforeFinishedAt=2020-01-01", true, by("afterFinishedAt=2020-01-01"), false},
		{"filtered_by_after_finished_at", by("afterFinishedAt=2020-01-01"), true, "GET /batches?afterFinishedAt=2020-01-01", absent{}},
	}
}

// networked begins what needs the feature.
const networked scenario = `PATCH /experimental-features {"network":true}` + "\n"

// networkRows are the metrics of clients, remotes, exports and stats.
func networkRows() []row {
	const here, there = `"here":{"url":"http://127.0.0.1:9"}`, `"there":{"url":"http://127.0.0.1:9","searchApiKey":"key"}`
	// Nobody is there to take them, and none has to be taken to be counted.
	const export scenario = `400 POST /export {"url":"ftp://127.0.0.1","indexes":{"films":{}}}`
	exports := `400 POST /export {"url":"ftp://127.0.0.1","apiKey":"k","payloadSize":"2 KiB","indexes":{"films":{"filter":"genre = x"},"slow":{"filter":null}}}` + "\n" + export
	return []row{
		{"user_agent", "[User-Agent: curl/8.5.0] GET /version", []string{"curl/8.5.0"}, "[User-Agent: Joe's own/1.0 (joe@example.com)] GET /version", []string{"other"}},
		{"user_agent", "[X-Meilisearch-Client: Meilisearch Python (v0.31.0)] GET /version", []string{"Meilisearch-python/0.31.0"}, "[User-Agent: curl/10.0.0.7] GET /version", []string{"curl"}},
		{"user_agent", `[User-Agent: Wget/1.21] POST /logs/stream {"target":"info"}`, []string{"Go-http-client/1.1", "Wget/1.21"}, "GET /health", []string{"Go-http-client/1.1"}},
		{"network_has_self", networked + `PATCH /network {"self":"here","remotes":{` + here + `}}`, true, networked + `PATCH /network {"self":null}`, false},
		{"network_size", networked + `PATCH /network {"remotes":{` + here + "," + there + `}}`, 2, networked + "GET /network", absent{}},
		{"export.total_received", exports, 2, "GET /stats", absent{}},
		{"export.has_api_key", exports, 1, export, 0},
		{"export.avg_index_patterns", exports, 1.5, export, 1},
		{"export.avg_patterns_with_filter", exports, 0.5, export, 0},
		{"export.avg_payload_size", exports, 2048, export, absent{}}, // of those that give it
		{"per_index_uid", "GET /indexes/films/stats", true, "GET /stats", false},
	}
}

// megabytes writes a document of eight megabytes that cannot be packed.
func megabytes() scenario {
	random := make([]byte, 6<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(random) // it never fails
	return scenario(`POST /indexes/large/documents [{"id":1,"text":"` + base64.StdEncoding.EncodeToString(random) + `"}]`)
}
