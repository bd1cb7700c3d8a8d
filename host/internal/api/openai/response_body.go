package openai

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// Kept are the items of a client's responses that are kept.
type Kept interface {
	// Item returns the one called id, or false.
	Item(id string) (item json.RawMessage, ok bool)
	// State returns what is sealed of the turn of the one called id; empty: nothing.
	State(id string) string
}

// Ask returns what is asked, without the provider's model. history are the items of
// the conversation so far.
func (r *ResponseRequest) Ask(history []json.RawMessage, kept Kept) (*chat.Request, error) {
	m := messages{kept: kept}
	if text := r.fields.Text("instructions"); text != "" {
		m.addMessage("instructions", "system", quote(text))
	}
	for i, item := range history {
		if err := m.addItem(fmt.Sprintf("history[%d]", i), item); err != nil {
			return nil, err
		}
	}
	for i, item := range r.input {
		if err := m.addItem(fmt.Sprintf("input[%d]", i), item); err != nil {
			return nil, err
		}
	}
	if len(m.list) == 0 {
		return nil, refuse("missing_required_parameter", "input", "`input` has no message: send a text, or the items of a conversation.")
	}
	body := jsonbody.Object{}
	q := &chat.Request{Messages: m.takeItems(), Fields: body, Portable: true, Usage: true, Indexes: r.indexes, MostHits: r.mostHits}
	r.states = m.states
	for to, from := range map[string]string{
		"parallel_tool_calls": "parallel_tool_calls", "temperature": "temperature", "top_p": "top_p", "top_logprobs": "top_logprobs",
		"max_completion_tokens": "max_output_tokens", "metadata": "metadata", "user": "user",
	} {
		if v := r.fields[from]; !rawjson.IsAbsent(v) {
			body[to] = v
		}
	}
	if r.logprobs || body["top_logprobs"] != nil && string(body["top_logprobs"]) != "0" {
		body["logprobs"] = json.RawMessage("true")
	} else {
		delete(body, "top_logprobs")
	}
	reasoning, _ := jsonbody.ObjectIn(r.fields["reasoning"])
	if v := reasoning["effort"]; !rawjson.IsAbsent(v) {
		body["reasoning_effort"] = v
	}
	if err := r.addTools(q); err != nil {
		return nil, err
	}
	if err := r.translateFormat(body); err != nil {
		return nil, err
	}
	return q, nil
}

// translateFormat translates text.format.
func (r *ResponseRequest) translateFormat(body jsonbody.Object) error {
	text, _ := jsonbody.ObjectIn(r.fields["text"])
	if v := text["verbosity"]; !rawjson.IsAbsent(v) {
		body["verbosity"] = v
	}
	format, _ := jsonbody.ObjectIn(text["format"])
	switch typ := format.Text("type"); typ {
	case "", "text":
	case "json_object":
		body["response_format"] = text["format"]
	case "json_schema":
		schema := jsonbody.Object{}
		for _, name := range []string{"name", "schema", "strict", "description"} {
			if v := format[name]; !rawjson.IsAbsent(v) {
				schema[name] = v
			}
		}
		body["response_format"] = jsonbody.Object{"type": quote("json_schema"), "json_schema": schema.Append(nil)}.Append(nil)
	default:
		return refuse("unsupported_value", "text.format.type", "`text.format.type` is `"+typ+"`: it must be text, json_object or json_schema.")
	}
	return nil
}

// unknownItem is the error for an item_reference to what is not kept.
func unknownItem(path, id string) *Error {
	return &Error{
		Status: http.StatusNotFound, Type: typeRequest, Code: "item_not_found", Param: path + ".id",
		Message: "Item with id `" + id + "` not found: it has expired or was never kept. Send the item itself.",
	}
}
