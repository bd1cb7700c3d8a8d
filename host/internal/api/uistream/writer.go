package uistream

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A Writer makes of an answer the parts of a message, as events. Not safe for
// concurrent use.
type Writer struct {
	chat.Discard
	Events chat.FrameWriter

	out    []byte
	open   string // text or reasoning, of which a part is open; empty: none is
	parts  int
	pieces int
	calls  []*call
	ended  bool
}

// A call is one of the client's functions.
type call struct {
	id, name  string
	arguments []byte
}

var _ chat.Sink = (*Writer)(nil)

func (w *Writer) event(typ string, members jsonbody.Object) {
	members["type"] = jsonbody.Quote(typ)
	w.out = append(members.Append(append(w.out, "data: "...)), "\n\n"...)
}

// Begin implements [chat.Sink].
func (w *Writer) Begin(chat.Head) {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	w.event("start", jsonbody.Object{"messageId": jsonbody.Quote("msg_" + hex.EncodeToString(b[:]))})
	w.event("start-step", jsonbody.Object{})
}

// Text implements [chat.Sink].
func (w *Writer) Text(kind chat.Kind, text, extra []byte) {
	typ := "text"
	if kind == chat.Reasoning {
		typ = "reasoning"
	}
	if w.open != typ {
		w.close()
		w.open = typ
		w.parts++
		w.event(typ+"-start", w.part())
	}
	w.pieces++
	o := w.part()
	o["delta"] = rawjson.AppendString(nil, text)
	w.event(typ+"-delta", o)
	w.Extra(extra)
}

// Extra implements [chat.Sink]: an image is a file.
func (w *Writer) Extra(object []byte) {
	for _, image := range chat.ImagesIn(object) {
		w.close()
		w.pieces++
		w.event("file", jsonbody.Object{"url": jsonbody.Quote(image.URL), "mediaType": jsonbody.Quote(cmp.Or(image.Type, "image/*"))})
	}
}

// part is the part that is open.
func (w *Writer) part() jsonbody.Object {
	return jsonbody.Object{"id": jsonbody.Quote(strconv.Itoa(w.parts))}
}

func (w *Writer) close() {
	if w.open != "" {
		w.event(w.open+"-end", w.part())
		w.open = ""
	}
}

// ToolStart implements [chat.Sink].
func (w *Writer) ToolStart(id, name string, _ []byte) {
	w.close()
	w.pieces++
	c := &call{id: id, name: name}
	w.calls = append(w.calls, c)
	w.event("tool-input-start", c.members())
}

func (c *call) members() jsonbody.Object {
	return jsonbody.Object{"toolCallId": jsonbody.Quote(c.id), "toolName": jsonbody.Quote(c.name)}
}

// ToolArguments implements [chat.Sink].
func (w *Writer) ToolArguments(call int, piece []byte) {
	w.pieces++
	c := w.calls[call]
	c.arguments = append(c.arguments, piece...)
	w.event("tool-input-delta", jsonbody.Object{"toolCallId": jsonbody.Quote(c.id), "inputTextDelta": rawjson.AppendString(nil, piece)})
}

// finishReasons are those that have another name here.
var finishReasons = map[string]string{"stop": "stop", "length": "length", "content_filter": "content-filter", "tool_calls": "tool-calls"}

// Finish implements [chat.Sink].
func (w *Writer) Finish(f *chat.Finish) {
	w.close()
	for _, c := range w.calls {
		o, input := c.members(), bytes.TrimSpace(c.arguments)
		switch {
		case len(input) == 0:
			o["input"] = json.RawMessage("{}")
		case json.Valid(input):
			o["input"] = rawjson.AppendCompact(nil, input)
		default:
			o["input"], o["errorText"] = rawjson.AppendString(nil, input), jsonbody.Quote("The model's arguments are no JSON.")
			w.event("tool-input-error", o)
			continue
		}
		w.event("tool-input-available", o)
	}
	for i, c := range f.Citations {
		w.event("source-url", jsonbody.Object{"sourceId": jsonbody.Quote("source-" + strconv.Itoa(i+1)), "url": jsonbody.Quote(c.URL), "title": jsonbody.Quote(c.Title)})
	}
	reason := finishReasons[f.Reason]
	if reason == "" {
		reason = "other"
	}
	w.event("finish-step", jsonbody.Object{})
	w.event("finish", jsonbody.Object{"finishReason": jsonbody.Quote(reason)})
	w.end()
}

// Fail implements [chat.Sink].
func (w *Writer) Fail(e *apierr.Error) {
	w.close()
	w.event("error", jsonbody.Object{"errorText": jsonbody.Quote(e.Message)})
	w.end()
}

func (w *Writer) end() {
	w.out = append(w.out, "data: [DONE]\n\n"...)
	w.ended = true
}

// Flush implements [chat.Sink].
func (w *Writer) Flush() error {
	err := w.Events.WriteFrames(w.out, w.ended)
	w.out = w.out[:0]
	return err
}

// Sent implements [chat.Sink]: the number of pieces.
func (w *Writer) Sent() int { return w.pieces }
