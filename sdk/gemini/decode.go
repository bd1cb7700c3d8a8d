package gemini

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/sdk/openai"
	"github.com/parley-search/parley/sdk/pattern"
	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
	"github.com/parley-search/parley/sdk/turns"
)

// state is what decode carries from call to call.
type state struct {
	OpenAI   openai.State // of a response of the OpenAI-compatible form
	Usage    provider.Usage
	Response uint64    // a hash of the response's id, for ids that we make up
	Text     uint32    // bytes of the answer's text so far
	Carried  uint32    // bytes carried so far
	Audio    [2]uint32 // tokens of sound: of the prompt, of the answer
	Images   [2]uint32 // of images
	Calls    uint16    // tool calls so far; hashes of their ids begin the memo
	Finish   finish
	Compat   bool // the response has the OpenAI-compatible form
	Named    bool
	Seen     bool // an event that says something has come
	HasUsage bool
	Pattern  pattern.State // its literals follow the hashes in the memo
}

// maxCalls bounds the tool calls of one response, as sdk/openai does.
const maxCalls = 128

// Decode tells by the first event that says it which form the response has.
func (g *Provider) Decode(s *state, e provider.Event, out *provider.Out) error {
	if s.Compat {
		return g.compat.Decode(&s.OpenAI, e, out)
	}
	if e.End {
		return s.end(e.Cancelled, out)
	}
	if string(e.Type) == abi.EventMatched {
		g.matched(s, e.Data)
		return nil
	}
	if g.match(s, e.Data, out) || g.recall(s, e.Data, out) {
		return nil
	}
	v, ok := rawjson.Parse(e.Data)
	if !ok && string(e.Data) == "[DONE]" {
		return nil
	}
	if !ok {
		s.OpenAI.Seen = s.Seen
		return g.compat.Decode(&s.OpenAI, e, out)
	}
	g.reading.Begin(e.Data)
	g.whole.Begin(e.Data)
	for it := v.Items(); it.Next(); { // a list within an event
		g.spoil()
		if err := g.event(s, it.Value, e, out); err != nil {
			return err
		}
	}
	if err := g.event(s, v, e, out); err != nil {
		return err
	}
	g.learn(s, out)
	return nil
}

// event takes one GenerateContentResponse, an error, or the first event of the
// other form.
func (g *Provider) event(s *state, v rawjson.Value, e provider.Event, out *provider.Out) error {
	var candidates, feedback, model, id, usage rawjson.Value
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "candidates":
			candidates = m.Value
		case "usageMetadata":
			if len(usage) > 0 {
				g.spoil()
			}
			usage = m.Value
			g.takeUsage(s, usage)
		case "promptFeedback":
			feedback = m.Value
			g.whole.Spoil()
		case "modelVersion":
			model = m.Value
		case "responseId":
			id = m.Value
		case "choices":
			s.Compat = !s.Seen
			g.spoil()
		case "error":
			g.whole.Spoil()
			if !m.Value.IsNull() {
				s.usage(out)
				return streamError(v)
			}
		}
	}
	if s.Compat {
		return g.compat.Decode(&s.OpenAI, e, out)
	}
	seen := len(candidates) > 0 || len(id) > 0
	s.Seen = s.Seen || seen
	s.name(id, model, out)
	if reason := feedback.Get("blockReason").String(); reason != "" && candidates.Len() == 0 {
		s.usage(out)
		return newBlockedError(reason, feedback.Get("blockReasonMessage").String())
	}
	for it := candidates.Items(); it.Next(); {
		if err := g.candidate(s, it.Value, out); err != nil {
			return err
		}
	}
	g.remember(id, model, seen)
	return nil
}

// name writes the Response record, once there is something to say.
func (s *state) name(id, model rawjson.Value, out *provider.Out) {
	if !s.Named && (len(id) > 2 || len(model) > 2) {
		s.Named, s.Response = true, hashLong(id)
		out.Response(id.String(), model.String())
	}
}

// newBlockedError returns the error for a prompt that a filter refused.
func newBlockedError(reason, message string) error {
	if message == "" {
		message = "the provider refused the conversation: " + reason
	}
	return provider.ProviderError{Kind: abi.ErrorContentFilter, Message: message, ProviderCode: reason}
}

// candidate takes what an event adds to the answer.
func (g *Provider) candidate(s *state, v rawjson.Value, out *provider.Out) error {
	var content, reason, message rawjson.Value
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "content":
			content = m.Value
		case "finishReason":
			reason = m.Value
		case "finishMessage":
			message = m.Value
		case "index":
			if i, ok := m.Value.Int(); ok && i != 0 {
				return nil // one answer was asked for
			}
		}
	}
	for it := content.Get("parts").Items(); it.Next(); {
		if err := g.part(s, it.Value, out); err != nil {
			return err
		}
	}
	if len(reason) > 2 && !reason.IsNull() {
		g.reading.Spoil()
		word := reason.String()
		var known bool
		if s.Finish, known = finishOf(word); !known {
			g.whole.Spoil()
			out.NativeFinish(word)
		}
		if g.whole.Kind != 0 {
			g.whole.Spoil() // several say why
		}
		g.whole.Kind = uint8(s.Finish)
		if s.Finish == finishBadCall {
			s.usage(out)
			text := message.String()
			if text == "" {
				text = "the model made a tool call that the provider could not read: " + word
			}
			return provider.ProviderError{Kind: abi.ErrorUpstream, Message: text, ProviderCode: word}
		}
	}
	return nil
}

