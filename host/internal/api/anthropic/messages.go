package anthropic

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// maxWhole bounds, in bytes, what is kept of a message.
const maxWhole = 32 << 20

var errTooLong = errors.New("the message is too long to be kept")

// Messages makes a message of an answer, and its events. Not safe for concurrent
// use.
type Messages struct {
	chat.Discard
	// Events takes the events as they come; nil: Body is the answer.
	Events chat.FrameWriter
	// Sealed returns what a client sends back of a round; empty: nothing.
	Sealed func(*chat.Carry) string
	// Asked is about how many tokens the question has: clients show it until the answer's
	// end says how many the provider counted.
	Asked int
	// Status is the status of an answer with a failure.
	Status func(*apierr.Error) int

	id, model string
	blocks    []*block
	open      *block   // that events add to; nil: none
	calls     []*block // of tools, in the answer's order
	refused   bool     // the model refused to answer
	finish    *chat.Finish
	out       []byte
	size      int
	pieces    int
	begun     bool
	ended     bool
}

var _ chat.Sink = (*Messages)(nil)

// A block is one of a message's content.
type block struct {
	typ       string // text, thinking, redacted_thinking, tool_use
	index     int
	told      bool   // its start was sent
	id, name  string // of tool_use
	text      []byte // of tool_use: the input so far
	citations []json.RawMessage
}

// NewMessages returns the writer of a message of model, as the client named it.
func NewMessages(model string) *Messages {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return &Messages{id: "msg_" + hex.EncodeToString(b[:]), model: model}
}

// event appends an event, whose data comes without its closing brace.
func (w *Messages) event(typ string, data []byte) {
	if w.Events == nil {
		return
	}
	w.out = append(append(append(w.out, "event: "...), typ...), "\ndata: {\"type\":\""...)
	w.out = append(append(w.out, typ...), '"')
	w.out = append(append(w.out, data...), "}\n\n"...)
}

func (w *Messages) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.event("message_start", append([]byte(`,"message":`), w.appendMessage(nil)...))
}

// Responding implements [chat.Sink].
func (w *Messages) Responding(model []byte) {
	if len(model) > 0 {
		w.begin()
	}
}

// Text implements [chat.Sink].
func (w *Messages) Text(kind chat.Kind, text, extra []byte) {
	w.thinkingOf(extra)
	typ := "text"
	if kind == chat.Reasoning {
		typ = "thinking"
	}
	w.refused = w.refused || kind == chat.Refusal
	w.say(typ, text)
	w.sayImages(extra)
}

// Extra implements [chat.Sink].
func (w *Messages) Extra(object []byte) {
	w.thinkingOf(object)
	w.sayImages(object)
}

// sayImages says in a block of its own of each image in a delta that the model drew it: a
// message has no form for one.
func (w *Messages) sayImages(object []byte) {
	for _, image := range chat.ImagesIn(object) {
		w.close()
		w.say("text", []byte(image.Words()))
		w.close()
	}
}

// thinkingOf takes reasoning that a provider has among the other members of a delta.
func (w *Messages) thinkingOf(object []byte) {
	m, ok := rawjson.MembersOf(object)
	for ok && m.Next() {
		if m.Called("reasoning") || m.Called("reasoning_content") {
			if s, isText := rawjson.String(m.Value); isText && s != "" {
				w.say("thinking", []byte(s))
			}
			return
		}
	}
}

// say adds to the block of type typ that is open, or opens one.
func (w *Messages) say(typ string, text []byte) {
	w.count(len(text))
	if w.open == nil || w.open.typ != typ {
		w.close()
		w.add(&block{typ: typ})
	}
	w.open.text = append(w.open.text, text...)
	field := map[string]string{"text": "text", "thinking": "thinking"}[typ]
	w.delta(w.open, typ+"_delta", rawjson.AppendString(append(append([]byte(nil), `,"`+field...), `":`...), text))
}

// count counts a piece of so many bytes.
func (w *Messages) count(size int) {
	w.begin()
	w.pieces++
	w.size += size
}

// add adds a block and opens it.
func (w *Messages) add(b *block) {
	b.index = len(w.blocks)
	w.blocks = append(w.blocks, b)
	w.start(b)
}

