package main

// The metrics, by their place in manifest.json.
const (
	metricFederation = iota
	metricAvgQueries
	metricQueries
	metricAvgIndexes
	metricIndexes
	metricSingleIndex
	metricRemotes
	metricAvgRemotes
)
