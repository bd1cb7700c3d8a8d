package openai

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// Chunks writes an answer as chunks of a chat completion, frames of an event
// stream. It builds the text directly: a chunk is a head that is the same for the
// whole answer, a delta and a tail, and nothing is allocated once the buffer has
// its size. Between two flushes it has no buffer of its own: of ten thousand open
// answers a few are at work at any time.
type Chunks struct {
	chat.Discard
	to    chat.FrameWriter
	plain bool // errors are OpenAI's, without what /chats adds

	id      string
	created int64
	model   string
	head    []byte // of a chunk, up to its delta's brace
	members []byte // of each chunk, from the provider: each with a comma behind it
	once    bool   // members are of the next chunk alone
	choice  []byte // members of the next chunk's choice, each with a comma before it
	buf     *[]byte
	out     []byte // frames not yet written
	chunks  int
	spoken  bool  // the role was sent
	ended   bool  // the last frame is written
	calls   int   // tool calls so far, reports among them: the next one's index
	indexes []int // of the client's calls, in their order
}

var _ chat.Sink = (*Chunks)(nil)

const (
	tail     = `},"finish_reason":null}]}` + "\n\n"
	doneLine = "data: [DONE]\n\n"
)

// NewChunks returns one that writes to w. plain says that its errors are as
// OpenAI has them, without an id and a link.
func NewChunks(w chat.FrameWriter, plain bool) *Chunks {
	return &Chunks{to: w, plain: plain, id: newCompletionID()}
}

// Begin implements [chat.Sink].
func (r *Chunks) Begin(h chat.Head) {
	r.ensureBuffer()
	r.created = h.Created
	r.setModel(h.Model)
}

// frameBuffers are buffers for frames, and maxSpare how large one is kept.
var frameBuffers = sync.Pool{New: func() any { return new([]byte) }}

const maxSpare = 64 << 10

// ensureBuffer takes a buffer if there is none.
func (r *Chunks) ensureBuffer() {
	if r.buf == nil {
		r.buf = frameBuffers.Get().(*[]byte)
		r.out = (*r.buf)[:0]
	}
}

// Flush implements [chat.Sink].
func (r *Chunks) Flush() error {
	err := r.to.WriteFrames(r.out, r.ended)
	if r.buf != nil {
		if *r.buf = r.out[:0]; cap(r.out) <= maxSpare {
			frameBuffers.Put(r.buf)
		}
		r.buf, r.out = nil, nil
	}
	return err
}

// Sent implements [chat.Sink]: the number of chunks.
func (r *Chunks) Sent() int { return r.chunks }

// setModel changes the model's name from the next chunk on.
func (r *Chunks) setModel(model string) {
	r.model = model
	r.head = append(r.appendHead(r.head[:0]), `"choices":[{"index":0,"delta":{`...)
}

// Model implements [chat.Sink].
func (r *Chunks) Model(name []byte) {
	if len(name) > 0 && string(name) != r.model {
		r.setModel(string(name))
	}
}

// Responding implements [chat.Sink]: it sends the role ahead of the first delta,
// once the provider has named its model: a client learns at once that the answer
// has begun. It does so whether the first delta is there yet or not, so that the
// chunks do not depend on what the network put together.
func (r *Chunks) Responding(model []byte) {
	if len(model) == 0 {
		return
	}
	r.Model(model)
	if r.spoken {
		return
	}
	r.beginChunk()
	r.out = append(r.out, `"content":""`...)
	r.endChunk(nil)
}

// BeginRound implements [chat.Sink].
func (r *Chunks) BeginRound() {
	r.choice = r.choice[:0] // of a turn that the client did not see
}

// appendHead appends how every chunk begins.
func (r *Chunks) appendHead(b []byte) []byte {
	b = append(b, `data: {"id":`...)
	b = rawjson.AppendString(b, r.id)
	b = append(b, `,"object":"chat.completion.chunk","created":`...)
	b = strconv.AppendInt(b, r.created, 10)
	b = append(b, `,"model":`...)
	b = rawjson.AppendString(b, r.model)
	return append(append(b, ','), r.members...)
}

