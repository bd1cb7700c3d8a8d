package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/memory"
	"github.com/parley-search/parley/host/internal/base/rawjson"
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
		Instructions: instructions, SupportedProtocolVersions: versions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs, c.CacheScope = cacheMs, "private" },
	})
	s.AddReceivingMiddleware(e.contain)
	if r.Message.method != "tools/list" && r.Message.method != "tools/call" {
		return s
	}
	t := &tools{endpoint: e, ctx: ctx, request: r}
	if r.Caller.Allows(auth.Search) {
		addTool(s, t, &sdk.Tool{Name: searchTool, Title: "Search documents", Description: t.describeSearch(), InputSchema: searchIn, OutputSchema: searchOut}, t.search)
		addTool(s, t, &sdk.Tool{
			Name: fetchTool, Title: "Read a document", InputSchema: fetchIn, OutputSchema: fetchOut,
			Description: "Reads one whole document by an id that search returned. Fetch a document before you quote from it.",
		}, t.fetch)
		addTool(s, t, &sdk.Tool{
			Name: "list_indexes", Title: "List indexes", InputSchema: listIn, OutputSchema: listOut,
			Description: "Lists the indexes with what they hold, how many documents, and the attributes that a filter may name.",
		}, t.listIndexes)
		addTool(s, t, &sdk.Tool{
			Name: facetTool, Title: "List values of an attribute", InputSchema: facetIn, OutputSchema: facetOut,
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

// contain keeps a panic within the message that it came of: the SDK works on each
// in a goroutine of its own, where nobody else would recover.
func (e *Endpoint) contain(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				e.panicked(method, p)
				res, err = nil, errFailed
				if method == "tools/call" {
					res, err = failed(errFailed), nil
				}
			}
		}()
		return next(ctx, method, req)
	}
}

// addTool adds a tool that only reads. What its function fails with is for the
// model to read and mend. The arguments are those of the message: the SDK has none.
func addTool[In, Out any](s *sdk.Server, t *tools, tool *sdk.Tool, f func(req *sdk.CallToolRequest, ctx context.Context, in In) (Out, error)) {
	tool.Annotations = &sdk.ToolAnnotations{Title: tool.Title, ReadOnlyHint: true, OpenWorldHint: new(false)}
	s.AddTool(tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in In
		if err := readArguments(t.request.Message.arguments, tool.InputSchema.(*jsonschema.Schema), &in); err != nil {
			return failed(told(err)), nil
		}
		out, err := f(req, ctx, in)
		if err != nil {
			return failed(told(err)), nil
		}
		text := encode(out)
		// The result has it as text and as structured content.
		if err := memory.Of(t.ctx).TakeAnswer(2 * len(text)); err != nil {
			return failed(told(err)), nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}, nil
	})
}

// readArguments reads arguments of a tool, nil where there are none, into what into
// points at. The error is for the model.
func readArguments(arguments json.RawMessage, schema *jsonschema.Schema, into any) error {
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	if !isObject(arguments) {
		return apierr.Newf(apierr.BadRequest, "The arguments must be an object.")
	}
	if err := apierr.DecodeStrict(arguments, into, nil); err != nil {
		return err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &given); err != nil {
		return err
	}
	for _, name := range schema.Required {
		if v := given[name]; v == nil || string(v) == "null" {
			return apierr.Newf(apierr.BadRequest, "The argument `%s` is missing.", name)
		}
	}
	return nil
}

// failed is the result of a tool that failed with err.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}, IsError: true}
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
