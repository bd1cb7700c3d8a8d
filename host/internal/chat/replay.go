package chat

import (
	"context"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/abi/manifest"
	"github.com/parley-search/parley/host/internal/base/outbound"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/provider"
)

// Replay gives a sink what a client would see of a recorded response, taken as an answer of one round in which every tool call is the client's. It
// is for a response that is a success.
func Replay(ctx context.Context, source provider.Source, response outbound.Response, s Sink) error {
	m := source.Manifest()
	deps := Deps{}.withDefaults()
	a := &Answer{
		deps: &deps, spare: &spareBuffers{}, attempt: attempt{link: link{&workspace.Workspace{Source: m.Source}, source, m}},
		tools: tools{every: true}, usage: true,
		created: time.Now().Unix(), named: m.Source,
	}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	a.limit = time.AfterFunc(deps.Limits.Answer, func() { a.cancel(errAnswerTimeout) })
	a.round.response, a.round.steps.taken = response, manifest.Has(m, abi.FeatureAgain)
	return a.WriteTo(s)
}
