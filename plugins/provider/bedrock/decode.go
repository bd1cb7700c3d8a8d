package main

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// state is what is kept of a response between its events.
type state struct {
	index     int64 // of the block under way
	calls     int32 // opened
	kind      uint8 // of the block under way, one of the below
	arguments bool  // the call has some
	stopped   bool
	failed    uint8 // why the model stopped, where that is an error: 1 + its place in badStops
}

const (
	plain   uint8 = iota // text, or nothing yet
	reason               // reasoning
	tool                 // a call
	foreign              // run by Bedrock itself: no matter of ours
)

// badStops are stop reasons that are no finish.
var badStops = [...]string{"malformed_model_output", "malformed_tool_use"}

var errEarly = errors.New("the response ended early")

// Decode implements [provider.Provider].
func (b *bedrock) Decode(s *state, e provider.Event, out *provider.Out) error {
	if e.End {
		switch {
		case e.Cancelled:
			return nil
		case !s.stopped:
			return errEarly
		}
		return s.failure()
	}
	typ := string(e.Type)
	if s.stopped && typ != "metadata" {
		return nil // the answer is whole
	}
	v, ok := rawjson.Parse(e.Data)
	if name, found := failureName(typ); found {
		return streamError(name, v)
	}
	if !ok && s.stopped {
		return nil
	}
	if !ok {
		return errors.New("the response holds an event that is not JSON")
	}
	switch typ {
	case abi.EventHead:
		if id := v.Path("headers", "x-amzn-requestid").String(); id != "" {
			out.Response(id, "")
		}
	case "contentBlockStart":
		b.start(s, v, out)
	case "contentBlockDelta":
		b.delta(s, v, out)
	case "contentBlockStop":
		b.close(s, out)
	case "messageStop":
		b.stop(s, v.Get("stopReason").String(), out)
	case "metadata":
		writeUsage(v.Get("usage"), out)
		if s.stopped {
			return s.failure()
		}
	}
	return nil
}

// start opens a block: only those of tools have an event for it.
func (b *bedrock) start(s *state, v rawjson.Value, out *provider.Out) {
	b.close(s, out)
	s.index, _ = v.Get("contentBlockIndex").Int()
	start := v.Get("start")
	use := start.Get("toolUse")
	switch {
	case use.Kind() == rawjson.Object && use.Get("type").IsNull() && use.Get("name").String() != "":
		s.kind, s.arguments = tool, false
		out.ToolStart(int(s.calls), b.callID(use.Get("toolUseId").String(), int(s.calls), out), use.Get("name").String())
		s.calls++
	case start.Kind() == rawjson.Object && !start.Empty():
		s.kind = foreign
	}
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

// delta takes a piece of a block. Text and reasoning begin with their first one.
func (b *bedrock) delta(s *state, v rawjson.Value, out *provider.Out) {
	if index, _ := v.Get("contentBlockIndex").Int(); index != s.index {
		b.close(s, out)
		s.index = index
	}
	if s.kind == foreign {
		return
	}
	delta := v.Get("delta")
	if text, ok := delta.Get("text").Text(nil); ok {
		out.Text(text)
	}
	if input := delta.Path("toolUse", "input"); s.kind == tool && input.Kind() == rawjson.String {
		if piece, _ := input.Text(nil); len(piece) > 0 {
			s.arguments = true
			out.ToolArguments(int(s.calls)-1, piece)
		}
	}
	thought := delta.Get("reasoningContent")
	if thought.Kind() != rawjson.Object || s.kind == tool {
		return
	}
	s.kind = reason
	if text := thought.Get("text"); text.Kind() == rawjson.String {
		piece, _ := text.Text(nil)
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

// close ends the block under way.
func (b *bedrock) close(s *state, out *provider.Out) {
	switch {
	case s.kind == tool && !s.arguments:
		out.ToolArguments(int(s.calls)-1, []byte("{}"))
	case s.kind == reason:
		out.Carry([]byte("e\n"))
	}
	s.kind = plain
}

// stop takes why the model stopped. What it cost comes after.
func (b *bedrock) stop(s *state, why string, out *provider.Out) {
	b.close(s, out)
	if s.stopped {
		return
	}
	s.stopped = true
	for i, bad := range badStops {
		if why == bad {
			s.failed = uint8(i) + 1
			return
		}
	}
	switch why {
	case "max_tokens", "model_context_window_exceeded":
		out.Finish("length")
	case "guardrail_intervened", "content_filtered":
		out.Finish("content_filter")
	default:
		if s.calls > 0 {
			out.Finish("tool_calls")
		} else {
			out.Finish("stop")
		}
	}
}

// failure is that of a stop which is an error; nil for any other.
func (s *state) failure() error {
	if s.failed == 0 {
		return nil
	}
	why := badStops[s.failed-1]
	return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the model's output could not be read (" + why + "): ask again", ProviderCode: why}
}

func writeUsage(v rawjson.Value, out *provider.Out) {
	if v.Kind() != rawjson.Object {
		return
	}
	cached := countTokens(v.Get("cacheReadInputTokens"))
	u := provider.Usage{
		Prompt:     countTokens(v.Get("inputTokens")) + cached + countTokens(v.Get("cacheWriteInputTokens")),
		Completion: countTokens(v.Get("outputTokens")), Total: countTokens(v.Get("totalTokens")), Cached: cached,
	}
	if u.Total == 0 {
		u.Total = u.Prompt + u.Completion
	}
	out.Usage(u)
}

func countTokens(v rawjson.Value) uint64 {
	if n, ok := v.Int(); ok && n > 0 {
		return uint64(n)
	}
	return 0
}

// failureName reports whether an event's type is one of the host's for a failure, and
// of which name: both kinds end the response.
func failureName(typ string) (name string, ok bool) {
	for _, prefix := range [...]string{":exception:", ":error:"} {
		if name, ok = strings.CutPrefix(typ, prefix); ok {
			return name, true
		}
	}
	return "", false
}
