package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/abi/response"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/search/retrieval"
)

// tidied is a message as all providers take it: some refuse an empty list of calls,
// arguments that are no JSON, and a list around a text.
func tidied(message json.RawMessage) json.RawMessage {
	var m [2]json.RawMessage
	jsonbody.Pick(message, m[:], "content", "tool_calls")
	changed := jsonbody.Object{}
	if len(m[0]) > 0 && m[0][0] == '[' {
		parts, _ := rawjson.Items(m[0])
		if len(parts) == 1 {
			if part, _ := jsonbody.ObjectIn(parts[0]); len(part) == 2 && part.Text("type") == "text" && part["text"] != nil {
				changed["content"] = part["text"]
			}
		}
	}
	if len(m[1]) > 0 && m[1][0] == '[' {
		calls, _ := rawjson.Items(m[1])
		empty := false
		for i, v := range calls {
			c, _ := jsonbody.ObjectIn(v)
			f, isFunction := jsonbody.ObjectIn(c["function"])
			if arguments, isText := rawjson.String(f["arguments"]); isFunction && isText && strings.TrimSpace(arguments) == "" {
				f["arguments"] = jsonbody.Quote("{}")
				c["function"] = f.Append(nil)
				calls[i], empty = c.Append(nil), true
			}
		}
		if empty || len(calls) == 0 {
			changed["tool_calls"] = rawjson.Array(calls)
		}
	}
	if len(changed) == 0 {
		return message
	}
	o, _ := jsonbody.ObjectIn(message)
	maps.Copy(o, changed)
	if v := o["tool_calls"]; string(v) == "[]" {
		delete(o, "tool_calls")
	}
	return o.Append(nil)
}

// assistantMessage is what the model said in a round that made calls, with all that
// its provider said of it.
func assistantMessage(text []byte, said *response.Said, calls []*call) []byte {
	list := make([]response.ToolCall, len(calls))
	for i, c := range calls {
		list[i] = response.ToolCall{ID: c.id, Name: c.name, Arguments: string(sentArguments(c.arguments)), Members: c.members}
	}
	return response.AppendMessage(nil, text, said, list)
}

// sentArguments is what the provider is given back of a call's arguments. Some
// parse them, and would refuse the whole conversation for a broken one; what
// was wrong is in the call's answer.
func sentArguments(b []byte) []byte {
	if t := bytes.TrimSpace(b); len(t) > 0 && t[0] == '{' && json.Valid(t) {
		return b
	}
	return []byte("{}")
}

// toolMessage is the answer to one call.
func toolMessage(id string, content []byte) []byte {
	b := append([]byte(nil), `{"role":"tool","tool_call_id":`...)
	b = rawjson.AppendString(b, id)
	b = append(b, `,"content":`...)
	return append(rawjson.AppendString(b, content), '}')
}

