// Package chat answers questions: it owns workspaces and their settings, and
// the loop of rounds between a provider plugin and the search.
package chat

import (
	"context"
	"encoding/json"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// clientOf returns the client that caller is in workspace.
func clientOf(caller *auth.Caller, workspace string) provider.Client {
	return provider.Client{Workspace: workspace, Key: caller.Key(), ID: caller.ID()}
}

// A Searcher is the search under the chat. Every method obeys the caller's own
// rights: what it may not use does not exist. See package search.
type Searcher interface {
	// ChatIndexes lists the indexes that caller may search, narrowed to only
	// where that is not nil, sorted by uid.
	ChatIndexes(ctx context.Context, caller *auth.Caller, only []string) ([]Index, error)
	// ChatSearch answers one search of the model. An [apierr.Error] is for the
	// model to read and mend (no such index, a bad filter).
	ChatSearch(ctx context.Context, caller *auth.Caller, indexUID, q, filter string) (Found, error)
}

// Found is what one search of the model found, best first.
type Found struct {
	Hits []Hit
	// Query is what was searched for, where that is more than the model asked for; else empty.
	Query string
	// Coverage is how much of the question, by what its words are worth, the hits have: 0 to 1. nil: not
	// known, since the hits are whole documents and not passages of them.
	Coverage *float64
	// Warning is for who set the index up, as a sentence; empty: nothing is wrong.
	Warning string
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

	place *sourceFile // see file; nil until it is asked for
}
