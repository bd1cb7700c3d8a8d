package openai

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// openItem adds an item, with its event.
func (w *ResponseWriter) openItem(it *item) *item {
	it.index = len(w.items)
	w.items = append(w.items, it)
	w.writeEvent("response.output_item.added", jsonbody.Object{"output_index": number(int64(it.index)), "item": it.body(false)})
	return it
}

// closeItem ends an item, with its event.
func (w *ResponseWriter) closeItem(it *item) {
	it.done = true
	w.writeEvent("response.output_item.done", jsonbody.Object{"output_index": number(int64(it.index)), "item": it.body(w.request.Results)})
}

// eventPlace is where in the output an event is.
func (it *item) eventPlace() jsonbody.Object {
	return jsonbody.Object{"item_id": quote(it.id), "output_index": number(int64(it.index))}
}

// atPart is where in the output the last part of it is.
func (it *item) atPart() jsonbody.Object {
	o := it.eventPlace()
	o["content_index"] = number(int64(len(it.parts) - 1))
	return o
}

// addText adds to the message or reasoning that is open, or opens one.
func (w *ResponseWriter) addText(typ, kind, text string, logprobs []json.RawMessage) {
	if w.talk == nil || w.talk.typ != typ {
		w.closeTalk()
		id := newID("msg_")
		if typ == "reasoning" {
			id = newID("rs_")
		}
		w.talk = w.openItem(&item{id: id, typ: typ})
	}
	it := w.talk
	if n := len(it.parts); n == 0 || it.parts[n-1].typ != kind {
		w.closePart()
		p := &part{typ: kind}
		it.parts = append(it.parts, p)
		if kind != "reasoning_text" {
			o := it.atPart()
			o["part"] = p.body()
			w.writeEvent("response.content_part.added", o)
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
		o["logprobs"] = rawjson.Array(logprobs)
	}
	w.writeEvent("response."+kind+".delta", o)
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
		o["logprobs"] = rawjson.Array(p.logprobs)
	}
	w.writeEvent("response."+p.typ+".done", o)
	if p.typ != "reasoning_text" {
		o = it.atPart()
		o["part"] = p.body()
		w.writeEvent("response.content_part.done", o)
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

// EndRound implements [chat.Sink]. What is sealed of the round is in its reasoning,
// or else in an item of its own, where the request asks for it.
func (w *ResponseWriter) EndRound(c *chat.Carry) {
	if w.Sealed == nil {
		return
	}
	sealed, needed := w.Sealed(c)
	if needed {
		w.state = sealed
	}
	if !w.request.Sealed {
		return
	}
	if w.talk != nil && w.talk.typ == "reasoning" {
		w.closeTalk()
	}
	if w.held == nil && needed && len(c.Calls) > 0 {
		w.beginResponse()
		w.held = w.openItem(&item{id: newID("rs_"), typ: "reasoning"})
	}
	if w.held != nil {
		w.held.sealed = sealed
		w.closeHeld()
	}
}

// addAnnotation adds a citation to the text that is open. They come at its end.
func (w *ResponseWriter) addAnnotation(v json.RawMessage) {
	if w.talk == nil || len(w.talk.parts) == 0 {
		return
	}
	p := w.talk.parts[len(w.talk.parts)-1]
	nested, _ := jsonbody.ObjectIn(v)
	flat, ok := jsonbody.ObjectIn(nested["url_citation"])
	if !ok || p.typ != "output_text" {
		return
	}
	flat["type"] = quote("url_citation")
	o := w.talk.atPart()
	o["annotation_index"], o["annotation"] = number(int64(len(p.annotations))), flat.Append(nil)
	p.annotations = append(p.annotations, o["annotation"])
	w.writeEvent("response.output_text.annotation.added", o)
}
