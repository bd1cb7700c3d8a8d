package chat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// A guarded is the guards of an answer. Texts enter by question and passages, and
// leave by the sink that it wraps; all forms of answers have one. nil: the
// answer has no guards, which costs nothing.
type guarded struct {
	*guard.Chain
	ctx     context.Context
	release []func()
	streams [kinds]*guard.Stream
	calls   []heldCall // of the client's functions, until their arguments are whole
	behind  []func()   // what came behind those
	started int        // calls so far
	err     error      // a guard ended the answer: nothing goes out any more
	made    []GuardCount
}

// A GuardCount is what a guard did at a stage of an answer, or how often it noted a label there.
type GuardCount struct {
	Guard, Stage, Label                 string // Label: of a note
	Calls, Edits, Blocks, Faults, Notes int
	Took                                time.Duration // by its calls
}

// count counts what a guard did.
func (g *guarded) count(e guard.Event) {
	i := slices.IndexFunc(g.made, func(c GuardCount) bool { return c.Guard == e.Guard && c.Stage == e.Stage && c.Label == e.Label })
	if i < 0 {
		i, g.made = len(g.made), append(g.made, GuardCount{Guard: e.Guard, Stage: e.Stage, Label: e.Label})
	}
	c := &g.made[i]
	if e.Action == guard.ActionNote {
		c.Notes++
		return
	}
	c.Calls, c.Edits, c.Took = c.Calls+1, c.Edits+e.Edits, c.Took+e.Took
	switch e.Action {
	case guard.ActionBlock:
		c.Blocks++
	case guard.ActionFault:
		c.Faults++
	}
}

// endTrace tells the step of a round what the guards did until its end, since the answer began: their calls are
// too many for steps of their own.
func (g *guarded) endTrace(s Step) {
	var all GuardCount
	for _, c := range g.made {
		all.Calls, all.Edits, all.Blocks, all.Faults, all.Took = all.Calls+c.Calls, all.Edits+c.Edits, all.Blocks+c.Blocks, all.Faults+c.Faults, all.Took+c.Took
	}
	s.Number("guard_calls", all.Calls)
	s.Number("guard_edits", all.Edits)
	s.Number("guard_blocks", all.Blocks)
	s.Number("guard_faults", all.Faults)
	s.Number("guard_us", int(all.Took.Microseconds()))
}

// A heldCall is a call of a client's function.
type heldCall struct {
	index     int
	id, name  string
	extra     []byte
	arguments []byte
}

// guards returns the guards of an answer of w: those of the deployment, and then its
// own. nil: there are none. An error says which one is missing.
func (d *Deps) guards(ctx context.Context, caller *auth.Caller, w *workspace.Workspace) (*guarded, error) {
	uses := slices.Concat(d.DeploymentGuards, w.Guards)
	if len(uses) == 0 {
		return nil, nil
	}
	g := &guarded{ctx: ctx}
	g.Chain = guard.New(func(e guard.Event) {
		g.count(e)
		d.tellGuard(w, e)
	})
	for i := range uses {
		u := uses[i]
		if i < len(d.DeploymentGuards) {
			u.OnFault = guard.FaultClosed
		}
		var p guard.Plugin
		release, ok := func() {}, false
		if d.Guards != nil {
			p, release, ok = d.Guards.AcquireGuard(ctx, u.Plugin, clientOf(caller, w.UID))
		}
		if !ok {
			g.letGo()
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, apierr.Newf(chaterr.ChatProviderUnavailable,
				"Workspace %s has the guard %s, which is not loaded, and without it nothing is answered: GET /plugins says whether it was refused and why; install it by `parley plugin install`, or take it out of the setting `guards`, or of the host's option --guards.", w.UID, u.Plugin)
		}
		if err := u.Check(p.Manifest()); err != nil {
			release()
			g.letGo()
			return nil, apierr.Newf(chaterr.ChatProviderUnavailable, "Workspace %s has the guard %s with settings that do not fit the version that is loaded, and without it nothing is answered: its %s.", w.UID, u.Plugin, strings.TrimPrefix(err.Error(), "."))
		}
		g.Add(p, &u)
		g.release = append(g.release, release)
	}
	return g, nil
}

// tellGuard calls the observer of guards.
func (d *Deps) tellGuard(w *workspace.Workspace, e guard.Event) {
	if d.Guarded != nil {
		d.Guarded(w.UID, e)
	}
}

// letGo lets the guards' plugins go, once.
func (g *guarded) letGo() {
	if g == nil {
		return
	}
	for _, release := range g.release {
		release()
	}
	g.release = nil
}

// hasStage reports whether a guard looks at texts of a stage.
func (g *guarded) hasStage(stage string) bool { return g != nil && g.Has(stage) }

