package main

// The metrics, by their place in manifest.json.
const (
	metricUserAgents = iota
	metricHasSelf
	metricSize
	metricExports
	metricWithAPIKey
	metricPatterns
	metricPatternsWithFilter
	metricPayloadSize
	metricPerIndexUID
)
