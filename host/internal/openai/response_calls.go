package openai

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/parley-search/parley/host/internal/rawjson"
)

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
