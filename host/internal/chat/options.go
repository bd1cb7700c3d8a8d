package chat

import (
	"net/netip"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// Options is how an answer differs from one of /chats. The zero value is none.
type Options struct {
	// Workspace, where not nil, is what is asked in place of the one that is stored.
	Workspace *workspace.Workspace
	// Model is the model's name in the chunks; empty: what the provider says.
	Model string
	// Unnamed lets the request name no model.
	Unnamed bool
	// Usage writes the chunk that counts tokens also where the client did not
	// ask for it.
	Usage bool
	// Estimate counts tokens by bytes where the provider does not count them.
	Estimate bool
	// Indexes narrows what may be searched, as the workspace's indexUids do;
	// nil: it does not.
	Indexes []string
	// MostHits bounds what one search gives the model, below what the index's own
	// settings allow; 0: nothing else does.
	MostHits int
	// Base is the URL of this host, for links to documents that have none of their own.
	Base string
	// Cite says that the answer names the places it rests on, CiteReports that it does where the client
	// asks for reports of what was found.
	Cite, CiteReports bool
	// Client is the address that the request came from, for limits of each client.
	Client netip.Addr
	// Said, where not nil, is what the client calls the message at an index: its
	// request is another one than that which it sent.
	Said func(index int) string
	// Limited, where not nil, is told in Start what is left of the limits that hold
	// for the answer, also where one of them refuses it.
	Limited func(limit.State)
	// Carries are what earlier answers of the conversation left, in any order. Those
	// of other plugins, models and calls are passed over.
	Carries []Carry
}

// Searched is an internal search of an answer.
type Searched struct {
	Index, Query string
	Hits         []Hit // none where it failed
}

// said is what the client calls a message.
func (o *Options) said(i int) string {
	if o.Said == nil {
		return place(i).String()
	}
	return o.Said(i)
}