// blockError is why a guard ended the answer, if one did.
func (g *guarded) blockError() error {
	if g == nil {
		return nil
	}
	return g.err
}

// blockedError is the error that a client gets for a block.
func blockedError(b *guard.Blocked) *apierr.Error {
	if b.Room > 0 && b.Stage == abi.StageQuestion {
		return &apierr.Error{Code: apierr.PayloadTooLarge, Message: fmt.Sprintf("A text is too long for the guard %s of this service, and nothing passes without it: send texts of at most %d bytes.", b.Guard, b.Room), Err: b.Fault}
	}
	message := cmp.Or(b.Message, "The guard "+b.Guard+" of this service does not let this pass.")
	if b.Fault != nil {
		message = "The guard " + b.Guard + " of this service failed, and nothing passes without it: try again, or tell who runs the service."
	}
	return &apierr.Error{Code: chaterr.ContentBlocked, Message: message, Err: b.Fault}
}

// asRefusal returns the block among err that is the assistant's refusal.
func asRefusal(err error) (*guard.Blocked, bool) {
	b, ok := errors.AsType[*guard.Blocked](err)
	return b, ok && b.Refusal && b.Fault == nil
}

// refuseAnswer ends the answer with the refusal of a guard.
func (a *Answer) refuseAnswer(b *guard.Blocked) error {
	out := a.sink
	if s, ok := out.(*guardedSink); ok {
		out = s.Sink
	}
	out.Text(Refusal, []byte(blockedError(b).Message), nil)
	f := &Finish{Reason: "content_filter"}
	if a.usage && a.outcome.HasUsage {
		f.Usage, f.Counted = new(a.outcome.Usage), a.counted
	}
	out.Finish(f)
	if err := a.flushSink(); err != nil {
		a.outcome.Cancelled = true
		return errors.Unwrap(err)
	}
	a.outcome.Finish = f.Reason
	return nil
}

// guardSearches takes the arguments of the searches among calls through the guards, and the
// questions that they are for: what was masked for the model is looked for as it is.
func (g *guarded) guardSearches(calls []*call, questions []string) (err error) {
	if !g.hasStage(abi.StageArguments) {
		return nil
	}
	for _, c := range calls {
		if c.name == searchFunction && !c.tooLong {
			if c.searched, err = g.JSON(g.ctx, abi.StageArguments, abi.ItemArguments, c.arguments); err != nil {
				return err
			}
		}
	}
	for i := range questions {
		items := []abi.Item{{Kind: abi.ItemArguments, Text: []byte(questions[i])}}
		if _, err := g.Whole(g.ctx, abi.StageArguments, items); err != nil {
			return err
		}
		questions[i] = string(items[0].Text)
	}
	return nil
}

// guardResult takes what a search came to through the guards, and leaves in r what may
// pass: also of what was searched for, and of why it failed.
func (g *guarded) guardResult(r *result) (err error) {
	if r.found, err = g.guardPassages(r.found); err != nil || !g.hasStage(abi.StageQuestion) {
		return err
	}
	if r.failed {
		r.content, err = g.JSON(g.ctx, abi.StageQuestion, abi.ItemTool, r.content)
		return err
	}
	items := []abi.Item{{Kind: abi.ItemTool, Text: []byte(r.found.Query)}}
	_, err = g.Whole(g.ctx, abi.StageQuestion, items)
	r.found.Query = string(items[0].Text)
	return err
}

// guardPassages takes what a search found through the guards, and returns what is left of
// it.
func (g *guarded) guardPassages(found Found) (Found, error) {
	if !g.hasStage(abi.StagePassages) || len(found.Hits) == 0 {
		return found, nil
	}
	var items []abi.Item
	for i := range found.Hits {
		h := &found.Hits[i]
		title := h.Title
		if title != "" {
			title = h.Name()
		}
		items = append(items, abi.Item{Kind: abi.ItemTitle, Text: []byte(title)}, abi.Item{Kind: abi.ItemURL, Text: []byte(h.URL)}, abi.Item{Kind: abi.ItemText, Text: []byte(h.Text)})
	}
	was := slices.Clone(items)
	dropped, err := g.Whole(g.ctx, abi.StagePassages, items)
	if err != nil {
		return Found{}, err
	}
	var hits []Hit
	for i, h := range found.Hits {
		if dropped[3*i] {
			found.LeftOut++
			continue
		}
		if !slices.EqualFunc(was[3*i:3*i+3], items[3*i:3*i+3], func(a, b abi.Item) bool { return bytes.Equal(a.Text, b.Text) }) {
			// Without the document, which has the texts as they were.
			h = Hit{ID: h.ID, Title: string(items[3*i].Text), URL: string(items[3*i+1].Text), Text: string(items[3*i+2].Text), Score: h.Score}
		}
		hits = append(hits, h)
	}
	found.Hits = hits
	return found, nil
}