// start writes the event that begins b.
func (w *Messages) start(b *block) {
	w.open, b.told = b, true
	data := strconv.AppendInt([]byte(`,"index":`), int64(b.index), 10)
	data = append(data, `,"content_block":`...)
	switch b.typ {
	case "tool_use":
		data = append(b.appendCall(data), `,"input":{}}`...)
	case "thinking":
		data = append(data, `{"type":"thinking","thinking":"","signature":""}`...)
	case "redacted_thinking":
		data = b.append(data)
	default:
		data = append(data, `{"type":"text","text":""}`...)
	}
	w.event("content_block_start", data)
}

// delta writes the event of what is added to b; data are members behind the delta's type.
func (w *Messages) delta(b *block, typ string, data []byte) {
	head := strconv.AppendInt([]byte(`,"index":`), int64(b.index), 10)
	head = append(append(append(head, `,"delta":{"type":"`...), typ...), '"')
	w.event("content_block_delta", append(append(head, data...), '}'))
}

// close ends the block that is open.
func (w *Messages) close() {
	b := w.open
	if b == nil {
		return
	}
	w.open = nil
	w.event("content_block_stop", strconv.AppendInt([]byte(`,"index":`), int64(b.index), 10))
}

// ToolStart implements [chat.Sink]. Blocks come one after the other here, and calls
// may come side by side: the first one goes out as it comes, the others behind it.
func (w *Messages) ToolStart(id, name string, _ []byte) {
	w.count(len(id) + len(name))
	b := &block{typ: "tool_use", id: id, name: name}
	w.calls = append(w.calls, b)
	if w.open != nil && w.open.typ == "tool_use" {
		b.index = len(w.blocks)
		w.blocks = append(w.blocks, b)
		return
	}
	w.close()
	w.add(b)
}

// ToolArguments implements [chat.Sink].
func (w *Messages) ToolArguments(call int, piece []byte) {
	w.count(len(piece))
	b := w.calls[call]
	b.text = append(b.text, piece...)
	if b == w.open {
		w.input(b, piece)
	}
}

// input writes the event of a piece of a call's input.
func (w *Messages) input(b *block, piece []byte) {
	w.delta(b, "input_json_delta", rawjson.AppendString([]byte(`,"partial_json":`), piece))
}

// closeCalls ends the call that is open, and tells those that waited for it.
func (w *Messages) closeCalls() {
	for _, b := range w.calls {
		if b.told {
			continue
		}
		w.close()
		w.start(b)
		w.input(b, b.text)
	}
	w.close()
}

// EndRound implements [chat.Sink]. What is sealed of the round is a block that the
// client sends back as it is.
func (w *Messages) EndRound(c *chat.Carry) {
	if w.Sealed == nil {
		return
	}
	sealed := w.Sealed(c)
	if sealed == "" {
		return
	}
	w.count(len(sealed))
	w.closeCalls()
	w.add(&block{typ: "redacted_thinking", text: []byte(sealed)})
	w.close()
}

// Finish implements [chat.Sink].
func (w *Messages) Finish(f *chat.Finish) {
	w.count(0)
	w.finish, w.ended = f, true
	if w.open != nil && w.open.typ == "text" {
		for _, c := range f.Citations {
			w.cite(w.open, c)
		}
	}
	w.closeCalls()
	data := append(w.appendStop([]byte(`,"delta":{`)), `},"usage":`...)
	w.event("message_delta", w.appendUsage(data))
	w.event("message_stop", nil)
}

// cite adds a document that the text of b rests on.
func (w *Messages) cite(b *block, c chat.Citation) {
	v := rawjson.AppendString([]byte(`{"type":"search_result_location","cited_text":"","title":`), c.Title)
	v = rawjson.AppendString(append(v, `,"source":`...), c.URL)
	v = append(v, `,"search_result_index":`...)
	v = strconv.AppendInt(v, int64(len(b.citations)), 10)
	v = append(v, `,"start_block_index":0,"end_block_index":0}`...)
	b.citations = append(b.citations, v)
	w.delta(b, "citations_delta", append([]byte(`,"citation":`), v...))
}