// beginChunk appends a chunk up to its first field. The first chunk of an answer
// carries the role.
func (r *Chunks) beginChunk() {
	r.ensureBuffer()
	r.out = append(r.out, r.head...)
	r.chunks++
	if !r.spoken {
		r.spoken = true
		r.out = append(r.out, `"role":"assistant",`...)
	}
}

// endChunk appends extra, which is a checked object or nothing, and the chunk's
// end. What was appended last is a field, without a comma.
func (r *Chunks) endChunk(extra []byte) {
	r.out = appendInside(r.out, extra)
	r.closeDelta()
}

// closeDelta ends a chunk behind the last field of its delta.
func (r *Chunks) closeDelta() {
	if len(r.choice) == 0 && !r.once {
		r.out = append(r.out, tail...)
		return
	}
	r.closeWith("null")
}

// closeWith is close with a finish reason, and what the provider said of the choice.
func (r *Chunks) closeWith(reason string) {
	r.out = append(append(r.out, '}'), r.choice...)
	r.choice = r.choice[:0]
	r.out = append(append(append(r.out, `,"finish_reason":`...), reason...), "}]}\n\n"...)
	if r.once {
		r.once, r.members = false, r.members[:0]
		r.setModel(r.model)
	}
}

// Text implements [chat.Sink].
func (r *Chunks) Text(kind chat.Kind, text, extra []byte) {
	r.beginChunk()
	r.out = append(r.out, textFields[kind]...)
	r.out = rawjson.AppendEscaped(r.out, text)
	r.out = append(r.out, '"')
	r.endChunk(extra)
}

// textFields begin the members of a delta that hold text.
var textFields = [...]string{chat.Content: `"content":"`, chat.Reasoning: `"reasoning_content":"`, chat.Refusal: `"refusal":"`}

// Extra implements [chat.Sink].
func (r *Chunks) Extra(object []byte) {
	inner := inside(object)
	if len(inner) == 0 {
		return
	}
	r.beginChunk()
	r.out = appendLine(r.out, inner)
	r.closeDelta()
}

// appendLine appends JSON text without line ends: between its tokens they are
// white space, inside its strings they cannot be.
func appendLine(b, text []byte) []byte {
	from := len(b)
	b = append(b, text...)
	for i, c := range b[from:] {
		if c == '\n' || c == '\r' {
			b[from+i] = ' '
		}
	}
	return b
}

// inside returns what is between the braces of a JSON object.
func inside(object []byte) []byte {
	object = bytes.TrimSpace(object)
	if len(object) < 2 {
		return nil
	}
	return bytes.TrimSpace(object[1 : len(object)-1])
}

// ToolStart implements [chat.Sink].
func (r *Chunks) ToolStart(id, name string, extra []byte) {
	index := r.nextCall()
	r.indexes = append(r.indexes, index)
	r.beginChunk()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(index), 10)
	r.out = append(r.out, `,"id":`...)
	r.out = rawjson.AppendString(r.out, id)
	r.out = append(r.out, `,"type":"function","function":{"name":`...)
	r.out = rawjson.AppendString(r.out, name)
	function, others := response.CutFunction(extra)
	r.out = appendInside(append(r.out, `,"arguments":""`...), function)
	r.out = appendInside(append(r.out, '}'), others)
	r.out = append(r.out, "}]"...)
	r.endChunk(nil)
}

// ToolExtra implements [chat.Sink].
func (r *Chunks) ToolExtra(call int, members []byte) {
	r.beginChunk()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(r.indexes[call]), 10)
	r.out = appendInside(r.out, members)
	r.out = append(r.out, "}]"...)
	r.endChunk(nil)
}

// appendInside appends the members of a checked object, or of nothing, behind others.
func appendInside(b, object []byte) []byte {
	if inner := inside(object); len(inner) > 0 {
		b = appendLine(append(b, ','), inner)
	}
	return b
}

