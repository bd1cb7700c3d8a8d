// Package anthropic is Anthropic's messages API as clients of /v1/messages speak
// it: it reads their requests, and its sink writes the answers of package chat as
// messages and their events. It sends nothing and keeps nothing.
//
// Source: https://docs.anthropic.com/en/api/messages.
package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A Request is a request for a message, checked.
type Request struct {
	Model  string // as the client named it
	Stream bool
	// States are what the client sends back of earlier answers, see [Messages.Sealed].
	States []string

	Chat   *chat.Request // without the provider's model
	Tokens int           // that the answer may have at most; 0: they are counted

	fields jsonbody.Object
}

// Parse reads the body of a request for a message. What it leaves unchecked package
// chat checks. The error is an [*apierr.Error].
func Parse(body []byte) (*Request, error) {
	r, err := parse(body)
	if err != nil {
		return nil, err
	}
	tokens, err := strconv.Atoi(strings.TrimSpace(string(r.fields["max_tokens"])))
	switch {
	case rawjson.IsAbsent(r.fields["max_tokens"]):
		return nil, refuse("max_tokens", "`max_tokens` is missing: say how many tokens the answer may have.")
	case err != nil || tokens < 1:
		return nil, refuse("max_tokens", "`max_tokens` must be an integer from 1 on.")
	}
	r.Tokens, r.Chat.Fields["max_completion_tokens"] = tokens, r.fields["max_tokens"]
	return r, nil
}

// ParseCount reads the body of a request to count tokens, which is one for a message
// without what it says of the answer.
func ParseCount(body []byte) (*Request, error) { return parse(body) }

func parse(body []byte) (*Request, error) {
	fields, err := jsonbody.Parse(body)
	if err != nil {
		return nil, err
	}
	r := &Request{fields: fields, Chat: &chat.Request{Fields: jsonbody.Object{}, Portable: true, Usage: true}}
	var ok bool
	if r.Model, ok = rawjson.String(fields["model"]); !ok || r.Model == "" {
		if !rawjson.IsAbsent(fields["model"]) && !ok {
			return nil, wrongType("model", "a string", fields["model"])
		}
		return nil, refuse("model", "`model` is missing: name a workspace, or WORKSPACE/MODEL; GET /v1/models lists them.")
	}
	switch strings.TrimSpace(string(fields["stream"])) {
	case "", "null", "false":
	case "true":
		r.Stream = true
	default:
		return nil, wrongType("stream", "true, false or left out", fields["stream"])
	}
	if err := r.addSystem("system", fields["system"]); err != nil {
		return nil, err
	}
	if err := r.addMessages(fields["messages"]); err != nil {
		return nil, err
	}
	if err := r.addTools(fields["tools"]); err != nil {
		return nil, err
	}
	asked := r.Chat.Fields
	for to, from := range map[string]string{"temperature": "temperature", "top_p": "top_p", "stop": "stop_sequences"} {
		if v := fields[from]; !rawjson.IsAbsent(v) && !isEmptyArray(v) {
			asked[to] = v
		}
	}
	if v := format(fields); v != nil {
		asked["response_format"] = v
	}
	metadata, _ := jsonbody.ObjectOf(fields["metadata"])
	if v := metadata["user_id"]; !rawjson.IsAbsent(v) {
		asked["user"] = v
	}
	return r, r.choose(asked)
}