// Fail implements [chat.Sink].
func (w *Messages) Fail(e *apierr.Error) {
	if w.ended || w.Events == nil {
		return
	}
	w.ended = true
	w.out = append(append(append(w.out, "event: error\ndata: "...), ErrorBody(w.Status(e), e.Message, "")...), "\n\n"...)
}

// Flush implements [chat.Sink]. The error is that of Events, or says that the message is too
// long.
func (w *Messages) Flush() error {
	if w.size > maxWhole {
		return fmt.Errorf("%w: more than %d bytes", errTooLong, maxWhole)
	}
	if w.Events == nil {
		return nil
	}
	err := w.Events.WriteFrames(w.out, w.ended)
	w.out = w.out[:0]
	return err
}

// Sent implements [chat.Sink]: the number of pieces.
func (w *Messages) Sent() int { return w.pieces }

// Body is the whole message.
func (w *Messages) Body() []byte { return w.appendMessage(nil) }

// appendMessage appends the message as it is now.
func (w *Messages) appendMessage(b []byte) []byte {
	b = rawjson.AppendString(append(b, `{"id":`...), w.id)
	b = rawjson.AppendString(append(b, `,"type":"message","role":"assistant","model":`...), w.model)
	b = append(b, `,"content":[`...)
	for i, k := range w.blocks {
		if i > 0 {
			b = append(b, ',')
		}
		b = k.append(b)
	}
	b = w.appendStop(append(b, `],`...))
	return append(w.appendUsage(append(b, `,"usage":`...)), '}')
}

// stopReasons are the reasons of an end by those of the chat.
var stopReasons = map[string]string{"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}

// appendStop appends why the message ended, null while it has not.
func (w *Messages) appendStop(b []byte) []byte {
	b = append(b, `"stop_reason":`...)
	if w.finish == nil {
		return append(b, `null,"stop_sequence":null`...)
	}
	reason := stopReasons[w.finish.Reason]
	switch {
	case reason == "" || reason == "end_turn" && w.refused:
		reason = map[bool]string{true: "refusal", false: "end_turn"}[w.refused]
	}
	return append(rawjson.AppendString(b, reason), `,"stop_sequence":null`...)
}

// appendUsage appends what the message cost. Tokens that were read from a cache, or
// written to it, are not among the input's.
func (w *Messages) appendUsage(b []byte) []byte {
	var u abi.Usage
	switch {
	case w.finish == nil:
		u.Prompt = uint64(w.Asked)
	case w.finish.Usage != nil:
		u = *w.finish.Usage
	}
	written := w.cacheWrites()
	return fmt.Appendf(b, `{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}`,
		u.Prompt-min(u.Cached+written, u.Prompt), written, u.Cached, u.Completion)
}

// cacheWrites is how many tokens were written to the provider's cache.
func (w *Messages) cacheWrites() (n uint64) {
	if w.finish != nil {
		counted, _ := jsonbody.ObjectIn(w.finish.Counted)
		details, _ := jsonbody.ObjectIn(counted["prompt_tokens_details"])
		n, _ = strconv.ParseUint(string(details["cache_write_tokens"]), 10, 40)
	}
	return n
}

// append appends the block.
func (k *block) append(b []byte) []byte {
	switch k.typ {
	case "tool_use":
		input := bytes.TrimSpace(k.text)
		if len(input) == 0 || input[0] != '{' || !rawjson.Valid(input) {
			input = []byte("{}") // an object is all that clients can read
		}
		return append(rawjson.AppendCompact(append(k.appendCall(b), `,"input":`...), input), '}')
	case "thinking":
		return append(rawjson.AppendString(append(b, `{"type":"thinking","thinking":`...), k.text), `,"signature":""}`...)
	case "redacted_thinking":
		return append(rawjson.AppendString(append(b, `{"type":"redacted_thinking","data":`...), k.text), '}')
	}
	b = rawjson.AppendString(append(b, `{"type":"text","text":`...), k.text)
	if len(k.citations) > 0 {
		b = append(append(b, `,"citations":`...), rawjson.Array(k.citations)...)
	}
	return append(b, '}')
}

// appendCall appends the beginning of a block of a tool's.
func (k *block) appendCall(b []byte) []byte {
	b = rawjson.AppendString(append(b, `{"type":"tool_use","id":`...), k.id)
	return rawjson.AppendString(append(b, `,"name":`...), k.name)
}
