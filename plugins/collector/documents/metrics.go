package main

// The metrics, by their place in manifest.json.
const (
	metricPayloadTypes = iota
	metricPrimaryKey
	metricIndexCreation
	metricSwaps
	metricPerDocumentID
	metricPerFilter
	metricClearAll
	metricPerBatch
)
