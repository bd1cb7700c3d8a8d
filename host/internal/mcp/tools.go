package mcp

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/rawjson"
	"github.com/parley-search/parley/host/internal/search/text"
)

const (
	instructions = "Search first, and fetch a document before you quote from it. Where the tool ask is listed, it gives a finished answer with its sources."

	defaultResults, maxResults = 10, 50
	excerptBytes               = 500       // of a document in a search's result
	documentBytes              = 100 << 10 // of one that is fetched
	metadataBytes              = 1000      // of a value of its metadata
	maxDescribed               = 50        // indexes in the description of search
	cacheMs                    = 60_000
)

// server returns the server of one message: its tools are those that the caller
// may use, and describe what it may see.
func (e *Endpoint) server(ctx context.Context, r *Request) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "parley", Title: "Parley", Version: e.options.Version}, &sdk.ServerOptions{
		Instructions: instructions, SchemaCache: e.schemas, SupportedProtocolVersions: versions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs, c.CacheScope = cacheMs, "private" },
	})
	if r.Message.method != "tools/list" && r.Message.method != "tools/call" {
		return s
	}
	t := &tools{endpoint: e, ctx: ctx, request: r}
	if r.Caller.Allows(auth.Search) {
		addTool(s, t, &sdk.Tool{Name: "search", Title: "Search documents", Description: t.describeSearch(), InputSchema: searchIn, OutputSchema: searchOut}, t.search)
		addTool(s, t, &sdk.Tool{
			Name: "fetch", Title: "Read a document", InputSchema: fetchIn, OutputSchema: fetchOut,
			Description: "Reads one whole document by an id that search returned. Fetch a document before you quote from it.",
		}, t.fetch)
		addTool(s, t, &sdk.Tool{
			Name: "list_indexes", Title: "List indexes", InputSchema: listIn, OutputSchema: listOut,
			Description: "Lists the indexes with what they hold, how many documents, and the attributes that a filter may name.",
		}, t.listIndexes)
		addTool(s, t, &sdk.Tool{
			Name: "facet_values", Title: "List values of an attribute", InputSchema: facetIn, OutputSchema: facetOut,
			Description: "Lists the values that documents of an index have for a filterable attribute, with how many documents have each: use it to write a filter.",
		}, t.facetValues)
	}
	if r.Asker != nil {
		if spaces, err := r.Asker.Workspaces(ctx); err == nil && len(spaces) > 0 {
			t.workspaces = spaces
			addTool(s, t, &sdk.Tool{
				Name: askTool, Title: "Ask for an answer", InputSchema: askIn(spaces), OutputSchema: askOut,
				Description: "Answers a question from the documents, with sources. It takes longer than search, and costs tokens of the host's own model.",
			}, t.ask)
		}
	}
	return s
}

// tools are those of one message.
type tools struct {
	endpoint   *Endpoint
	ctx        context.Context // ends with the client's interest
	request    *Request
	workspaces []string
}

// addTool adds a tool that only reads. What its function fails with is for the
// model to read and mend.
func addTool[In, Out any](s *sdk.Server, t *tools, tool *sdk.Tool, f func(req *sdk.CallToolRequest, ctx context.Context, in In) (Out, error)) {
	tool.Annotations = &sdk.ToolAnnotations{Title: tool.Title, ReadOnlyHint: true, OpenWorldHint: new(false)}
	sdk.AddTool(s, tool, func(ctx context.Context, req *sdk.CallToolRequest, in In) (res *sdk.CallToolResult, out Out, err error) {
		defer func() {
			if p := recover(); p != nil {
				t.endpoint.panicked("the tool "+tool.Name, p)
				err = errFailed
			}
		}()
		if out, err = f(req, ctx, in); err != nil {
			return nil, out, told(err)
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(encode(out))}}}, out, nil
	})
}

// errFailed is all that a model is told of a failure of ours.
var errFailed = errors.New("the tool failed, and it is not your arguments: go on without it, or try once more")

// told is err as a model reads it.
func told(err error) error {
	if err == nil {
		return nil
	}
	e := apierr.From(err)
	if e.Code == apierr.Internal {
		return errFailed
	}
	return errors.New(e.Message)
}

// uids are the indexes that the caller may use.
func (t *tools) uids() (uids []string, err error) {
	list, err := t.endpoint.options.Search.Summaries(t.ctx, t.request.Caller)
	for _, x := range list {
		uids = append(uids, x.UID)
	}
	return uids, err
}

// inIndex has an error that an index is not there name those that are.
func (t *tools) inIndex(err error) error {
	if !apierr.Is(err, indexerr.IndexNotFound) {
		return err
	}
	uids, failed := t.uids()
	if failed != nil || len(uids) == 0 {
		return err
	}
	return apierr.Newf(indexerr.IndexNotFound, "%s The indexes are: %s.", apierr.From(err).Message, strings.Join(uids[:min(len(uids), maxDescribed)], ", "))
}

type fetchInput struct {
	ID string `json:"id" jsonschema:"INDEX/DOCUMENT-ID, as search returned it"`
}

type fetchOutput struct {
	ID       string            `json:"id"`
	Title    string            `json:"title"`
	Text     string            `json:"text" jsonschema:"the whole document, at most 100 kB of it"`
	URL      string            `json:"url"`
	Metadata map[string]string `json:"metadata" jsonschema:"attributes of the document"`
}

func (t *tools) fetch(_ *sdk.CallToolRequest, _ context.Context, in fetchInput) (out fetchOutput, err error) {
	uid, id, ok := strings.Cut(in.ID, "/")
	if !ok || uid == "" || id == "" {
		return out, apierr.Newf(apierr.BadRequest, "id is %.100q: it must be INDEX/DOCUMENT-ID, as search returned it.", in.ID)
	}
	h, err := t.endpoint.options.Search.ReadText(t.ctx, t.request.Caller, uid, id, documentBytes)
	if apierr.Is(err, indexerr.DocumentNotFound) {
		return out, apierr.Newf(indexerr.DocumentNotFound, "There is no document %.200q in the index %s: use an id that search returned.", id, uid)
	}
	if err != nil {
		return out, t.inIndex(err)
	}
	out = fetchOutput{ID: in.ID, Title: h.Name(), Text: h.Text, URL: h.Link(t.request.Base, uid), Metadata: map[string]string{}}
	rawjson.EachMember(h.Document, func(key, value []byte) bool {
		if v, ok := rawjson.ScalarText(value); ok && value[0] != 'n' {
			out.Metadata[rawjson.Unquote(key)] = text.Clip(v, metadataBytes)
		}
		return true
	})
	return out, nil
}
