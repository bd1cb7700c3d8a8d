package event

// Documents is one request to the documents routes.
//
//parley:event 8
type Documents struct {
	Operation       DocumentsOperation // what was asked
	PayloadType     Handle             `vocabulary:"media_type"` // of additions and updates: the content type
	PrimaryKey      Handle             `vocabulary:"attribute"`  // where the request names one
	IndexCreated    Flag               // the index did not exist
	Limit           Count              // of list and fetch
	Offset          Count              // of list and fetch
	RetrieveVectors Flag               // retrieveVectors is true
}

// Index is one request that creates, changes, deletes or swaps indexes.
//
//parley:event 9
type Index struct {
	Operation  IndexOperation // what was asked
	PrimaryKey Handle         `vocabulary:"attribute"` // where the request names one
	Swaps      Count          // pairs of a swap
}

// Settings is one request that changes settings of an index: what it sets. A
// reset sets the default.
//
//parley:event 10
type Settings struct {
	Embedders                MaybeCount          // how many are defined
	EmbedderSources          Set[EmbedderSource] // theirs
	DocumentTemplate         Flag                // some embedder has a template of its own
	DocumentTemplateMaxBytes MaybeCount          // the largest one given
	BinaryQuantized          Flag                // binaryQuantized was given
	RankingRules             Flag                // the rules were given; their places follow, counted from 0
	Words                    MaybeCount          `name:"words_position"`
	Typo                     MaybeCount          `name:"typo_position"`
	Proximity                MaybeCount          `name:"proximity_position"`
	Attribute                MaybeCount          `name:"attribute_position"`
	Sort                     MaybeCount          `name:"sort_position"`
	Exactness                MaybeCount          `name:"exactness_position"`
	SortableAttributes       MaybeCount          // entries
	SortableGeo              Flag                // _geo is among them
	FilterableAttributes     MaybeCount          // entries
	FilterableGeo            Flag                // _geo is among them
	FilterablePatterns       Flag                // some are given by attributePatterns
	SearchableAttributes     MaybeCount          // entries
	SearchableWildcard       Flag                // * is among them
	DisplayedAttributes      MaybeCount          // entries
	DisplayedWildcard        Flag                // * is among them
	TypoEnabled              MaybeFlag           // typoTolerance.enabled
	TypoDisabledAttributes   MaybeFlag           `name:"typo_disable_on_attributes"` // there are some
	TypoDisabledWords        MaybeFlag           `name:"typo_disable_on_words"`      // there are some
	OneTypo                  MaybeCount          // typoTolerance.minWordSizeForTypos.oneTypo
	TwoTypos                 MaybeCount          // typoTolerance.minWordSizeForTypos.twoTypos
	MaxTotalHits             MaybeCount          // pagination.maxTotalHits
	MaxValuesPerFacet        MaybeCount          // faceting.maxValuesPerFacet
	SortFacetValuesByStar    MaybeFlag           `name:"sort_facet_values_by_star_count"` // * is sorted by count
	SortFacetValuesBy        MaybeCount          `name:"sort_facet_values_by_total"`      // entries
	DistinctAttribute        MaybeFlag           // a field is named
	ProximityPrecisionSet    MaybeFlag           // it was set, not reset
	ProximityPrecision       ProximityPrecision  // in force after it
	FacetSearchSet           MaybeFlag           // it was set, not reset
	FacetSearch              MaybeFlag           // in force after it
	PrefixSearchSet          MaybeFlag           // it was set, not reset
	PrefixSearch             PrefixSearch        // in force after it
	StopWords                MaybeCount          // entries
	SeparatorTokens          MaybeCount          // entries
	NonSeparatorTokens       MaybeCount          // entries
	Dictionary               MaybeCount          // entries
	Synonyms                 MaybeCount          // entries
	LocalizedAttributes      Flag                // they were given
	Locales                  Locales             // of localizedAttributes
}

// Network is one PATCH of /network: what holds after it.
//
//parley:event 13
type Network struct {
	Self    Flag  // self is not null
	Remotes Count // how many are declared
}

// Export is one request to POST /export.
//
//parley:event 14
type Export struct {
	APIKey             Flag       // an API key was given
	IndexPatterns      Count      // entries of indexes
	PatternsWithFilter Count      // those with a filter
	PayloadSize        MaybeCount // bytes, where given
}
