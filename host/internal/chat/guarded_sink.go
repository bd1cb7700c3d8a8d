package chat

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A guardedSink is a sink behind the guards of an answer.
type guardedSink struct {
	Sink
	g    *guarded
	keep func(text []byte)              // notes text of the answer that goes out
	seal func(c *Carry) json.RawMessage // makes [Carry.Details]
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
	if len(ImagesIn(extra)) > 0 {
		s.Text(kind, text, nil)
		s.Extra(extra)
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

// Extra implements [Sink]. The texts before an image go out before it.
func (s *guardedSink) Extra(object []byte) {
	if len(ImagesIn(object)) > 0 {
		s.endTexts()
	}
	if object = s.beside(object); object != nil {
		s.Sink.Extra(object)
	}
}

// Outer implements [Sink]. Members of the choice, such as the probabilities of
// tokens, say the text in pieces, and are left out where a guard sees that.
func (s *guardedSink) Outer(object []byte) {
	if s.g.hasStage(abi.StageAnswer) || s.g.hasStage(abi.StageReasoning) {
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
	if !s.g.hasStage(abi.StageArguments) {
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
	if out := s.report(arguments); out != nil {
		s.Sink.Report(name, out)
	}
}

// report takes the texts of a report through the guards; nil: it does not go out.
func (s *guardedSink) report(object []byte) []byte {
	if s.g.err != nil {
		return nil
	}
	return s.whole(abi.StageAnswer, object)
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
	c.Details = s.seal(c)
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
