package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A ResponseWriter makes of an answer a response and its events. Not safe for
// concurrent use.
type ResponseWriter struct {
	chat.Discard
	Response
	// Events takes the events as they come; nil: Body is the answer.
	Events chat.FrameWriter
	// Sealed returns what a client sends back of a round, and whether the next
	// answer needs it; nil: nothing is sealed.
	Sealed func(*chat.Carry) (sealed string, needed bool)
	// Finished, where not nil, is called once the response is complete or
	// incomplete, before the event that says so.
	Finished func(*Response)

	out      []byte
	seq      int
	size     int
	pieces   int
	begun    bool
	ended    bool
	logprobs json.RawMessage // of the next text
	finish   string
	talk     *item   // the message or reasoning that is open
	held     *item   // reasoning that waits for the state of its turn
	calls    []*item // function calls, in the order of the answer's
}

var _ chat.Sink = (*ResponseWriter)(nil)

// NewResponse returns the writer of a response to r; stored says that it will be
// kept.
func NewResponse(r *ResponseRequest, stored bool) *ResponseWriter {
	return &ResponseWriter{
		Response: Response{ID: newID("resp_"), CreatedAt: time.Now().Unix(), request: r, stored: stored, status: "in_progress"},
	}
}

// Flush implements [chat.Sink]. The error is that of Events, or says that the response is
// too long.
func (w *ResponseWriter) Flush() error {
	if w.size > maxWhole {
		return fmt.Errorf("the response has more than %d bytes", maxWhole)
	}
	if w.Events == nil {
		return nil
	}
	err := w.Events.WriteFrames(w.out, w.ended)
	w.out = w.out[:0]
	return err
}

// Sent implements [chat.Sink]: the number of pieces.
func (w *ResponseWriter) Sent() int { return w.pieces }

// writeEvent appends an event. fields are its own.
func (w *ResponseWriter) writeEvent(typ string, fields jsonbody.Object) {
	if w.Events == nil {
		return
	}
	fields["type"], fields["sequence_number"] = quote(typ), number(int64(w.seq))
	w.seq++
	w.out = append(append(append(w.out, "event: "...), typ...), "\ndata: "...)
	w.out = append(fields.Append(w.out), "\n\n"...)
}

func (w *ResponseWriter) beginResponse() {
	if w.begun {
		return
	}
	w.begun = true
	w.writeEvent("response.created", jsonbody.Object{"response": w.Body()})
	w.writeEvent("response.in_progress", jsonbody.Object{"response": w.Body()})
}

// Responding implements [chat.Sink].
func (w *ResponseWriter) Responding(model []byte) {
	if len(model) > 0 {
		w.beginResponse()
	}
}

// BeginRound implements [chat.Sink].
func (w *ResponseWriter) BeginRound() { w.logprobs = nil }

// Outer implements [chat.Sink].
func (w *ResponseWriter) Outer(object []byte) {
	o, _ := jsonbody.ObjectIn(object)
	fields, _ := jsonbody.ObjectIn(o["chunk"])
	if v := fields["service_tier"]; !rawjson.IsAbsent(v) {
		w.tier = bytes.Clone(v)
	}
	choice, _ := jsonbody.ObjectIn(o["choice"])
	if v := choice["logprobs"]; !rawjson.IsAbsent(v) {
		w.logprobs = appendLine(nil, v)
	}
}

// Text implements [chat.Sink].
func (w *ResponseWriter) Text(kind chat.Kind, text, extra []byte) {
	w.beginResponse()
	w.countPiece(len(text))
	delta, _ := jsonbody.ObjectIn(extra)
	w.takeReasoning(delta)
	switch kind {
	case chat.Content:
		w.takeContent(string(text))
	case chat.Reasoning:
		w.addText("reasoning", "reasoning_text", string(text), nil)
	case chat.Refusal:
		w.addText("message", "refusal", string(text), nil)
	}
	w.takeMembers(delta)
	w.takeImages(extra)
}

