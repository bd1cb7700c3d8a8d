package main

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// state is what is kept of a response between its events.
type state struct {
	calls   int16 // opened
	open    [maxOpen]openCall
	count   uint8 // of open
	reason  bool  // a block of reasoning is under way
	index   int32 // of that block
	stopped bool
	why     uint8 // the model stopped: one of the below, or 1 + a place in badStops
}

// maxCalls bounds the calls of one response.
const maxCalls = 1 << 12

// maxOpen bounds the calls whose arguments are under way at once.
const maxOpen = 8

// An openCall is a block of a call whose arguments are under way.
type openCall struct {
	index     int32 // of the block, as the API counts
	call      int16
	arguments bool // it has some
}

// Why a model stopped that did well.
const (
	whole uint8 = 100 + iota
	cut
	filtered
)

// badStops are stop reasons that are no finish.
var badStops = [...]string{"malformed_model_output", "malformed_tool_use"}

var errEarly = provider.Errorf(provider.ErrorUpstream, "the response ended early")

// Decode implements [provider.Provider].
func (b *bedrock) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		switch {
		case e.Cancelled:
			return nil
		case !s.stopped:
			return errEarly
		}
		return s.finish(out)
	}
	typ := string(e.Type)
	b.teller.Begin(e.Type, e.Data)
	v, ok := rawjson.Parse(e.Data)
	// A failure after the stop is one, too: so do the SDKs of AWS take it.
	if name, found := failureName(typ); found {
		return streamError(name, v)
	}
	if s.stopped && typ != "metadata" {
		return nil // the answer is whole
	}
	if !ok && s.stopped {
		return nil
	}
	if !ok {
		return provider.Errorf(provider.ErrorUpstream, "the response holds an event that is not JSON")
	}
	switch typ {
	case abi.EventHead:
		if id := v.Path("headers", "x-amzn-requestid").String(); id != "" {
			out.Response(id, "")
		}
	case "contentBlockStart":
		b.start(s, v, out)
	case "contentBlockDelta":
		s.delta(v, out)
		b.tell(v)
	case "contentBlockStop":
		index := blockIndex(v)
		s.endReason(out)
		s.closeCall(index, out)
	case "messageStop":
		s.stop(v.Get("stopReason").String(), out)
	case "metadata":
		writeUsage(v.Get("usage"), out)
	}
	return nil
}

// tell tells of a delta that is a text and no more; p is padding.
func (b *bedrock) tell(v rawjson.Value) {
	delta := v.Get("delta")
	if len(delta.Get("toolUse")) > 0 || len(delta.Get("reasoningContent")) > 0 {
		return
	}
	b.teller.Text(abi.RecordText, delta.Get("text"))
	b.teller.Skip(v.Get("p"))
}

// Pattern implements [provider.Patterned].
func (b *bedrock) Pattern(_ *state, out *provider.Out) { out.Pattern(b.teller.Pattern()) }

// start opens a block: only those of tools have an event for it. Tools that Bedrock
// runs itself are no matter of ours.
func (b *bedrock) start(s *state, v rawjson.Value, out *provider.Out) {
	s.endReason(out)
	index := blockIndex(v)
	s.closeCall(index, out)
	use := v.Path("start", "toolUse")
	name := use.Get("name").String()
	if name == "" || !use.Get("type").IsNull() || s.calls == maxCalls {
		return
	}
	if s.count == maxOpen {
		s.closeCall(s.open[0].index, out)
	}
	out.ToolStart(int(s.calls), b.callID(use.Get("toolUseId").String(), int(s.calls), out), name)
	s.open[s.count] = openCall{index: index, call: s.calls}
	s.count++
	s.calls++
}

// callID is the id of a call, another one where it has none or one that a call
// before it had. The memo holds those that there were.
func (b *bedrock) callID(id string, n int, out *provider.Out) string {
	b.scratch = append(b.scratch[:0], out.Memo...)
	if id == "" || len(id) > 200 || len(b.scratch) > provider.MaxMemo/2 || bytes.Contains(b.scratch, []byte("\n"+id+"\n")) {
		id = "tooluse_parley_" + strconv.Itoa(n)
	}
	b.scratch = append(append(append(b.scratch, '\n'), id...), '\n')
	out.Memo = b.scratch
	return id
}

// blockIndex returns which block an event is of.
func blockIndex(v rawjson.Value) int32 {
	n, _ := v.Get("contentBlockIndex").Int()
	return int32(n)
}

