package chat

import (
	"context"
	"time"

	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/outbound"
)

// Replay writes the frames that a client would see of a recorded response,
// taken as an answer of one round in which every tool call is the client's. It
// is for a response that is a success.
func Replay(ctx context.Context, source Source, response outbound.Response, w ChunkWriter) error {
	m := source.Manifest()
	deps := Deps{}.withDefaults()
	a := &Answer{
		deps: &deps, spare: &spareBuffers{}, link: link{&workspace.Workspace{Source: m.Source}, source, m},
		tools: tools{every: true}, usage: true,
		render: newRenderer("chatcmpl-"+randomID(), time.Now().Unix(), m.Source),
	}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	a.limit = time.AfterFunc(deps.Limits.Answer, func() { a.cancel(errAnswerTimeout) })
	a.round.response = response
	return a.WriteTo(w)
}