// Extra implements [chat.Sink].
func (w *ResponseWriter) Extra(object []byte) {
	w.beginResponse()
	w.countPiece(len(object))
	delta, _ := jsonbody.ObjectIn(object)
	w.takeReasoning(delta)
	if text := delta.Text("content"); text != "" {
		w.takeContent(text)
	}
	w.takeMembers(delta)
	w.takeImages(object)
}

// countPiece counts a piece of so many bytes.
func (w *ResponseWriter) countPiece(size int) {
	w.pieces++
	w.size += size
}

// takeReasoning takes what a delta says of it under the names that are in use.
func (w *ResponseWriter) takeReasoning(delta jsonbody.Object) {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if v := delta[name]; !rawjson.IsAbsent(v) {
			if text, ok := rawjson.String(v); ok && text != "" {
				w.addText("reasoning", "reasoning_text", text, nil)
			}
			return
		}
	}
}

// takeContent takes a piece of the answer's text.
func (w *ResponseWriter) takeContent(text string) {
	o, _ := jsonbody.ObjectIn(w.logprobs)
	list, _ := rawjson.Items(o["content"])
	w.logprobs = nil
	w.addText("message", "output_text", text, list)
}

// takeMembers takes the other members of a delta that a response has a place for.
func (w *ResponseWriter) takeMembers(delta jsonbody.Object) {
	if text := delta.Text("refusal"); text != "" {
		w.addText("message", "refusal", text, nil)
	}
	annotations, _ := rawjson.Items(delta["annotations"])
	for _, v := range annotations {
		w.addAnnotation(v)
	}
}

// takeImages takes what a delta holds of images, each as an item. One of which the address
// alone is known is a link in the text: an item holds data.
func (w *ResponseWriter) takeImages(delta []byte) {
	for _, image := range chat.ImagesIn(delta) {
		if image.Data == "" {
			w.addText("message", "output_text", "\n\n"+image.Words(), nil)
			continue
		}
		w.size += len(image.Data)
		w.closeTalk()
		it := w.openItem(&item{id: newID("ig_"), typ: "image_generation_call"})
		for _, state := range []string{"in_progress", "generating", "completed"} {
			w.writeEvent("response.image_generation_call."+state, it.eventPlace())
		}
		it.image = image.Data
		w.closeItem(it)
	}
}

// Finish implements [chat.Sink].
func (w *ResponseWriter) Finish(f *chat.Finish) {
	w.beginResponse()
	w.countPiece(0)
	if len(f.Citations) > 0 {
		w.takeMembers(jsonbody.Object{"annotations": appendCitations(nil, f.Citations)})
	}
	w.usage = responseUsage(f)
	w.finish = f.Reason
	w.endResponse()
}

// endResponse writes the last event of an answer that did not fail.
func (w *ResponseWriter) endResponse() {
	if w.ended {
		return
	}
	w.beginResponse()
	switch w.finish {
	case "length":
		w.reason = "max_output_tokens"
	case "content_filter":
		w.reason = "content_filter"
	}
	if n := len(w.items); w.reason != "" && n > 0 && !w.items[n-1].done {
		w.items[n-1].cut = true
	}
	w.closeTalk()
	w.closeHeld()
	w.closeCalls()
	w.ended, w.status, w.completed = true, "completed", time.Now().Unix()
	if w.reason != "" {
		w.status, w.completed = "incomplete", 0
	}
	if w.Finished != nil {
		w.Finished(&w.Response)
	}
	w.writeEvent("response."+w.status, jsonbody.Object{"response": w.Body()})
}

// Fail implements [chat.Sink]: the last event of an answer that failed.
func (w *ResponseWriter) Fail(failure *apierr.Error) {
	if w.ended {
		return
	}
	w.beginResponse()
	e := FromError(failure)
	code := "server_error"
	switch e.Code {
	case "rate_limit_exceeded":
		code = e.Code
	case "context_length_exceeded", "llm_provider_rejected_request", "content_filter":
		code = "invalid_prompt"
	}
	for _, it := range w.items {
		it.cut = !it.done
	}
	w.ended, w.status = true, "failed"
	w.failure = jsonbody.Object{"code": quote(code), "message": quote(e.Message)}.Append(nil)
	w.writeEvent("response.failed", jsonbody.Object{"response": w.Body()})
}
