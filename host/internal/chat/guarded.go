package chat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// A guarded is the guards of an answer. Texts enter by question and passages, and
// leave by the sink that it stands in front of; all forms of answers have one. nil: the
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
	g := &guarded{Chain: guard.New(func(e guard.Event) { d.tellGuard(w, e) }), ctx: ctx}
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

// tellGuard tells who counts what a guard did.
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

// has reports whether a guard stands at a stage.
func (g *guarded) has(stage string) bool { return g != nil && g.Has(stage) }

// ended is why a guard ended the answer, if one did.
func (g *guarded) ended() error {
	if g == nil {
		return nil
	}
	return g.err
}

// blockedError is the error that a client gets for a block.
func blockedError(b *guard.Blocked) *apierr.Error {
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

// refuse ends the answer with the refusal of a guard.
func (a *Answer) refuse(b *guard.Blocked) error {
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
	if err := a.flush(); err != nil {
		a.outcome.Cancelled = true
		return errors.Unwrap(err)
	}
	a.outcome.Finish = f.Reason
	return nil
}

// itemKinds are the kinds of items by role.
var itemKinds = map[string]uint32{"system": abi.ItemSystem, "developer": abi.ItemSystem, "user": abi.ItemUser, "assistant": abi.ItemAssistant, "tool": abi.ItemTool}

// question takes the texts of messages through the guards, and puts what they make
// of them in their place.
func (g *guarded) question(messages []json.RawMessage) error {
	if !g.has(abi.StageQuestion) {
		return nil
	}
	var q questionTexts
	for i, m := range messages {
		q.read(i, m)
	}
	was := make([][]byte, len(q.items))
	for i := range q.items {
		was[i] = q.items[i].Text
	}
	if _, err := g.Whole(g.ctx, abi.StageQuestion, q.items); err != nil {
		return err
	}
	for i := range q.items {
		if !bytes.Equal(was[i], q.items[i].Text) {
			q.put[i](string(q.items[i].Text))
		}
	}
	for i, write := range q.write {
		messages[i] = write()
	}
	return nil
}

// questionTexts are the texts of messages.
type questionTexts struct {
	items []abi.Item
	put   []func(text string)            // in the place of an item
	write map[int]func() json.RawMessage // messages with other texts, by their place
}

func (q *questionTexts) add(kind uint32, text string, put func(text string)) {
	if text != "" {
		q.items, q.put = append(q.items, abi.Item{Kind: kind, Text: []byte(text)}), append(q.put, put)
	}
}

// read finds the texts of the message at i.
func (q *questionTexts) read(i int, message json.RawMessage) {
	m, ok := jsonbody.ObjectOf(message)
	if !ok {
		return
	}
	role, _ := rawjson.String(m["role"])
	kind := itemKinds[role]
	set := func(name string, value func() json.RawMessage) {
		before := q.write[i]
		if q.write == nil {
			q.write = map[int]func() json.RawMessage{}
		}
		q.write[i] = func() json.RawMessage {
			if before != nil {
				before()
			}
			m[name] = value()
			return m.Append(nil)
		}
	}
	for name, kind := range map[string]uint32{"content": kind, "refusal": kind, "reasoning_content": abi.ItemReasoning, "reasoning": abi.ItemReasoning} {
		if text, ok := rawjson.String(m[name]); ok {
			q.add(kind, text, func(text string) { set(name, func() json.RawMessage { return jsonbody.Quote(text) }) })
		}
	}
	if parts, ok := jsonbody.ArrayOf(m["content"]); ok {
		for n, v := range parts {
			part, _ := jsonbody.ObjectOf(v)
			for _, name := range []string{"text", "refusal"} {
				if text, ok := rawjson.String(part[name]); ok {
					q.add(kind, text, func(text string) {
						part[name] = jsonbody.Quote(text)
						parts[n] = part.Append(nil)
						set("content", func() json.RawMessage { return rawjson.Array(parts) })
					})
				}
			}
		}
	}
	calls, _ := jsonbody.ArrayOf(m["tool_calls"])
	for n, v := range calls {
		call, _ := jsonbody.ObjectOf(v)
		f, _ := jsonbody.ObjectOf(call["function"])
		arguments, ok := rawjson.String(f["arguments"])
		if !ok {
			continue
		}
		texts := guard.Texts([]byte(arguments))
		for t := range texts {
			q.add(abi.ItemArguments, string(texts[t]), func(text string) {
				texts[t] = []byte(text)
				f["arguments"] = jsonbody.Quote(string(guard.WithTexts([]byte(arguments), texts)))
				call["function"] = f.Append(nil)
				calls[n] = call.Append(nil)
				set("tool_calls", func() json.RawMessage { return rawjson.Array(calls) })
			})
		}
	}
}

// passages takes what a search found through the guards, and returns what is left of
// it.
func (g *guarded) passages(found Found) (Found, error) {
	if !g.has(abi.StagePassages) || len(found.Hits) == 0 {
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

// A guardedSink is a sink behind the guards of an answer.
type guardedSink struct {
	Sink
	g    *guarded
	keep func(text []byte) // notes text of the answer that goes out
}

// stageOf is where texts of a kind leave.
func stageOf(k Kind) (stage string, item uint32) {
	if k == Reasoning {
		return abi.StageReasoning, abi.ItemReasoning
	}
	return abi.StageAnswer, abi.ItemAnswer
}

// later reports whether call is to come behind calls of which the arguments are not
// whole, and notes it then.
func (s *guardedSink) later(call func()) bool {
	if len(s.g.calls) == 0 {
		return false
	}
	s.g.behind = append(s.g.behind, call)
	return true
}

// Text implements [Sink].
func (s *guardedSink) Text(kind Kind, text, extra []byte) {
	if s.g.err != nil {
		return
	}
	stage, item := stageOf(kind)
	if s.g.streams[kind] == nil {
		s.g.streams[kind] = s.g.Stream(stage, item)
	}
	stream := s.g.streams[kind]
	if stream == nil && len(s.g.calls) == 0 {
		s.out(kind, text, extra)
		return
	}
	if len(s.g.calls) > 0 {
		text, extra = bytes.Clone(text), bytes.Clone(extra)
		if s.later(func() { s.Text(kind, text, extra) }) {
			return
		}
	}
	held := stream.Holds()
	out, err := stream.Next(s.g.ctx, text)
	if extra != nil {
		if held || !bytes.Equal(out, text) {
			extra = nil // it may say what is held, or was edited
		} else {
			extra = s.whole(stage, extra)
		}
	}
	s.out(kind, out, extra)
	s.g.err = cmp.Or(s.g.err, err)
}

// out gives the sink a text that the guards let pass, if there is any.
func (s *guardedSink) out(kind Kind, text, extra []byte) {
	if len(text) > 0 {
		if kind == Content {
			s.keep(text)
		}
		s.Sink.Text(kind, text, extra)
	}
}

// whole takes the texts of an object through the guards, each as a whole; nil: it
// does not go out.
func (s *guardedSink) whole(stage string, object []byte) []byte {
	out, err := s.g.JSON(s.g.ctx, stage, abi.ItemAnswer, object)
	if err != nil {
		s.g.err = cmp.Or(s.g.err, err)
		return nil
	}
	return out
}

// beside takes members beside a text through the guards; nil: they do not go out.
func (s *guardedSink) beside(object []byte) []byte {
	if s.g.err != nil {
		return nil
	}
	for _, stream := range s.g.streams {
		if stream != nil && stream.Holds() {
			return nil // they may say what is held
		}
	}
	for _, stage := range []string{abi.StageReasoning, abi.StageAnswer} {
		if object = s.whole(stage, object); object == nil {
			return nil
		}
	}
	return object
}

// Extra implements [Sink].
func (s *guardedSink) Extra(object []byte) {
	if object = s.beside(object); object != nil {
		s.Sink.Extra(object)
	}
}

// Outer implements [Sink]. Members of the choice, such as the probabilities of
// tokens, say the text in pieces, and are left out where a guard sees that.
func (s *guardedSink) Outer(object []byte) {
	if s.g.has(abi.StageAnswer) || s.g.has(abi.StageReasoning) {
		o, _ := jsonbody.ObjectOf(object)
		if o["choice"] != nil {
			if delete(o, "choice"); len(o) == 0 {
				return
			}
			object = o.Append(nil)
		}
	}
	if object = s.beside(object); object != nil {
		s.Sink.Outer(object)
	}
}

// ToolStart implements [Sink]. The texts before a call go out before it.
func (s *guardedSink) ToolStart(id, name string, extra []byte) {
	if s.endTexts(); s.g.err != nil {
		return
	}
	if extra != nil {
		extra = s.beside(extra)
	}
	if !s.g.has(abi.StageArguments) {
		s.Sink.ToolStart(id, name, extra)
		return
	}
	s.g.calls = append(s.g.calls, heldCall{index: s.g.started, id: id, name: name, extra: bytes.Clone(extra)})
	s.g.started++
}

// ToolArguments implements [Sink].
func (s *guardedSink) ToolArguments(call int, piece []byte) {
	switch {
	case s.g.err != nil:
	case len(s.g.calls) == 0:
		s.Sink.ToolArguments(call, piece)
	default:
		c := &s.g.calls[call-s.g.calls[0].index] // they are numbered in turn
		c.arguments = append(c.arguments, piece...)
	}
}

// ToolExtra implements [Sink].
func (s *guardedSink) ToolExtra(call int, members []byte) {
	members = bytes.Clone(members)
	if s.later(func() { s.ToolExtra(call, members) }) {
		return
	}
	if members = s.beside(members); members != nil {
		s.Sink.ToolExtra(call, members)
	}
}

// Searching implements [Sink].
func (s *guardedSink) Searching(index, query string) {
	if query, ok := s.text(query); ok {
		s.Sink.Searching(index, query)
	}
}

// Searched implements [Sink].
func (s *guardedSink) Searched(f *Searched) {
	if query, ok := s.text(f.Query); ok {
		s.Sink.Searched(&Searched{Index: f.Index, Query: query, Hits: f.Hits})
	}
}

// text takes a short whole text through the guards of the answer.
func (s *guardedSink) text(t string) (string, bool) {
	if s.g.err != nil {
		return "", false
	}
	out, err := s.g.Text(s.g.ctx, abi.StageAnswer, abi.ItemAnswer, []byte(t))
	s.g.err = err
	return string(out), err == nil
}

// Report implements [Sink].
func (s *guardedSink) Report(name string, arguments []byte) {
	if s.g.err != nil {
		return
	}
	if out := s.whole(abi.StageAnswer, arguments); out != nil {
		s.Sink.Report(name, out)
	}
}

// EndRound implements [Sink].
func (s *guardedSink) EndRound(c *Carry) {
	calls, behind := s.g.calls, s.g.behind
	s.g.calls, s.g.behind = nil, nil
	for i := range calls {
		call := &calls[i]
		arguments, err := call.arguments, s.g.err
		if err == nil && len(arguments) > 0 {
			arguments, err = s.g.JSON(s.g.ctx, abi.StageArguments, abi.ItemArguments, arguments)
		}
		if err != nil {
			s.g.err = err
			return
		}
		s.Sink.ToolStart(call.id, call.name, call.extra)
		if len(arguments) > 0 {
			s.Sink.ToolArguments(call.index, arguments)
		}
	}
	for _, call := range behind {
		call()
	}
	if len(c.Calls) > 0 {
		c.Guards = s.g.State()
	}
	s.Sink.EndRound(c)
}

// endTexts lets out what is held of the texts.
func (s *guardedSink) endTexts() {
	for _, kind := range []Kind{Reasoning, Content, Refusal} {
		stream := s.g.streams[kind]
		if stream == nil || s.g.err != nil {
			continue
		}
		out, err := stream.End(s.g.ctx)
		s.out(kind, out, nil)
		s.g.err = err
	}
}

// Fail implements [Sink]. What was said before a failure goes out.
func (s *guardedSink) Fail(e *apierr.Error) {
	s.endTexts()
	s.Sink.Fail(e)
}