// choose translates tool_choice.
func (r *Request) choose(body jsonbody.Object) error {
	v := r.fields["tool_choice"]
	if rawjson.IsAbsent(v) {
		return nil
	}
	choice, ok := jsonbody.ObjectOf(v)
	if !ok {
		return wrongType("tool_choice", "an object", v)
	}
	switch typ := text(choice, "type"); typ {
	case "auto", "none":
		body["tool_choice"] = jsonbody.Quote(typ)
	case "any":
		body["tool_choice"] = jsonbody.Quote("required")
	case "tool":
		name := text(choice, "name")
		if !slices.ContainsFunc(r.Chat.Tools, func(t chat.Item) bool { return toolName(t.JSON) == name }) {
			return refuse("tool_choice.name", "`tool_choice.name` is %q, which is no tool of the request that this host can offer: name one of `tools` that has an `input_schema`.", jsonbody.Cut(name, 64))
		}
		body["tool_choice"] = jsonbody.Object{"type": jsonbody.Quote("function"), "function": jsonbody.Object{"name": jsonbody.Quote(name)}.Append(nil)}.Append(nil)
	default:
		return refuse("tool_choice.type", "`tool_choice.type` is %q: it must be auto, any, tool or none.", jsonbody.Cut(typ, 64))
	}
	if len(r.Chat.Tools) == 0 {
		delete(body, "tool_choice")
	} else if string(choice["disable_parallel_tool_use"]) == "true" {
		body["parallel_tool_calls"] = json.RawMessage("false")
	}
	return nil
}

// format is response_format of a request that asks for an answer by a schema, else nil.
func format(fields jsonbody.Object) json.RawMessage {
	config, _ := jsonbody.ObjectOf(fields["output_config"])
	asked := config["format"]
	if rawjson.IsAbsent(asked) {
		asked = fields["output_format"]
	}
	o, _ := jsonbody.ObjectOf(asked)
	if text(o, "type") != "json_schema" || rawjson.IsAbsent(o["schema"]) {
		return nil
	}
	schema := jsonbody.Object{"name": jsonbody.Quote("answer"), "strict": json.RawMessage("true"), "schema": o["schema"]}
	return jsonbody.Object{"type": jsonbody.Quote("json_schema"), "json_schema": schema.Append(nil)}.Append(nil)
}

// addTools keeps the tools that the client answers itself. A tool that Anthropic
// runs, or whose schema only its models know, is an offer that no other can take up,
// and is left out.
func (r *Request) addTools(v json.RawMessage) error {
	if rawjson.IsAbsent(v) {
		return nil
	}
	items, ok := jsonbody.ArrayOf(v)
	if !ok {
		return wrongType("tools", "an array of tools", v)
	}
	for i, item := range items {
		tool, ok := jsonbody.ObjectOf(item)
		if !ok {
			return wrongType(fmt.Sprintf("tools[%d]", i), "an object", item)
		}
		if typ := text(tool, "type"); typ != "" && typ != "custom" {
			continue
		}
		name := text(tool, "name")
		if name == "" {
			return refuse(fmt.Sprintf("tools[%d].name", i), "`tools[%d].name` is missing.", i)
		}
		f := jsonbody.Object{"name": jsonbody.Quote(name)}
		for to, from := range map[string]string{"description": "description", "parameters": "input_schema", "strict": "strict"} {
			if v := tool[from]; !rawjson.IsAbsent(v) {
				f[to] = v
			}
		}
		f = jsonbody.Object{"type": jsonbody.Quote("function"), "function": f.Append(nil)}
		r.Chat.Tools = append(r.Chat.Tools, chat.Item{JSON: f.Append(nil), At: fmt.Sprintf("tools[%d].name", i)})
	}
	return nil
}

// toolName is the name of a tool in the chat's form.
func toolName(tool json.RawMessage) string {
	o, _ := jsonbody.ObjectIn(tool)
	f, _ := jsonbody.ObjectIn(o["function"])
	return text(f, "name")
}

func refuse(param, format string, args ...any) *apierr.Error {
	return &apierr.Error{Code: apierr.BadRequest, Param: param, Message: fmt.Sprintf(format, args...)}
}

func wrongType(param, want string, got json.RawMessage) error {
	return jsonbody.WrongType(apierr.BadRequest, param, want, got)
}

// text is the string called name, empty where there is none.
func text(o jsonbody.Object, name string) string {
	s, _ := rawjson.String(o[name])
	return s
}

func isEmptyArray(v json.RawMessage) bool {
	items, ok := rawjson.Items(v)
	return ok && len(items) == 0
}
