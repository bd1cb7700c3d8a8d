package main

// The metrics, by their place in manifest.json.
const (
	metricPerTaskUID = iota
	metricByUID
	metricByIndexUID
	metricByType
	metricByStatus
	metricByCanceledBy
	metricBeforeEnqueued
	metricAfterEnqueued
	metricBeforeStarted
	metricAfterStarted
	metricBeforeFinished
	metricAfterFinished
)