// ToolArguments implements [chat.Sink].
func (r *Chunks) ToolArguments(call int, piece []byte) {
	r.beginChunk()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(r.indexes[call]), 10)
	r.out = append(r.out, `,"function":{"arguments":"`...)
	r.out = rawjson.AppendEscaped(r.out, piece)
	r.out = append(r.out, `"}}]`...)
	r.endChunk(nil)
}

// Report implements [chat.Sink]: a whole tool call, with an index of its own, so
// that an accumulator keeps it apart.
func (r *Chunks) Report(name string, arguments []byte) {
	r.beginChunk()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(r.nextCall()), 10)
	r.out = append(r.out, `,"id":`...)
	r.out = rawjson.AppendString(r.out, newCallID())
	r.out = append(r.out, `,"type":"function","function":{"name":`...)
	r.out = rawjson.AppendString(r.out, name)
	r.out = append(r.out, `,"arguments":`...)
	r.out = rawjson.AppendString(r.out, arguments)
	r.out = append(r.out, `}}]`...)
	r.endChunk(nil)
}

// EndRound implements [chat.Sink].
func (r *Chunks) EndRound(c *chat.Carry) {
	if c.Details != nil {
		r.Extra(jsonbody.Object{"reasoning_details": c.Details}.Append(nil))
	}
}

// nextCall returns the index of the answer's next tool call.
func (r *Chunks) nextCall() int {
	r.calls++
	return r.calls - 1
}

// Finish implements [chat.Sink].
func (r *Chunks) Finish(f *chat.Finish) {
	if len(f.Citations) > 0 {
		r.beginChunk()
		r.out = appendCitations(append(r.out, `"annotations":`...), f.Citations)
		r.endChunk(nil)
	}
	r.writeFinish(f.Reason)
	if f.Usage != nil {
		r.chunks++
		r.out = appendUsage(append(r.appendHead(r.out), `"choices":[],"usage":`...), f)
		r.out = append(r.out, "}\n\n"...)
	}
	r.out, r.ended = append(r.out, doneLine...), true
}

// appendCitations appends what a text rests on as annotations.
func appendCitations(b []byte, citations []chat.Citation) []byte {
	b = append(b, '[')
	for i, c := range citations {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(append(b, `{"type":"url_citation","url_citation":{"url":`...), c.URL)
		b = rawjson.AppendString(append(b, `,"title":`...), c.Title)
		b = strconv.AppendInt(append(b, `,"number":`...), int64(c.Number), 10)
		if c.ByWords {
			b = append(b, `,"by_words":true`...)
		}
		b = strconv.AppendInt(append(b, `,"start_index":`...), int64(c.From), 10)
		b = strconv.AppendInt(append(b, `,"end_index":`...), int64(c.To), 10)
		b = append(b, "}}"...)
	}
	return append(b, ']')
}

// writeFinish appends the chunk with the finish reason.
func (r *Chunks) writeFinish(reason string) {
	r.ensureBuffer()
	r.out = append(r.out, r.head...)
	r.chunks++
	if !r.spoken {
		// An answer without a word still has a speaker and a text: clients
		// take a choice without a role for broken.
		r.spoken = true
		r.out = append(r.out, `"role":"assistant","content":""`...)
	}
	r.closeWith(string(rawjson.AppendString(nil, reason)))
}

// Fail implements [chat.Sink].
func (r *Chunks) Fail(e *apierr.Error) {
	r.ensureBuffer()
	r.ended = true
	if r.plain {
		r.out = append(r.out, FromError(e).Frames()...)
		return
	}
	b := append(r.out, `data: {"event_id":`...)
	b = rawjson.AppendString(b, uuid.NewString())
	b = append(b, `,"type":"error","error":{"type":`...)
	b = rawjson.AppendString(b, e.Code.Type())
	b = append(b, `,"code":`...)
	b = rawjson.AppendString(b, e.Code.String())
	b = append(b, `,"message":`...)
	b = rawjson.AppendString(b, e.Message)
	b = append(b, `,"param":null},"link":`...)
	b = rawjson.AppendString(b, e.Code.Link())
	r.out = append(append(b, "}\n\n"...), doneLine...)
}
