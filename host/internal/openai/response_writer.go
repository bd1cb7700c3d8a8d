package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// A ResponseWriter turns the chunks of an answer into a response and its events.
// It takes frames as package chat writes them. Not safe for concurrent use.
type ResponseWriter struct {
	Response
	// Emit takes events as they come, whole frames; nil: nobody wants them.
	Emit func(frames []byte) error
	// Skip reports functions whose calls are reports of the host.
	Skip func(name string) bool
	// Finished, where not nil, is called once the response is complete or
	// incomplete, before the event that says so.
	Finished func(*Response)

	out    []byte
	seq    int
	size   int
	begun  bool
	ended  bool
	finish string
	talk   *item            // the message or reasoning that is open
	held   *item            // reasoning that waits for the state of its turn
	calls  map[string]*item // function calls, by the index of the chunks; nil values are skipped
}

// NewResponse returns the writer of a response to r; stored says that it will be
// kept.
func NewResponse(r *ResponseRequest, stored bool) *ResponseWriter {
	return &ResponseWriter{
		Response: Response{ID: newID("resp_"), CreatedAt: time.Now().Unix(), request: r, stored: stored, status: "in_progress"},
		calls:    map[string]*item{},
	}
}

// Ended reports whether the last event was written.
func (w *ResponseWriter) Ended() bool { return w.ended }

// WriteFrame takes frames. The error is Emit's, or says that the response is too
// long.
func (w *ResponseWriter) WriteFrame(frames []byte) error {
	if w.size += len(frames); w.size > maxWhole {
		return fmt.Errorf("the response has more than %d bytes", maxWhole)
	}
	err := eachChunk(bytes.Clone(frames), func(c *chunk) error {
		w.chunk(c)
		return nil
	})
	if err != nil {
		return err
	}
	if bytes.HasSuffix(frames, []byte("data: [DONE]\n\n")) {
		w.end()
	}
	return w.flush()
}

// Flush does nothing: WriteFrame has written all there is.
func (w *ResponseWriter) Flush() error { return nil }

func (w *ResponseWriter) flush() error {
	if w.Emit == nil || len(w.out) == 0 {
		w.out = w.out[:0]
		return nil
	}
	err := w.Emit(w.out)
	w.out = w.out[:0]
	return err
}

// event appends an event. fields are its own.
func (w *ResponseWriter) event(typ string, fields object) {
	if w.Emit == nil {
		return
	}
	fields["type"], fields["sequence_number"] = quote(typ), number(int64(w.seq))
	w.seq++
	w.out = append(append(append(w.out, "event: "...), typ...), "\ndata: "...)
	w.out = append(fields.append(w.out), "\n\n"...)
}

func (w *ResponseWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	w.event("response.created", object{"response": w.Body()})
	w.event("response.in_progress", object{"response": w.Body()})
}

func (w *ResponseWriter) chunk(c *chunk) {
	if e := c.fields["error"]; !rawjson.IsAbsent(e) {
		w.fail(e)
		return
	}
	w.begin()
	if v := c.fields["usage"]; !rawjson.IsAbsent(v) {
		w.usage = parseUsage(v)
	}
	if v := c.fields["service_tier"]; !rawjson.IsAbsent(v) {
		w.tier = v
	}
	if text, ok := rawjson.String(reasoningOf(c.delta)); ok && text != "" {
		w.text("reasoning", "reasoning_text", text, nil)
	}
	logprobs, _ := objectIn(c.choice["logprobs"])
	if text := c.delta.text("content"); text != "" {
		list, _ := rawjson.Items(logprobs["content"])
		w.text("message", "output_text", text, list)
	}
	if text := c.delta.text("refusal"); text != "" {
		w.text("message", "refusal", text, nil)
	}
	calls, _ := rawjson.Items(c.delta["tool_calls"])
	for _, v := range calls {
		w.call(v)
	}
	annotations, _ := rawjson.Items(c.delta["annotations"])
	for _, v := range annotations {
		w.annotate(v)
	}
	if reason, ok := rawjson.String(c.choice["finish_reason"]); ok {
		w.finish = reason
	}
}

func reasoningOf(delta object) json.RawMessage {
	if v := delta["reasoning_content"]; !rawjson.IsAbsent(v) {
		return v
	}
	return delta["reasoning"]
}

// end writes the last event of an answer that did not fail.
func (w *ResponseWriter) end() {
	if w.ended {
		return
	}
	w.begin()
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
	w.event("response."+w.status, object{"response": w.Body()})
}

// fail writes the last event of an answer that failed; e is what /v1 says of it.
func (w *ResponseWriter) fail(e json.RawMessage) {
	if w.ended {
		return
	}
	w.begin()
	o, _ := objectIn(e)
	code := "server_error"
	switch c := o.text("code"); c {
	case "rate_limit_exceeded":
		code = c
	case "context_length_exceeded", "llm_provider_rejected_request", "content_filter":
		code = "invalid_prompt"
	}
	for _, it := range w.items {
		it.cut = !it.done
	}
	w.ended, w.status = true, "failed"
	w.failure = object{"code": quote(code), "message": quote(o.text("message"))}.append(nil)
	w.event("response.failed", object{"response": w.Body()})
}
