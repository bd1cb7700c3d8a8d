package main

// The metrics, by their place in manifest.json.
const (
	metricEmbedders = iota
	metricSources
	metricTemplate
	metricTemplateBytes
	metricQuantized
	metricWords
	metricTypo
	metricProximity
	metricAttribute
	metricSort
	metricExactness
	metricRules
	metricSortable
	metricSortableGeo
	metricFilterable
	metricFilterableGeo
	metricFilterablePatterns
	metricSearchable
	metricSearchableWildcard
	metricDisplayed
	metricDisplayedWildcard
	metricTypoEnabled
	metricTypoAttributes
	metricTypoWords
	metricOneTypo
	metricTwoTypos
	metricMaxTotalHits
	metricMaxValues
	metricByStarCount
	metricSortFacetValues
	metricDistinct
	metricPrecisionSet
	metricPrecision
	metricFacetSearchSet
	metricFacetSearch
	metricPrefixSet
	metricPrefix
	metricStopWords
	metricSeparators
	metricNonSeparators
	metricDictionary
	metricSynonyms
	metricNetwork
	metricExperimentalNetwork
	metricMultimodal
)