// delta takes a piece of a block. Text and reasoning begin with their first one;
// the pieces of several calls may be mixed.
func (s *state) delta(v rawjson.Value, out *provider.Out) {
	index := blockIndex(v)
	if index != s.index {
		s.endReason(out)
	}
	delta := v.Get("delta")
	if text, ok := delta.Get("text").Text(); ok {
		out.Text(text)
	}
	if piece, ok := delta.Path("toolUse", "input").Text(); ok && len(piece) > 0 {
		for i := range s.open[:s.count] {
			if c := &s.open[i]; c.index == index {
				c.arguments = true
				out.ToolArguments(int(c.call), piece)
			}
		}
	}
	thought := delta.Get("reasoningContent")
	if thought.Kind() != rawjson.Object {
		return
	}
	s.reason, s.index = true, index
	if text := thought.Get("text"); text.Kind() == rawjson.String {
		piece, _ := text.Text()
		out.Reasoning(piece)
		out.Carry(appendPiece(nil, 't', text))
	}
	if v := thought.Get("signature"); v.Kind() == rawjson.String {
		out.Carry(appendPiece(nil, 's', v))
	}
	if v := thought.Get("redactedContent"); v.Kind() == rawjson.String {
		out.Carry(appendPiece(nil, 'r', v))
	}
}

// endReason ends the block of reasoning under way.
func (s *state) endReason(out *provider.Out) {
	if s.reason {
		out.Carry([]byte("e\n"))
	}
	s.reason = false
}

// closeCall ends the call of a block, if it has one.
func (s *state) closeCall(index int32, out *provider.Out) {
	for i, c := range s.open[:s.count] {
		if c.index != index {
			continue
		}
		if !c.arguments {
			out.ToolArguments(int(c.call), []byte("{}"))
		}
		copy(s.open[i:], s.open[i+1:s.count])
		s.count--
		return
	}
}

// stop takes why the model stopped. What it cost comes after, and so may a failure.
func (s *state) stop(why string, out *provider.Out) {
	s.endReason(out)
	for s.count > 0 {
		s.closeCall(s.open[0].index, out)
	}
	s.stopped, s.why = true, whole
	switch why {
	case "max_tokens", "model_context_window_exceeded":
		s.why = cut
	case "guardrail_intervened", "content_filtered":
		s.why = filtered
	case "end_turn", "stop_sequence", "tool_use":
	default:
		for i, bad := range badStops {
			if why == bad {
				s.why = uint8(i) + 1
				return
			}
		}
		out.NativeFinish(why)
		if s.calls == 0 {
			s.why = cut
		}
	}
}

// finish ends the answer. Whether it has calls is seen by them: what the stop says of
// them differs between models.
func (s *state) finish(out *provider.Out) error {
	switch {
	case s.why == cut:
		out.Finish("length")
	case s.why == filtered:
		out.Finish("content_filter")
	case s.why == whole && s.calls > 0:
		out.Finish("tool_calls")
	case s.why == whole:
		out.Finish("stop")
	default:
		why := badStops[s.why-1]
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the model's output could not be read (" + why + "): ask again", ProviderCode: why}
	}
	return nil
}

func writeUsage(v rawjson.Value, out *provider.Out) {
	if v.Kind() != rawjson.Object {
		return
	}
	cached, written := countTokens(v.Get("cacheReadInputTokens")), countTokens(v.Get("cacheWriteInputTokens"))
	u := provider.Usage{
		Prompt:     countTokens(v.Get("inputTokens")) + cached + written,
		Completion: countTokens(v.Get("outputTokens")), Total: countTokens(v.Get("totalTokens")), Cached: cached,
	}
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	out.UsageWritten(u, written)
}

func countTokens(v rawjson.Value) uint64 {
	if n, ok := v.Int(); ok && n > 0 {
		return uint64(n)
	}
	return 0
}

// failureName reports whether an event's type is that of a failure, and of which name:
// all of them end the response. An exception mostly has the host's type for it; one that
// came as an ordinary event is one as well.
func failureName(typ string) (name string, ok bool) {
	for _, prefix := range [...]string{":exception:", ":error:"} {
		if name, ok = strings.CutPrefix(typ, prefix); ok {
			return name, true
		}
	}
	return typ, strings.HasSuffix(typ, "Exception")
}
