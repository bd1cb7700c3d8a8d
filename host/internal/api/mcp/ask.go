package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// An Asker answers the questions of one caller.
type Asker interface {
	// Workspaces lists those that answer without being told a model, sorted.
	Workspaces(ctx context.Context) ([]string, error)
	// Ask answers a question; progress is told what is done meanwhile.
	Ask(ctx context.Context, workspace, question string, progress func(message string)) (*Finished, error)
}

// Finished is an answer to a question.
type Finished struct {
	Answer  string   `json:"answer"`
	Sources []Source `json:"sources" jsonschema:"the documents that it was made from"`
	Usage   Usage    `json:"usage" jsonschema:"tokens that it cost"`
}

// A Source is a document that an answer was made from.
type Source struct {
	ID    string `json:"id" jsonschema:"for fetch"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Usage is what an answer cost, in tokens.
type Usage struct {
	Prompt     int64 `json:"promptTokens"`
	Completion int64 `json:"completionTokens"`
	Total      int64 `json:"totalTokens"`
	Estimated  bool  `json:"estimated,omitempty" jsonschema:"the provider did not count them"`
}

type askInput struct {
	Workspace string `json:"workspace,omitempty" jsonschema:"who answers: each has its own documents and model"`
	Question  string `json:"question" jsonschema:"the question, with all that is needed to understand it"`
}

func (t *tools) ask(req *sdk.CallToolRequest, ctx context.Context, in askInput) (Finished, error) {
	if in.Workspace == "" {
		in.Workspace = t.workspaces[0] // the one there is: it is required otherwise
	}
	if !slices.Contains(t.workspaces, in.Workspace) {
		return Finished{}, apierr.Newf(chaterr.ChatNotFound, "There is no workspace %.100q to ask: use one of %s.", in.Workspace, strings.Join(t.workspaces, ", "))
	}
	token, steps := req.Params.GetProgressToken(), 0
	progress := func(message string) {
		if token == nil {
			return
		}
		steps++
		// Where it does not get through the client is gone, and ends t.ctx.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(steps), Message: message})
	}
	f, err := t.request.Asker.Ask(t.ctx, in.Workspace, in.Question, progress)
	if err != nil {
		return Finished{}, err
	}
	if f.Sources == nil {
		f.Sources = []Source{}
	}
	return *f, nil
}
