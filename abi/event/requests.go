package event

// HTTPRequest is one request to the API, whatever came of it.
//
//parley:event 4
type HTTPRequest struct {
	UserAgent Handle `vocabulary:"user_agent"` // the client
	Route     Route  // family of the route
	Status    Count  // of the response, such as 200
	Latency   Count  // milliseconds until the response began
}

// Search is one request to GET or POST /indexes/{uid}/search. What the request
// says is told of failed ones too, as far as they could be read.
//
//parley:event 5
type Search struct {
	Outcome               Outcome          // how it ended
	Latency               Count            // milliseconds
	Degraded              Flag             // cut off by the search time limit
	UsedNegativeOperator  Flag             // q has a negative word or phrase
	Sort                  MaybeCount       // criteria, where sort was given
	SortGeoPoint          Flag             // sort has _geoPoint
	FilterSyntax          FilterSyntax     // where filter was given
	FilterGeoRadius       Flag             // filter has _geoRadius
	FilterGeoBoundingBox  Flag             // filter has _geoBoundingBox
	Terms                 Count            // words of q, cut at white space
	Limit                 Count            // limit or hitsPerPage
	Offset                Count            // offset, or what page comes to
	Navigation            Navigation       // how results are paged through
	AttributesToRetrieve  Count            // entries of attributesToRetrieve
	AttributesToHighlight Count            // entries of attributesToHighlight
	HighlightPreTag       Flag             // highlightPreTag was given
	HighlightPostTag      Flag             // highlightPostTag was given
	AttributesToCrop      Count            // entries of attributesToCrop
	CropLength            Flag             // cropLength was given
	CropMarker            Flag             // cropMarker was given
	ShowMatchesPosition   Flag             // showMatchesPosition is true
	Facets                MaybeCount       // entries of facets, where given
	MatchingStrategy      MatchingStrategy // in force
	Distinct              Flag             // distinct was given
	ShowRankingScore      Flag             // showRankingScore is true
	ShowRankingDetails    Flag             `name:"show_ranking_score_details"` // showRankingScoreDetails is true
	RankingScoreThreshold Flag             // rankingScoreThreshold was given
	AttributesToSearchOn  Flag             // attributesToSearchOn was given
	VectorDimensions      Count            // entries of vector
	RetrieveVectors       Flag             // retrieveVectors is true
	Hybrid                Flag             // hybrid was given
	SemanticRatio         Flag             // hybrid.semanticRatio was given
	Media                 Flag             // media is not null
	Locales               Locales          // of the parameter locales
}

// FacetSearch is one request to POST /indexes/{uid}/facet-search.
//
//parley:event 6
type FacetSearch struct {
	Outcome              Outcome // how it ended
	Latency              Count   // milliseconds
	FirstOfFacet         Flag    // nobody asked for this facet of this index in this window before
	AdditionalParameters Flag    // there was more than facetName and facetQuery
}

// MultiSearch is one request to POST /multi-search. Its queries are no [Search]
// events.
//
//parley:event 7
type MultiSearch struct {
	Outcome            Outcome // how it ended
	Latency            Count   // milliseconds
	Queries            Count   // how many it has
	Indexes            Count   // different ones among them
	Federation         Flag    // there is an object federation at the top
	Remotes            Count   // different ones among the queries
	ShowRankingScore   Flag    // showRankingScore is true in some query
	ShowRankingDetails Flag    `name:"show_ranking_score_details"` // showRankingScoreDetails is true in some query
}

// Chat is one chat completion, told when it has ended.
//
//parley:event 15
type Chat struct {
	Outcome  ChatOutcome // how it ended
	Source   ChatSource  // which source answered
	Streamed Flag        // the client asked for a stream
	Rounds   Count       // requests to the provider
	Searches Count       // searches made for it
	Messages Count       // of the conversation that came in
	Chunks   Count       // written to the client
	Latency  Count       // milliseconds, in whole
	First    Count       `name:"first_latency"` // milliseconds until the first word; 0 where there was none

	SourceName       Handle      `name:"source_name" vocabulary:"source"` // which source answered, or failed to, where that is known
	Failure          ChatFailure // of what failed or was refused: what went wrong
	Finish           ChatFinish  // why the answer ended, as the client was told
	PromptTokens     MaybeCount  // of all rounds, where the provider counts them
	CompletionTokens MaybeCount  // of all rounds
	CachedTokens     MaybeCount  // of those of the prompt
	ReasoningTokens  MaybeCount  // of those of the completion
	SearchLatency    Count       // milliseconds that its searches took, added up
	EmptySearches    Count       // searches that found nothing; failed ones are none of them
}

// Guard is what one guard did at one stage of one chat completion, told when that has ended.
//
//parley:event 16
type Guard struct {
	Guard   Handle     `vocabulary:"guard"` // which
	Stage   GuardStage // where it stood
	Calls   Count      // of it
	Edits   Count      // of texts
	Blocks  Count      // of texts, and passages that it left out
	Faults  Count      // calls that failed
	Latency Count      `name:"latency_us"` // microseconds that its calls took, added up
	Label   Handle     `vocabulary:"note"` // one of its notes; such an event has Notes alone beside it
	Notes   Count      // how often it noted that label
}

// Tasks is one request to the tasks routes.
//
//parley:event 11
type Tasks struct {
	Operation        TasksOperation // what was asked
	UIDs             Flag           `name:"uids"`       // filter uids was given
	IndexUIDs        Flag           `name:"index_uids"` // filter indexUids was given
	Types            Flag           // filter types was given
	Statuses         Flag           // filter statuses was given
	CanceledBy       Flag           // filter canceledBy was given
	BeforeEnqueuedAt Flag           // filter beforeEnqueuedAt was given
	AfterEnqueuedAt  Flag           // filter afterEnqueuedAt was given
	BeforeStartedAt  Flag           // filter beforeStartedAt was given
	AfterStartedAt   Flag           // filter afterStartedAt was given
	BeforeFinishedAt Flag           // filter beforeFinishedAt was given
	AfterFinishedAt  Flag           // filter afterFinishedAt was given
}

// Stats is one request to GET /stats or GET /indexes/{uid}/stats.
//
//parley:event 12
type Stats struct {
	OneIndex Flag // the stats of one index were asked for
}
