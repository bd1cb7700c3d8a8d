package chat

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/rawjson"
)

// A renderer writes OpenAI chunks as frames of an event stream. It builds the
// text directly: a chunk is a head that is the same for the whole answer, a
// delta and a tail, and nothing is allocated once the buffer has its size.
type renderer struct {
	id      string
	created int64
	model   string
	head    []byte // of a chunk, up to its delta's brace
	members []byte // of each chunk, from the provider: each with a comma behind it
	once    bool   // members are of the next chunk alone
	choice  []byte // members of the next chunk's choice, each with a comma before it
	out     []byte // frames not yet written
	chunks  int
	named   bool // the provider has named its model
	spoken  bool // the role was sent
	calls   int  // tool calls so far: the next one's index
}

const (
	tail     = `},"finish_reason":null}]}` + "\n\n"
	doneText = "data: [DONE]\n\n"
)

func newRenderer(id string, created int64, model string) *renderer {
	r := &renderer{id: id, created: created}
	r.setModel(model)
	return r
}

// setModel changes the model's name from the next chunk on.
func (r *renderer) setModel(model string) {
	r.model = model
	r.head = append(r.common(r.head[:0]), `"choices":[{"index":0,"delta":{`...)
}

// name takes the model's name from the provider.
func (r *renderer) name(model []byte) {
	if len(model) == 0 {
		return
	}
	r.named = true
	if string(model) != r.model {
		r.setModel(string(model))
	}
}

// greet sends the role ahead of the first delta, once the provider has named
// its model: a client learns at once that the answer has begun. It does so
// whether the first delta is there yet or not, so that the chunks do not depend
// on what the network put together.
func (r *renderer) greet() {
	if r.spoken || !r.named {
		return
	}
	r.begin()
	r.out = append(r.out, `"content":""`...)
	r.end(nil)
}

// common appends how every chunk begins.
func (r *renderer) common(b []byte) []byte {
	b = append(b, `data: {"id":`...)
	b = rawjson.AppendString(b, r.id)
	b = append(b, `,"object":"chat.completion.chunk","created":`...)
	b = strconv.AppendInt(b, r.created, 10)
	b = append(b, `,"model":`...)
	b = rawjson.AppendString(b, r.model)
	return append(append(b, ','), r.members...)
}

// begin appends a chunk up to its first field. The first chunk of an answer
// carries the role.
func (r *renderer) begin() {
	r.out = append(r.out, r.head...)
	r.chunks++
	if !r.spoken {
		r.spoken = true
		r.out = append(r.out, `"role":"assistant",`...)
	}
}

// end appends extra, which is a checked object or nothing, and the chunk's
// end. What was appended last is a field, without a comma.
func (r *renderer) end(extra []byte) {
	if inner := inside(extra); len(inner) > 0 {
		r.out = append(r.out, ',')
		r.appendLine(inner)
	}
	r.close()
}

// close ends a chunk behind the last field of its delta.
func (r *renderer) close() {
	if len(r.choice) == 0 && !r.once {
		r.out = append(r.out, tail...)
		return
	}
	r.closeWith("null")
}

// closeWith is close with a finish reason, and what the provider said of the choice.
func (r *renderer) closeWith(reason string) {
	r.out = append(append(r.out, '}'), r.choice...)
	r.choice = r.choice[:0]
	r.out = append(append(append(r.out, `,"finish_reason":`...), reason...), "}]}\n\n"...)
	if r.once {
		r.once, r.members = false, r.members[:0]
		r.setModel(r.model)
	}
}

// text appends a chunk with a piece of text under the name field, which comes
// with its colon and opening quote.
func (r *renderer) text(field string, text, extra []byte) {
	r.begin()
	r.out = append(r.out, field...)
	r.out = rawjson.AppendEscaped(r.out, text)
	r.out = append(r.out, '"')
	r.end(extra)
}

// The fields of a delta that hold text.
const (
	fieldContent   = `"content":"`
	fieldReasoning = `"reasoning_content":"`
	fieldRefusal   = `"refusal":"`
)

// extra appends a chunk of an object's fields alone.
func (r *renderer) extra(object []byte) {
	inner := inside(object)
	if len(inner) == 0 {
		return
	}
	r.begin()
	r.appendLine(inner)
	r.close()
}

// appendLine appends JSON text without line ends: between its tokens they are
// white space, inside its strings they cannot be.
func (r *renderer) appendLine(b []byte) {
	from := len(r.out)
	r.out = append(r.out, b...)
	for i, c := range r.out[from:] {
		if c == '\n' || c == '\r' {
			r.out[from+i] = ' '
		}
	}
}

