package openai

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// ToolStart implements [chat.Sink].
func (w *ResponseWriter) ToolStart(id, name string, _ []byte) {
	w.beginResponse()
	w.countPiece(len(id) + len(name))
	w.closeTalk()
	it := &item{typ: "function_call", callID: id, tool: w.request.clientTool(name)}
	if it.tool.custom {
		it.typ = "custom_tool_call"
	}
	it.id = newID(idPrefixes[it.typ])
	w.calls = append(w.calls, w.openItem(it))
}

// ToolArguments implements [chat.Sink].
func (w *ResponseWriter) ToolArguments(call int, piece []byte) {
	w.countPiece(len(piece))
	w.addArguments(w.calls[call], string(piece))
}

func (w *ResponseWriter) addArguments(it *item, piece string) {
	it.arguments = append(it.arguments, piece...)
	if it.tool.custom { // the text is known once the arguments are whole
		return
	}
	o := it.eventPlace()
	o["delta"] = quote(piece)
	w.writeEvent("response.function_call_arguments.delta", o)
}

// closeCalls ends the calls, in the order in which they were opened.
func (w *ResponseWriter) closeCalls() {
	for _, it := range w.calls {
		if it.tool.custom {
			text := rawjson.AppendString(nil, textOf(it.arguments))
			o := it.eventPlace()
			o["delta"] = text
			w.writeEvent("response.custom_tool_call_input.delta", o)
			o = it.eventPlace()
			o["input"] = text
			w.writeEvent("response.custom_tool_call_input.done", o)
			w.closeItem(it)
			continue
		}
		if len(it.arguments) == 0 {
			w.addArguments(it, "{}")
		}
		o := it.eventPlace()
		o["name"], o["arguments"] = quote(it.tool.name), rawjson.AppendString(nil, it.arguments)
		w.writeEvent("response.function_call_arguments.done", o)
		w.closeItem(it)
	}
}

// Searched implements [chat.Sink]: it adds a search of the host's as an item,
// where the request asks for that.
func (w *ResponseWriter) Searched(s *chat.Searched) {
	if !w.request.Searches {
		return
	}
	w.beginResponse()
	w.closeTalk()
	it := w.openItem(&item{id: newID("fs_"), typ: "file_search_call", query: s.Query})
	for _, state := range []string{"in_progress", "searching", "completed"} {
		w.writeEvent("response.file_search_call."+state, it.eventPlace())
	}
	for i := range s.Hits {
		it.results = append(it.results, foundDocument(s.Index, &s.Hits[i]))
	}
	w.closeItem(it)
}

// foundDocument is one of a search's results.
func foundDocument(index string, h *chat.Hit) json.RawMessage {
	attributes := jsonbody.Object{}
	all, _ := jsonbody.ObjectIn(h.Document)
	for name, v := range all {
		if !slices.Contains([]byte{'{', '[', 'n'}, v[0]) { // texts, numbers, true and false
			attributes[name] = v
		}
	}
	return jsonbody.Object{
		"file_id": quote(index + "/" + h.ID), "filename": quote(h.Name()), "number": number(int64(h.Number)), "score": strconv.AppendFloat(nil, h.Score, 'f', -1, 64),
		"text": quote(h.Text), "attributes": attributes.Append(nil),
	}.Append(nil)
}