// hitsContent is a search's result as the model reads it, and the extract
// plugin too.
func hitsContent(indexUID string, found Found) []byte {
	b := rawjson.AppendString([]byte(`{"indexUid":`), indexUID)
	if found.Query != "" {
		b = rawjson.AppendString(append(b, `,"searchedFor":`...), found.Query)
	}
	if c := found.Coverage; c != nil {
		b = strconv.AppendFloat(append(b, `,"coverage":`...), *c, 'f', 2, 64)
		if *c < retrieval.LowCoverage {
			b = rawjson.AppendString(append(b, `,"note":`...), lowCoverageNote)
		}
	}
	if found.LeftOut > 0 {
		b = rawjson.AppendString(append(b, `,"leftOut":`...), strconv.Itoa(found.LeftOut)+" of the passages found may not be shown.")
	}
	b = append(b, `,"hits":[`...)
	for i, h := range found.Hits {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"source":`...), int64(h.Number), 10)
		b = rawjson.AppendString(append(b, `,"id":`...), h.ID)
		if h.Title != "" {
			b = rawjson.AppendString(append(b, `,"title":`...), h.Name())
		}
		if h.URL != "" {
			b = rawjson.AppendString(append(b, `,"url":`...), h.URL)
		}
		b = rawjson.AppendString(append(b, `,"text":`...), h.Text)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// lowCoverageNote is for the model, behind a search whose hits have less of the question than
// [retrieval.LowCoverage].
const lowCoverageNote = "Few of the question's words were found: these documents may not hold the answer."

// documents is the array of what was found, each document once.
func documents(found Found) []byte {
	b := []byte{'['}
	for i, h := range found.Hits {
		if found.Coverage != nil && slices.ContainsFunc(found.Hits[:i], func(o Hit) bool { return o.ID == h.ID }) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		switch {
		case found.Coverage != nil:
			b = appendWithPassages(b, h, found.Hits[i:])
		case len(h.Document) == 0:
			b = rawjson.AppendString(append(b, `{"id":`...), h.ID)
			b = append(b, '}')
		default:
			b = append(b, h.Document...)
		}
	}
	return append(b, ']')
}

// maxSourceValue bounds an attribute's value in a report of a document of which passages were found: a
// longer one is a text, and its passages are there.
const maxSourceValue = 400

// appendWithPassages appends a document with its short attributes and its passages among hits.
func appendWithPassages(b []byte, h Hit, hits []Hit) []byte {
	o, _ := jsonbody.ObjectOf(h.Document)
	for name, v := range o {
		if len(v) > maxSourceValue {
			delete(o, name)
		}
	}
	list := []byte{'['}
	for _, p := range hits {
		if p.ID != h.ID {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(append(list, `{"source":`...), int64(p.Number), 10)
		list = rawjson.AppendString(append(list, `,"name":`...), p.Name())
		list = rawjson.AppendString(append(list, `,"title":`...), p.Title)
		if p.URL != "" {
			list = rawjson.AppendString(append(list, `,"url":`...), p.URL)
		}
		list = append(rawjson.AppendString(append(list, `,"text":`...), p.Text), '}')
	}
	if o == nil {
		o = jsonbody.Object{}
	}
	if len(o) == 0 {
		o["id"] = jsonbody.Quote(h.ID)
	}
	o["_passages"] = append(list, ']')
	return o.Append(b)
}

// reportBegin reports calls that are about to run to the client.
func (a *Answer) reportBegin(calls []*call) {
	if name := a.tools.reports.progress; name != "" {
		for _, c := range calls {
			a.sink.Report(name, jsonbody.Object{
				"call_id":             jsonbody.Quote(c.id),
				"function_name":       jsonbody.Quote(c.name),
				"function_arguments":  reportedArguments(c.arguments),
				"function_parameters": reportedArguments(c.arguments), // its name in newer front ends
			}.Append(nil))
		}
	}
	if name := a.tools.reports.message; name != "" {
		// Without the round's text: that went to the client as the answer's.
		a.reportSealed(name, assistantMessage(nil, &a.round.said, calls), calls)
	}
}

// reportEnd reports the result of a call to the client.
func (a *Answer) reportEnd(c *call, r result, message []byte) {
	if name := a.tools.reports.sources; name != "" {
		report := jsonbody.Object{"call_id": jsonbody.Quote(c.id), "sources": r.sources, "documents": r.sources}
		if r.found.Warning != "" {
			report["warning"] = jsonbody.Quote(r.found.Warning)
		}
		a.sink.Report(name, report.Append(nil))
	}
	if name := cmp.Or(a.tools.reports.errors, a.tools.reports.error); name != "" && r.failed {
		a.sink.Report(name, jsonbody.Object{"call_id": jsonbody.Quote(c.id), "function_name": jsonbody.Quote(c.name), "error": r.content}.Append(nil))
	}
	if name := a.tools.reports.message; name != "" {
		a.sink.Report(name, message)
	}
}

// reportedArguments is what front ends get of a search's arguments: with the
// index under both of the names that they read.
func reportedArguments(b []byte) json.RawMessage {
	if o, ok := jsonbody.ObjectOf(b); ok && o["indexUid"] != nil && o["index_uid"] == nil {
		t := bytes.TrimSpace(b)
		b = append(slices.Clone(t[:len(t)-1]), `,"index_uid":`...)
		b = append(append(b, o["indexUid"]...), '}')
	}
	return rawjson.AppendString(nil, b)
}
