package main

// The metrics, by their place in manifest.json.
const (
	metricP99 = iota
	metricSucceeded
	metricFailed
	metricReceived
	metricDegraded
	metricNegative
	metricSortGeoPoint
	metricSortCriteria
	metricFilterGeoBox
	metricFilterGeoRadius
	metricFilterSyntax
	metricMaxTerms
	metricMaxLimit
	metricMaxOffset
	metricNavigation
	metricMaxRetrieve
	metricMaxHighlight
	metricPreTag
	metricPostTag
	metricMaxCrop
	metricCropLength
	metricCropMarker
	metricMatchesPosition
	metricFacets
	metricDistinctFacets
	metricFacetParameters
	metricStrategy
	metricDistinct
	metricRankingScore
	metricRankingDetails
	metricThreshold
	metricSearchOn
	metricMaxVector
	metricRetrieveVectors
	metricHybrid
	metricSemanticRatio
	metricMedia
	metricLocales
)
