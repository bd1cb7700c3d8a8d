package chat

import (
	"bytes"
	"encoding/json"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// assistantMessage is what the model said in a round that made calls.
func assistantMessage(text []byte, calls []*call) []byte {
	b := []byte(`{"role":"assistant","content":`)
	if len(text) == 0 {
		b = append(b, "null"...)
	} else {
		b = rawjson.AppendString(b, text)
	}
	b = append(b, `,"tool_calls":[`...)
	for i, c := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = rawjson.AppendString(b, c.id)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = rawjson.AppendString(b, c.name)
		b = append(b, `,"arguments":`...)
		b = rawjson.AppendString(b, sentArguments(c.arguments))
		b = append(b, "}}"...)
	}
	return append(b, "]}"...)
}

// sentArguments is what the provider is given back of a call's arguments. Some
// parse them, and would refuse the whole conversation for a broken one; what
// was wrong stands in the call's answer.
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
func hitsContent(indexUID string, hits []Hit) []byte {
	b := rawjson.AppendString([]byte(`{"indexUid":`), indexUID)
	b = append(b, `,"hits":[`...)
	for i, h := range hits {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(append(b, `{"id":`...), h.ID)
		b = rawjson.AppendString(append(b, `,"text":`...), h.Text)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// documents is the array of what was found.
func documents(hits []Hit) []byte {
	b := []byte{'['}
	for i, h := range hits {
		if i > 0 {
			b = append(b, ',')
		}
		if len(h.Document) == 0 {
			b = rawjson.AppendString(append(b, `{"id":`...), h.ID)
			b = append(b, '}')
			continue
		}
		b = append(b, h.Document...)
	}
	return append(b, ']')
}

// reportBegin tells the client of calls that are about to run.
func (a *Answer) reportBegin(calls []*call) {
	if name := a.tools.reports.progress; name != "" {
		for _, c := range calls {
			a.render.report(newCallID(), name, object{
				"call_id":            quote(c.id),
				"function_name":      quote(c.name),
				"function_arguments": rawjson.AppendString(nil, c.arguments),
			}.append(nil))
		}
	}
	if name := a.tools.reports.message; name != "" {
		// Without the round's text: that went to the client as the answer's.
		a.render.report(newCallID(), name, assistantMessage(nil, calls))
	}
}

// reportEnd tells the client what came of a call.
func (a *Answer) reportEnd(c *call, r result, message []byte) {
	if name := a.tools.reports.sources; name != "" {
		a.render.report(newCallID(), name, object{"call_id": quote(c.id), "sources": r.sources}.append(nil))
	}
	if name := a.tools.reports.message; name != "" {
		a.render.report(newCallID(), name, message)
	}
}

func newCallID() string { return "call_" + randomID() }
