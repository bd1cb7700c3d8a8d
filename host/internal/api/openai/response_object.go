package openai

import (
	"encoding/json"
	"fmt"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A Response is a response under construction.
type Response struct {
	ID        string
	CreatedAt int64 // in seconds
	request   *ResponseRequest
	stored    bool

	status    string // in_progress, completed, incomplete, failed
	reason    string // of incomplete
	failure   json.RawMessage
	completed int64
	usage     json.RawMessage // nothing before it has finished
	tier      json.RawMessage
	items     []*item
	state     string // sealed, of the turn that called functions; empty: none
}

// Body is the response as it is now.
func (r *Response) Body() []byte {
	f := r.request.fields
	orElse := func(name, otherwise string) json.RawMessage { return orJSON(f[name], otherwise) }
	output := make([]json.RawMessage, 0, len(r.items))
	if r.status != "in_progress" {
		for _, it := range r.items {
			output = append(output, it.body(r.request.Results))
		}
	}
	reasoning, _ := jsonbody.ObjectIn(f["reasoning"])
	text, ok := jsonbody.ObjectIn(f["text"])
	if !ok {
		text = jsonbody.Object{}
	}
	text["format"] = orJSON(text["format"], `{"type":"text"}`)
	o := jsonbody.Object{
		"id": quote(r.ID), "object": quote("response"), "created_at": number(r.CreatedAt), "completed_at": json.RawMessage("null"),
		"status": quote(r.status), "background": json.RawMessage("false"), "error": orJSON(r.failure, "null"), "incomplete_details": json.RawMessage("null"),
		"instructions": orElse("instructions", "null"), "max_output_tokens": orElse("max_output_tokens", "null"), "max_tool_calls": orElse("max_tool_calls", "null"),
		"model": quote(r.request.Model), "output": rawjson.Array(output), "parallel_tool_calls": orElse("parallel_tool_calls", "true"),
		"previous_response_id": orElse("previous_response_id", "null"),
		"reasoning":            jsonbody.Object{"effort": orJSON(reasoning["effort"], "null"), "summary": orJSON(reasoning["summary"], "null")}.Append(nil),
		"service_tier":         orJSON(r.tier, "null"), "store": json.RawMessage(fmt.Sprint(r.stored)),
		"temperature": orElse("temperature", "1"), "text": text.Append(nil), "tool_choice": orElse("tool_choice", `"auto"`), "tools": rawjson.Array(r.request.echo),
		"top_p": orElse("top_p", "1"), "top_logprobs": orElse("top_logprobs", "0"), "presence_penalty": orElse("presence_penalty", "0"),
		"frequency_penalty": orElse("frequency_penalty", "0"), "truncation": quote("disabled"), "usage": json.RawMessage("null"), "user": orElse("user", "null"),
		"metadata": orElse("metadata", "{}"), "safety_identifier": orElse("safety_identifier", "null"), "prompt_cache_key": orElse("prompt_cache_key", "null"),
	}
	if r.reason != "" {
		o["incomplete_details"] = jsonbody.Object{"reason": quote(r.reason)}.Append(nil)
	}
	if r.completed != 0 {
		o["completed_at"] = number(r.completed)
	}
	if r.status != "in_progress" {
		o["usage"] = orJSON(r.usage, string(responseUsage(&chat.Finish{})))
	}
	return o.Append(nil)
}

// Output returns the items of the output, for the conversation that goes on.
func (r *Response) Output() (ids []string, items []json.RawMessage) {
	for _, it := range r.items {
		ids, items = append(ids, it.id), append(items, it.body(true))
	}
	return ids, items
}

// State returns what is sealed of the last turn, and the id of the item that it belongs to:
// the first call of a client's tool, or else the last message. Empty: nothing is.
func (r *Response) State() (state, of string) {
	for _, it := range r.items {
		switch it.typ {
		case "function_call", "custom_tool_call":
			return r.state, it.id
		case "message":
			of = it.id
		}
	}
	return r.state, of
}

func number(n int64) json.RawMessage { return fmt.Appendf(nil, "%d", n) }

// An item is one of a response's output.
type item struct {
	id, typ string
	index   int
	done    bool
	cut     bool    // the answer ended before it did
	parts   []*part // of a message or of reasoning
	sealed  string  // of reasoning: the state of its turn; empty: none
	// Of a call of a client's tool:
	callID    string
	tool      toolName
	arguments []byte
	image     string // of an image, in base64; empty: it is not there yet
	// Of a search:
	query   string
	results []json.RawMessage
}

// A part is one of a message's or of reasoning's content.
type part struct {
	typ         string // output_text, refusal, reasoning_text
	text        []byte
	annotations []json.RawMessage
	logprobs    []json.RawMessage
}

func (p *part) body() json.RawMessage {
	switch p.typ {
	case "refusal":
		return jsonbody.Object{"type": quote(p.typ), "refusal": rawjson.AppendString(nil, p.text)}.Append(nil)
	case "reasoning_text":
		return jsonbody.Object{"type": quote(p.typ), "text": rawjson.AppendString(nil, p.text)}.Append(nil)
	}
	return jsonbody.Object{"type": quote(p.typ), "text": rawjson.AppendString(nil, p.text), "annotations": rawjson.Array(p.annotations), "logprobs": rawjson.Array(p.logprobs)}.Append(nil)
}

// body is the item as it is now; results shows what a search found.
func (it *item) body(results bool) json.RawMessage {
	status := "in_progress"
	switch {
	case it.cut:
		status = "incomplete"
	case it.done:
		status = "completed"
	}
	o := jsonbody.Object{"id": quote(it.id), "type": quote(it.typ)}
	parts := make([]json.RawMessage, len(it.parts))
	for i, p := range it.parts {
		parts[i] = p.body()
	}
	switch it.typ {
	case "message":
		o["status"], o["role"], o["content"] = quote(status), quote("assistant"), rawjson.Array(parts)
	case "reasoning":
		o["summary"], o["content"], o["encrypted_content"] = json.RawMessage("[]"), rawjson.Array(parts), json.RawMessage("null")
		if it.sealed != "" {
			o["encrypted_content"] = quote(it.sealed)
		}
	case "function_call", "custom_tool_call":
		o["status"], o["call_id"], o["name"] = quote(status), quote(it.callID), quote(it.tool.name)
		if it.tool.namespace != "" {
			o["namespace"] = quote(it.tool.namespace)
		}
		if it.tool.custom {
			o[textArgument] = rawjson.AppendString(nil, textOf(it.arguments))
		} else {
			o["arguments"] = rawjson.AppendString(nil, it.arguments)
		}
	case "image_generation_call":
		if o["status"] = quote(status); it.image != "" {
			o["result"] = quote(it.image)
		}
	case "file_search_call":
		o["status"], o["queries"], o["results"] = quote(status), rawjson.Array([]json.RawMessage{quote(it.query)}), json.RawMessage("null")
		if results {
			o["results"] = rawjson.Array(it.results)
		}
	}
	return o.Append(nil)
}
