package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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

// open adds an item and says so.
func (w *ResponseWriter) open(it *item) *item {
	it.index = len(w.items)
	w.items = append(w.items, it)
	w.event("response.output_item.added", object{"output_index": number(int64(it.index)), "item": it.body(false)})
	return it
}

// closeItem ends an item and says so.
func (w *ResponseWriter) closeItem(it *item) {
	it.done = true
	w.event("response.output_item.done", object{"output_index": number(int64(it.index)), "item": it.body(w.request.Results)})
}

// at is where in the output an event is.
func (it *item) at() object {
	return object{"item_id": quote(it.id), "output_index": number(int64(it.index))}
}

// atPart is where in the output the last part of it is.
func (it *item) atPart() object {
	o := it.at()
	o["content_index"] = number(int64(len(it.parts) - 1))
	return o
}

// text adds to the message or reasoning that is open, or opens one.
func (w *ResponseWriter) text(typ, kind, text string, logprobs []json.RawMessage) {
	if w.talk == nil || w.talk.typ != typ {
		w.closeTalk()
		id := newID("msg_")
		if typ == "reasoning" {
			id = newID("rs_")
		}
		w.talk = w.open(&item{id: id, typ: typ})
	}
	it := w.talk
	if n := len(it.parts); n == 0 || it.parts[n-1].typ != kind {
		w.closePart()
		p := &part{typ: kind}
		it.parts = append(it.parts, p)
		if kind != "reasoning_text" {
			o := it.atPart()
			o["part"] = p.body()
			w.event("response.content_part.added", o)
		}
	}
	p := it.parts[len(it.parts)-1]
	p.text = append(p.text, text...)
	o := it.atPart()
	o["delta"] = quote(text)
	if kind == "output_text" {
		if !w.request.logprobs {
			logprobs = nil
		}
		p.logprobs = append(p.logprobs, logprobs...)
		o["logprobs"] = array(logprobs)
	}
	w.event("response."+kind+".delta", o)
}

// closePart ends the last part of what is open.
func (w *ResponseWriter) closePart() {
	it := w.talk
	if it == nil || len(it.parts) == 0 {
		return
	}
	p := it.parts[len(it.parts)-1]
	o := it.atPart()
	if p.typ == "refusal" {
		o["refusal"] = rawjson.AppendString(nil, p.text)
	} else {
		o["text"] = rawjson.AppendString(nil, p.text)
	}
	if p.typ == "output_text" {
		o["logprobs"] = array(p.logprobs)
	}
	w.event("response."+p.typ+".done", o)
	if p.typ != "reasoning_text" {
		o = it.atPart()
		o["part"] = p.body()
		w.event("response.content_part.done", o)
	}
}

func (w *ResponseWriter) closeTalk() {
	if w.talk == nil {
		return
	}
	w.closePart()
	if w.talk.typ == "reasoning" && w.request.Sealed {
		w.closeHeld()
		w.held = w.talk
	} else {
		w.closeItem(w.talk)
	}
	w.talk = nil
}

func (w *ResponseWriter) closeHeld() {
	if w.held != nil {
		w.closeItem(w.held)
		w.held = nil
	}
}

// EndTurn ends a turn of the model. sealed is its state, which the turn after it
// needs where needed is true: the reasoning of the turn has it, or else an item of
// its own, where the request asks for it.
func (w *ResponseWriter) EndTurn(sealed string, needed bool) {
	if needed {
		w.state = sealed
	}
	if !w.request.Sealed {
		return
	}
	if w.talk != nil && w.talk.typ == "reasoning" {
		w.closeTalk()
	}
	if w.held == nil && needed {
		w.begin()
		w.held = w.open(&item{id: newID("rs_"), typ: "reasoning"})
	}
	if w.held != nil {
		w.held.sealed = sealed
		w.closeHeld()
	}
}

// annotate adds a citation to the text that is open. They come at its end.
func (w *ResponseWriter) annotate(v json.RawMessage) {
	if w.talk == nil || len(w.talk.parts) == 0 {
		return
	}
	p := w.talk.parts[len(w.talk.parts)-1]
	nested, _ := objectIn(v)
	flat, ok := objectIn(nested["url_citation"])
	if !ok || p.typ != "output_text" {
		return
	}
	flat["type"] = quote("url_citation")
	o := w.talk.atPart()
	o["annotation_index"], o["annotation"] = number(int64(len(p.annotations))), flat.append(nil)
	p.annotations = append(p.annotations, o["annotation"])
	w.event("response.output_text.annotation.added", o)
}

// call takes a piece of a tool call.
func (w *ResponseWriter) call(v json.RawMessage) {
	o, _ := objectIn(v)
	f, _ := objectIn(o["function"])
	index := string(o["index"])
	it, known := w.calls[index]
	if !known {
		if name := f.text("name"); w.Skip == nil || !w.Skip(name) {
			w.closeTalk()
			it = w.open(&item{id: newID("fc_"), typ: "function_call", callID: o.text("id"), name: name})
		}
		w.calls[index] = it
	}
	if piece := f.text("arguments"); it != nil && piece != "" {
		w.arguments(it, piece)
	}
}

func (w *ResponseWriter) arguments(it *item, piece string) {
	it.arguments = append(it.arguments, piece...)
	o := it.at()
	o["delta"] = quote(piece)
	w.event("response.function_call_arguments.delta", o)
}

// closeCalls ends the function calls, in the order in which they were opened.
func (w *ResponseWriter) closeCalls() {
	for _, it := range w.items {
		if it.typ != "function_call" || it.done {
			continue
		}
		if len(it.arguments) == 0 {
			w.arguments(it, "{}")
		}
		o := it.at()
		o["name"], o["arguments"] = quote(it.name), rawjson.AppendString(nil, it.arguments)
		w.event("response.function_call_arguments.done", o)
		w.closeItem(it)
	}
}

// A Found document is one of a search's results.
type Found struct {
	Index, ID, Title, Text string
	Score                  float64
	Document               json.RawMessage // the displayed attributes
}

// Searched adds a search of the host's as an item, where the request asks for
// that.
func (w *ResponseWriter) Searched(query string, found []Found) {
	if !w.request.Searches {
		return
	}
	w.begin()
	w.closeTalk()
	it := w.open(&item{id: newID("fs_"), typ: "file_search_call", query: query})
	for _, state := range []string{"in_progress", "searching", "completed"} {
		w.event("response.file_search_call."+state, it.at())
	}
	for _, d := range found {
		it.results = append(it.results, d.body())
	}
	w.closeItem(it)
}

func (d *Found) body() json.RawMessage {
	attributes := object{}
	all, _ := objectIn(d.Document)
	for name, v := range all {
		if !slices.Contains([]byte{'{', '[', 'n'}, v[0]) { // texts, numbers, true and false
			attributes[name] = v
		}
	}
	return object{
		"file_id": quote(d.Index + "/" + d.ID), "filename": quote(d.Title), "score": strconv.AppendFloat(nil, d.Score, 'f', -1, 64),
		"text": quote(d.Text), "attributes": attributes.append(nil),
	}.append(nil)
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
