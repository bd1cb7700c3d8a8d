package httpapi

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/auth"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/httpapi/exchange"
	"github.com/parley-search/parley/host/internal/limit"
	"github.com/parley-search/parley/host/internal/mcp"
	"github.com/parley-search/parley/host/internal/openai"
)

// An asker answers the question of one message.
type asker struct {
	server  *Server
	caller  *auth.Caller
	base    string        // URL of this host
	address netip.Addr    // of the client
	outcome *chat.Outcome // of the answer, where there was one
	left    atomic.Pointer[limit.State]
}

// limits are what was left of them when it was asked, or when it was answered.
func (k *asker) limits() (left limit.State) {
	if p := k.left.Load(); p != nil {
		left = *p
	}
	return left
}

var _ mcp.Asker = (*asker)(nil)

// Workspaces implements [mcp.Asker].
func (k *asker) Workspaces(ctx context.Context) ([]string, error) {
	models, err := k.server.Chat.Models(ctx, k.caller)
	var uids []string
	for _, m := range models {
		if !strings.Contains(m.ID, "/") {
			uids = append(uids, m.ID)
		}
	}
	return uids, err
}

// Ask implements [mcp.Asker]: only the question goes to the provider.
func (k *asker) Ask(ctx context.Context, workspace, question string, progress func(string)) (*mcp.Finished, error) {
	target, err := k.server.Chat.Resolve(ctx, k.caller, workspace)
	if err != nil {
		return nil, err
	}
	var found []mcp.Source
	o := chat.Options{
		Model: workspace, Unnamed: target.Model == "", Usage: true, Estimate: true, Whole: true,
		Client:    k.address,
		Limited:   func(left limit.State) { k.left.Store(&left) },
		Searching: func(index, query string) { progress("searching " + index + " for " + query) },
		Searched: func(sr *chat.Searched) {
			for _, h := range sr.Hits {
				found = append(found, mcp.Source{ID: sr.Index + "/" + h.ID, Title: h.Name(), URL: h.Link(k.base, sr.Index)})
			}
		},
	}
	if target.Citations {
		o.Citations = k.base
	}
	message := map[string]any{"stream": true, "messages": []map[string]string{{"role": "user", "content": question}}}
	if target.Model != "" {
		message["model"] = target.Model
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := k.server.Chat.Start(ctx, cancel, k.caller, target.Workspace, exchange.Encode(message), o)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	whole := &askWriter{progress: progress}
	err = answer.WriteTo(whole)
	k.left.Store(new(answer.Limits()))
	outcome := answer.Outcome()
	k.outcome = &outcome
	if outcome.Err != nil {
		return nil, outcome.Err
	}
	if err != nil {
		return nil, err
	}
	return whole.finish(found)
}

// An askWriter puts an answer together, and says when its text begins.
type askWriter struct {
	openai.Completion
	progress func(string)
	begun    bool
}

// WriteFrame implements [chat.ChunkWriter].
func (w *askWriter) WriteFrame(frames []byte) error {
	err := w.Completion.WriteFrame(frames)
	if !w.begun && w.Begun() {
		w.begun = true
		w.progress("writing")
	}
	return err
}

// finish returns the answer with those of found that it cites.
func (w *askWriter) finish(found []mcp.Source) (*mcp.Finished, error) {
	var body struct {
		Choices []struct {
			Message struct {
				Annotations []struct {
					Citation struct{ URL, Title string } `json:"url_citation"`
				}
			}
		}
		Usage struct {
			Prompt     int64 `json:"prompt_tokens"`
			Completion int64 `json:"completion_tokens"`
			Total      int64 `json:"total_tokens"`
			Estimated  bool
		}
	}
	if err := json.Unmarshal(w.Body(), &body); err != nil || len(body.Choices) == 0 {
		return nil, &apierr.Error{Code: apierr.Internal, Message: "The answer could not be put together.", Err: err}
	}
	f := &mcp.Finished{Answer: w.Text(), Usage: mcp.Usage(body.Usage)}
	for _, a := range body.Choices[0].Message.Annotations {
		i := slices.IndexFunc(found, func(s mcp.Source) bool { return s.URL == a.Citation.URL && s.Title == a.Citation.Title })
		if i >= 0 && !slices.Contains(f.Sources, found[i]) {
			f.Sources = append(f.Sources, found[i])
		}
	}
	return f, nil
}
