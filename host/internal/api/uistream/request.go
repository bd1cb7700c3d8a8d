// Package uistream is how the AI SDK's user interfaces (useChat, InstantSearch's chat)
// speak with a server: it reads the messages that they keep, and its sink writes the
// answers of package chat as their UI message stream. It sends nothing and keeps nothing.
//
// Source: https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol.
package uistream

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A Request is a conversation as a user interface has it.
type Request struct {
	Model string        // as the client named it; empty: it did not
	Chat  *chat.Request // without the provider's model
}

// Parse reads the body of a request. Of what an interface sends beside its messages, a
// chat knows the tools. What it leaves unchecked package chat checks. The error is an
// [*apierr.Error].
func Parse(body []byte) (*Request, error) {
	fields, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	items, ok := jsonbody.ArrayOf(fields["messages"])
	if !ok || len(items) == 0 {
		return nil, refuse("messages", "`messages` is missing: send the messages of the conversation, each with its `parts`.")
	}
	model := text(fields, "model")
	r := &Request{Model: model, Chat: chat.SplitFields(fields.Only("tools", "tool_choice"))}
	for i, item := range items {
		path := fmt.Sprintf("messages[%d]", i)
		m, _ := jsonbody.ObjectOf(item)
		parts, ok := jsonbody.ArrayOf(m["parts"])
		if !ok {
			return nil, refuse(path+".parts", "`%s.parts` is missing: it must be an array of parts.", path)
		}
		switch role := text(m, "role"); role {
		case "system", "user":
			r.addUser(path, role, parts)
		case "assistant":
			r.addAssistant(path, parts)
		default:
			return nil, refuse(path+".role", "`%s.role` must be system, user or assistant.", path)
		}
	}
	return r, nil
}

// addUser adds the texts and files of a message.
func (r *Request) addUser(path, role string, parts []json.RawMessage) {
	var texts []string
	var list []json.RawMessage
	for _, v := range parts {
		part, _ := jsonbody.ObjectOf(v)
		switch url := part["url"]; text(part, "type") {
		case "text":
			texts = append(texts, text(part, "text"))
			list = append(list, jsonbody.Object{"type": jsonbody.Quote("text"), "text": jsonbody.Quote(text(part, "text"))}.Append(nil))
		case "file":
			if strings.HasPrefix(text(part, "mediaType"), "image/") {
				list = append(list, jsonbody.Object{"type": jsonbody.Quote("image_url"), "image_url": jsonbody.Object{"url": url}.Append(nil)}.Append(nil))
				continue
			}
			file := jsonbody.Object{"file_data": url}
			if name := text(part, "filename"); name != "" {
				file["filename"] = jsonbody.Quote(name)
			}
			list = append(list, jsonbody.Object{"type": jsonbody.Quote("file"), "file": file.Append(nil)}.Append(nil))
		}
	}
	content := rawjson.Array(list)
	if len(texts) == len(list) {
		content = jsonbody.Quote(strings.Join(texts, "\n"))
	}
	r.Chat.AddMessage(path, jsonbody.Object{"role": jsonbody.Quote(role), "content": content})
}

// addAssistant adds what a model said and called, step by step. Calls without a result
// were never answered, and are left out, as are sources and reasoning.
func (r *Request) addAssistant(path string, parts []json.RawMessage) {
	var said strings.Builder
	var calls []json.RawMessage
	var results []jsonbody.Object
	step := func() {
		if said.Len() == 0 && calls == nil {
			return
		}
		m := jsonbody.Object{"role": jsonbody.Quote("assistant"), "content": jsonbody.Quote(said.String())}
		if calls != nil {
			m["tool_calls"] = rawjson.Array(calls)
		}
		r.Chat.AddMessage(path, m)
		for _, result := range results {
			r.Chat.AddMessage(path, result)
		}
		said.Reset()
		calls, results = nil, nil
	}
	for _, v := range parts {
		part, _ := jsonbody.ObjectOf(v)
		typ := text(part, "type")
		name, tool := strings.CutPrefix(typ, "tool-")
		if typ == "dynamic-tool" {
			name, tool = text(part, "toolName"), true
		}
		switch output := part["output"]; {
		case typ == "step-start":
			step()
		case typ == "text":
			if calls != nil {
				step()
			}
			said.WriteString(text(part, "text"))
		case tool && (!rawjson.IsAbsent(output) || text(part, "errorText") != ""):
			if rawjson.IsAbsent(output) {
				output = part["errorText"]
			}
			content, ok := rawjson.String(output)
			if !ok {
				content = string(output)
			}
			id, input := jsonbody.Quote(text(part, "toolCallId")), part["input"]
			if rawjson.IsAbsent(input) {
				input = json.RawMessage("{}")
			}
			f := jsonbody.Object{"name": jsonbody.Quote(name), "arguments": jsonbody.Quote(string(input))}
			calls = append(calls, jsonbody.Object{"id": id, "type": jsonbody.Quote("function"), "function": f.Append(nil)}.Append(nil))
			results = append(results, jsonbody.Object{"role": jsonbody.Quote("tool"), "tool_call_id": id, "content": jsonbody.Quote(content)})
		}
	}
	step()
}

func refuse(param, format string, args ...any) *apierr.Error {
	return &apierr.Error{Code: apierr.BadRequest, Param: param, Message: fmt.Sprintf(format, args...)}
}

// text is the string called name, empty where there is none.
func text(o jsonbody.Object, name string) string {
	s, _ := rawjson.String(o[name])
	return s
}
