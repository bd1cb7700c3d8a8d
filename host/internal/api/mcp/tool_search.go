package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/apierr/searcherr"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/search/text"
)

// describeSearch says what the caller may search.
func (t *tools) describeSearch() string {
	var b strings.Builder
	b.WriteString("Searches documents and returns the best ones, each with the part of it that answers best.")
	list, err := t.endpoint.options.Search.Summaries(t.ctx, t.request.Caller)
	switch {
	case err != nil:
	case len(list) == 0:
		b.WriteString(" There is no index yet.")
	default:
		b.WriteString(" Indexes:")
		for _, x := range list[:min(len(list), maxDescribed)] {
			b.WriteString("\n- " + x.UID)
			if x.Description != "" {
				b.WriteString(": " + text.Clip(x.Description, excerptBytes))
			}
		}
		if more := len(list) - maxDescribed; more > 0 {
			fmt.Fprintf(&b, "\nand %d more: see list_indexes.", more)
		}
	}
	return b.String()
}

type searchInput struct {
	Query  string `json:"query" jsonschema:"what to look for"`
	Index  string `json:"index,omitempty" jsonschema:"the index to search; all of them where it is left out"`
	Filter string `json:"filter,omitempty" jsonschema:"an expression such as year > 1990 AND genre = Drama, over filterable attributes; see list_indexes and facet_values"`
	Limit  *int   `json:"limit,omitempty" jsonschema:"how many documents at most, 1 to 50; 10 where it is left out"`
}

type searchOutput struct {
	Results []resultItem `json:"results" jsonschema:"best first"`
}

type resultItem struct {
	ID    string `json:"id" jsonschema:"for fetch"`
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text,omitempty" jsonschema:"an excerpt"`
}

func (t *tools) search(_ *sdk.CallToolRequest, _ context.Context, in searchInput) (out searchOutput, err error) {
	limit := defaultResults
	if in.Limit != nil {
		limit = *in.Limit
	}
	if limit < 1 || limit > maxResults {
		return out, apierr.Newf(searcherr.InvalidSearchLimit, "limit is %d: it must be 1 to %d.", limit, maxResults)
	}
	uids := []string{in.Index}
	if in.Index == "" {
		if uids, err = t.uids(); err != nil {
			return out, err
		}
	}
	var found []hitsOf
	var refused error // by an index that has not the filter's attributes
	for _, uid := range uids {
		hits, err := t.endpoint.options.Search.FindTexts(t.ctx, t.request.Caller, uid, in.Query, in.Filter, limit, excerptBytes)
		if err != nil && in.Index == "" && (apierr.Is(err, searcherr.InvalidSearchFilter) || apierr.Is(err, indexerr.IndexNotFound)) {
			refused = err
			continue
		}
		if err != nil {
			return out, t.inIndex(err)
		}
		found = append(found, hitsOf{uid, hits})
	}
	if len(found) == 0 && refused != nil {
		return out, refused
	}
	out.Results = []resultItem{}
	for len(out.Results) < limit {
		uid, h := takeBest(found)
		if h == nil {
			break
		}
		out.Results = append(out.Results, resultItem{uid + "/" + h.ID, h.Name(), h.Link(t.request.Base, uid), h.Text})
	}
	return out, nil
}

// hitsOf are what was found in an index, best first, and not taken yet.
type hitsOf struct {
	uid  string
	hits []chat.Hit
}

// takeBest takes the best of the first hits of found; nil where there is none.
func takeBest(found []hitsOf) (uid string, h *chat.Hit) {
	best := -1
	for i, f := range found {
		if len(f.hits) > 0 && (best < 0 || f.hits[0].Score > found[best].hits[0].Score) {
			best = i
		}
	}
	if best < 0 {
		return "", nil
	}
	f := &found[best]
	h, f.hits = &f.hits[0], f.hits[1:]
	return f.uid, h
}
