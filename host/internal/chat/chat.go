// Package chat answers questions: it owns workspaces and their settings, and
// the loop of rounds between a provider plugin and the search.
package chat

import (
	"context"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/plugin/provider"
	"github.com/parley-search/parley/host/internal/search/retrieval"
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

// What the search is asked for, as package retrieval has it.
type (
	Found = retrieval.Found
	Index = retrieval.Index
	Facet = retrieval.Facet
	Hit   = retrieval.Hit
)
