package chattest

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// Completion returns a request as the chat completion that it asks for.
func Completion(q *chat.Request) string {
	o := jsonbody.Object{}
	for name, v := range q.Fields {
		o[name] = v
	}
	for name, list := range map[string][]chat.Item{"messages": q.Messages, "tools": q.Tools} {
		if list == nil {
			continue
		}
		items := make([]json.RawMessage, len(list))
		for i := range list {
			items[i] = list[i].JSON
		}
		o[name] = rawjson.Array(items)
	}
	return string(o.Append(nil))
}