// part takes a text, a piece of reasoning or a call. What a provider's own tools
// say of themselves is not a part of the answer, but goes back with its calls.
func (g *Provider) part(s *state, v rawjson.Value, out *provider.Out) error {
	var text, signature, function, inline rawjson.Value
	thought := false
	for m := v.Members(); m.Next(); {
		switch string(m.Key) {
		case "text":
			text = m.Value
		case "thought":
			thought = m.Value.Kind() == rawjson.True
		case "thoughtSignature":
			signature = m.Value
		case "functionCall":
			function = m.Value
		case "inlineData":
			inline = m.Value
		}
	}
	if !inline.IsNull() && !thought {
		g.spoil()
		out.Extra(imageExtra(inline))
	}
	if !function.IsNull() {
		return g.call(s, v, function, signature, out)
	}
	what := textAnswer
	if thought {
		what = textReasoning
	}
	piece, ok := text.AppendText(g.scratch[:0])
	if ok {
		g.reading.String(what, text)
		g.whole.String(what, text)
		g.scratch = piece
	}
	if len(signature) > 2 || text.IsNull() && s.fits(v) {
		g.spoil()
		own := 0
		if !thought {
			own = len(piece)
		}
		s.carry("", own, v, out)
	}
	s.say(what, piece, out)
	return nil
}

// imageExtra is the extra record for what the model drew, in the form in which servers of
// OpenAI's shape give images; none where it is something else.
func imageExtra(inline rawjson.Value) rawjson.Value {
	mime := inline.Get("mimeType").String()
	if !strings.HasPrefix(mime, "image/") {
		return nil
	}
	url := rawjson.Quote("data:" + mime + ";base64," + inline.Get("data").String())
	return newObject("images", wrapArray(newObject("image_url", newObject("url", url), "type", `"image_url"`)))
}

// say writes a text as the record it belongs to.
func (s *state) say(what uint8, text []byte, out *provider.Out) {
	if what == textReasoning {
		out.Reasoning(text)
		return
	}
	out.Text(text)
	s.Text += uint32(len(text))
}

// call takes a tool call, which always comes whole.
func (g *Provider) call(s *state, part, function, signature rawjson.Value, out *provider.Out) error {
	name, n := function.Get("name").String(), int(s.Calls)
	if name == "" {
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider sent a tool call without a name"}
	}
	if n == maxCalls {
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the model made more than " + strconv.Itoa(maxCalls) + " tool calls in one answer"}
	}
	id := function.Get("id").String()
	h := hashLong([]byte(id))
	g.spoil()
	ids := s.forget(out)
	for b := ids; len(b) > 0; b = b[idSize:] {
		if binary.LittleEndian.Uint64(b) == h {
			id = ""
		}
	}
	if id == "" { // the same response always has the same ids
		g.scratch = appendCompact(g.scratch[:0], part)
		id = ownID + strconv.FormatUint(s.Response^hashLong(g.scratch), 36) + "_" + strconv.Itoa(n)
	}
	g.memo = binary.LittleEndian.AppendUint64(append(g.memo[:0], ids...), h)
	out.Memo = g.memo
	s.Calls++
	out.ToolStart(n, id, name)
	if len(signature) > 2 && signature.Kind() == rawjson.String {
		out.Extra(callExtra(extraContent(signature)))
	}
	g.scratch = appendCompact(g.scratch[:0], turns.Arguments(function.Get("args")))
	out.ToolArguments(n, g.scratch)
	s.carry(id, 0, part, out)
	return nil
}

// callExtra is the extra record that adds members to the tool call before it.
func callExtra(content rawjson.Value) rawjson.Value {
	return newObject("tool_calls", wrapArray(newObject("extra_content", content)))
}

// hashLong returns FNV-1a with 64 bits.
func hashLong(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// end writes the end: reasons to finish may come early, and more than once.
func (s *state) end(cancelled bool, out *provider.Out) error {
	s.usage(out)
	switch {
	case cancelled:
		return nil
	case s.Finish == finishNone && s.OpenAI.Odd.Count > 0:
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider sent an event that is not JSON"}
	case !s.Seen && !s.HasUsage:
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider's answer was empty"}
	case s.Finish == finishNone:
		return provider.ProviderError{Kind: abi.ErrorUpstream, Message: "the provider's stream ended in the middle of the answer"}
	case s.Finish == finishStop && s.Calls > 0:
		out.Finish("tool_calls")
	default:
		out.Finish(s.Finish.String())
	}
	return nil
}
