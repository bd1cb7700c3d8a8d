// Package retrieval has what passes between a conversation and the search: the
// indexes that a model is told of, and what a search of it found.
package retrieval

import "encoding/json"

// LowCoverage is the coverage below which a model is told that the documents may not hold the
// answer.
const LowCoverage = 0.40

// Found is what one search of the model found, best first.
type Found struct {
	Hits []Hit
	// Query is what was searched for, where that is more than the model asked for; else empty.
	Query string
	// Coverage is how much of the question, by what its words are worth, the hits have: 0 to 1. nil: not
	// known, since the hits are whole documents and not passages of them.
	Coverage *float64
	// Words are those of the search, the worthiest first; nil: the hits are whole documents.
	Words []Word
	// NoRoom is how many more passages have a word of the search, and had no room.
	NoRoom int
	// LeftOut is how many hits guards took out.
	LeftOut int
	// Warning is for who set the index up, as a sentence; empty: nothing is wrong.
	Warning string
}

// A Word is a word of a search.
type Word struct {
	Word      string   `json:"word"`
	Worth     float64  `json:"worth"`     // its part of the whole search, 0 to 1
	Documents int      `json:"documents"` // that have it; of a name with joints: 0
	FoundAs   []string `json:"foundAs"`   // the spellings that the index has: other forms, synonyms, near ones
}

// An Index is what the model is told of an index.
type Index struct {
	UID         string
	Description string
	Filterable  []Facet
}

// A Facet is a filterable attribute with its most frequent values, as far as
// the caller may see them.
type Facet struct {
	Attribute string
	Values    []string
}

// A Hit is a document that a search found, or a passage of it.
type Hit struct {
	ID    string // of the document
	Title string // of the passage: its page and sections; empty for a document
	URL   string // of the passage; empty where none is known
	Text  string // the passage, or the document by the index's chat template, cut to its limit
	// Score is how well it answers the search, 0 to 1.
	Score float64
	// Document holds the displayed attributes.
	Document json.RawMessage
	// Number is what an answer cites it by; 0: it is of no answer.
	Number int

	place *File // see File; nil until it is asked for
}
