package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-search/parley/host/internal/search"
)

type listOutput struct {
	Indexes []indexItem `json:"indexes"`
}

type indexItem struct {
	UID         string   `json:"uid"`
	Description string   `json:"description"`
	Documents   int      `json:"documents"`
	PrimaryKey  string   `json:"primaryKey"`
	Filterable  []string `json:"filterableAttributes"`
	Sortable    []string `json:"sortableAttributes"`
}

func (t *tools) listIndexes(*sdk.CallToolRequest, context.Context, struct{}) (listOutput, error) {
	list, err := t.endpoint.options.Search.Summaries(t.ctx, t.request.Caller)
	out := listOutput{Indexes: []indexItem{}}
	for _, x := range list {
		out.Indexes = append(out.Indexes, indexItem{x.UID, x.Description, x.Documents, x.PrimaryKey, orEmpty(x.Filterable), orEmpty(x.Sortable)})
	}
	return out, err
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

type facetInput struct {
	Index     string `json:"index" jsonschema:"the index"`
	Attribute string `json:"attribute" jsonschema:"a filterable attribute; see list_indexes"`
	Query     string `json:"query,omitempty" jsonschema:"what a value begins with; all values where it is left out"`
}

type facetOutput struct {
	Values []facetItem `json:"values"`
}

type facetItem struct {
	Value string `json:"value"`
	Count int    `json:"count" jsonschema:"documents that have it"`
}

func (t *tools) facetValues(_ *sdk.CallToolRequest, _ context.Context, in facetInput) (out facetOutput, err error) {
	res, err := t.endpoint.options.Search.SearchFacet(t.ctx, t.request.Caller, in.Index, search.FacetQuery{Facet: in.Attribute, Text: in.Query})
	if err != nil {
		return out, t.inIndex(err)
	}
	out.Values = []facetItem{}
	for _, v := range res.Values {
		out.Values = append(out.Values, facetItem{v.Value, v.Count})
	}
	return out, nil
}