// inside returns what stands between the braces of a JSON object.
func inside(object []byte) []byte {
	object = bytes.TrimSpace(object)
	if len(object) < 2 {
		return nil
	}
	return bytes.TrimSpace(object[1 : len(object)-1])
}

// checkExtra reports whether b can be merged into a delta.
func checkExtra(b []byte) bool {
	t := bytes.TrimSpace(b)
	return len(t) >= 2 && t[0] == '{' && utf8.Valid(t) && rawjson.Valid(t)
}

// toolStart appends the first chunk of a tool call. extra is a checked object
// whose fields the call has beside its own, or nothing.
func (r *renderer) toolStart(index int, id, name string, extra []byte) {
	r.begin()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(index), 10)
	r.out = append(r.out, `,"id":`...)
	r.out = rawjson.AppendString(r.out, id)
	r.out = append(r.out, `,"type":"function","function":{"name":`...)
	r.out = rawjson.AppendString(r.out, name)
	r.out = append(r.out, `,"arguments":""}`...)
	if inner := inside(extra); len(inner) > 0 {
		r.out = append(r.out, ',')
		r.appendLine(inner)
	}
	r.out = append(r.out, "}]"...)
	r.end(nil)
}

// toolArguments appends a chunk that continues a tool call.
func (r *renderer) toolArguments(index int, piece []byte) {
	r.begin()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(index), 10)
	r.out = append(r.out, `,"function":{"arguments":"`...)
	r.out = rawjson.AppendEscaped(r.out, piece)
	r.out = append(r.out, `"}}]`...)
	r.end(nil)
}

// report appends a whole tool call of the host's own: to the client alone, and
// with an index of its own, so that an accumulator keeps it apart.
func (r *renderer) report(id, name string, arguments []byte) {
	r.begin()
	r.out = append(r.out, `"tool_calls":[{"index":`...)
	r.out = strconv.AppendInt(r.out, int64(r.nextCall()), 10)
	r.out = append(r.out, `,"id":`...)
	r.out = rawjson.AppendString(r.out, id)
	r.out = append(r.out, `,"type":"function","function":{"name":`...)
	r.out = rawjson.AppendString(r.out, name)
	r.out = append(r.out, `,"arguments":`...)
	r.out = rawjson.AppendString(r.out, arguments)
	r.out = append(r.out, `}}]`...)
	r.end(nil)
}

// nextCall returns the index of the answer's next tool call.
func (r *renderer) nextCall() int {
	r.calls++
	return r.calls - 1
}

// finish appends the chunk with the finish reason.
func (r *renderer) finish(reason string) {
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

// annotations appends a chunk with an array of what the text rests on.
func (r *renderer) annotations(array []byte) {
	r.begin()
	r.out = append(r.out, `"annotations":`...)
	r.out = append(r.out, array...)
	r.end(nil)
}

// usage appends the chunk that counts the answer's tokens.
func (r *renderer) usage(u abi.Usage, estimated bool) {
	r.chunks++
	b := append(r.common(r.out), `"choices":[],"usage":{"prompt_tokens":`...)
	b = strconv.AppendUint(b, u.Prompt, 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendUint(b, u.Completion, 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendUint(b, u.Total, 10)
	b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendUint(b, u.Cached, 10)
	b = append(b, `},"completion_tokens_details":{"reasoning_tokens":`...)
	b = strconv.AppendUint(b, u.Reasoning, 10)
	b = append(b, '}')
	if estimated {
		b = append(b, `,"estimated":true`...)
	}
	r.out = append(b, "}}\n\n"...)
}

// failure appends the frame of an error, on which nothing but done follows.
func (r *renderer) failure(eventID string, e *apierr.Error) {
	b := append(r.out, `data: {"event_id":`...)
	b = rawjson.AppendString(b, eventID)
	b = append(b, `,"type":"error","error":{"type":`...)
	b = rawjson.AppendString(b, e.Code.Type())
	b = append(b, `,"code":`...)
	b = rawjson.AppendString(b, e.Code.String())
	b = append(b, `,"message":`...)
	b = rawjson.AppendString(b, e.Message)
	b = append(b, `,"param":null},"link":`...)
	b = rawjson.AppendString(b, e.Code.Link())
	r.out = append(b, "}\n\n"...)
}

// done appends the frame that ends every answer.
func (r *renderer) done() { r.out = append(r.out, doneText...) }
