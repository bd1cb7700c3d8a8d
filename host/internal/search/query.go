package search

import (
	"encoding/json"
	"time"
)

// A Query is one search. Its zero value takes the first 20 of all documents.
type Query struct {
	Q      string
	Filter json.RawMessage // a string, or an array of strings and arrays of strings; nil: none
	Offset int
	Limit  *int // nil: 20
	// AttributesToRetrieve narrows the displayed attributes; nil, or with "*":
	// all of them.
	AttributesToRetrieve []string
	ShowRankingScore     bool
	// MatchingStrategy says which words may be missing; "": last.
	MatchingStrategy      Strategy
	RankingScoreThreshold float64 // hits below it are left out; 0: none are
}

// A Strategy says which words of a query a hit may lack.
type Strategy string

// The strategies, by their names on the wire.
const (
	Last      Strategy = "last"      // words are dropped from the right
	All       Strategy = "all"       // a hit has all words
	Frequency Strategy = "frequency" // the most frequent words are dropped first
)

// A Result is what a search found.
type Result struct {
	Hits               []Hit
	Query              string
	Offset, Limit      int
	EstimatedTotalHits int
	ProcessingTime     time.Duration
	// Degraded: the time was up before all was ranked.
	Degraded bool
}

// A Hit is one document that a search found.
type Hit struct {
	ID       string
	Document json.RawMessage // the attributes asked for, as far as they are displayed; an object
	// Score is 0 to 1, for texts alone; 1 in a search without words.
	Score float64
}

// DefaultLimit is the number of hits, or documents, where none is asked for.
const DefaultLimit = 20

// maxTotalHits bounds offset and limit of a search together.
const maxTotalHits = 1000
