package openai

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A toolName is what a client calls a tool. Chats have functions alone, each with one
// name: a namespace goes before it, and a custom tool is a function with one text.
type toolName struct {
	namespace, name string
	custom          bool
}

// mostName is how long OpenAI and others let the name of a function be.
const mostName = 64

// flatName is the tool's name among all of a request. It depends on the two names
// alone, since calls of earlier answers come back without the tools of then.
func (s toolName) flatName() string {
	if s.namespace == "" {
		return s.name
	}
	name := s.namespace + "__" + s.name
	if len(name) > mostName {
		sum := fmt.Sprintf("_%x", sha256.Sum256([]byte(name)))[:9]
		name = name[:mostName-len(sum)] + sum
	}
	return name
}

// clientTool is what the client calls the function that the provider calls name.
func (r *ResponseRequest) clientTool(name string) toolName {
	if s, ok := r.names[name]; ok {
		return s
	}
	return toolName{name: name}
}

// parseTools keeps the tools that can be used here. What a service runs for its
// clients, such as web_search, and what only its models know is an offer that
// cannot be met, and is left out; tool_choice may not ask for it.
func (r *ResponseRequest) parseTools(v json.RawMessage) error {
	if rawjson.IsAbsent(v) {
		return nil
	}
	items, ok := rawjson.Items(v)
	if !ok {
		return wrongType("tools", "an array of tools", v)
	}
	for i, v := range items {
		path := fmt.Sprintf("tools[%d]", i)
		tool, ok := jsonbody.ObjectIn(v)
		if !ok {
			return wrongType(path, "an object", v)
		}
		switch tool.Text("type") {
		case "":
			return refuse("missing_required_parameter", path+".type", "`"+path+".type` is missing: `function` is what a client runs itself.")
		case "function":
			if err := r.addFunction(path, "", tool); err != nil {
				return err
			}
			for _, name := range []string{"description", "parameters", "strict"} {
				if tool[name] == nil {
					tool[name] = json.RawMessage("null")
				}
			}
			r.echo = append(r.echo, tool.Append(nil))
		case "custom":
			if err := r.addFunction(path, "", tool); err != nil {
				return err
			}
			r.echo = append(r.echo, v)
		case "namespace":
			if err := r.addNamespace(path, tool); err != nil {
				return err
			}
			r.echo = append(r.echo, v)
		case "file_search":
			r.Searches = true
			ids, _ := rawjson.Items(tool["vector_store_ids"])
			for _, v := range ids {
				if uid, ok := rawjson.String(v); ok {
					r.indexes = append(r.indexes, uid)
				}
			}
			if err := r.parseMost(path, tool["max_num_results"]); err != nil {
				return err
			}
			r.echo = append(r.echo, v)
		}
	}
	return nil
}

// isClientTool reports whether the client answers calls of the tool itself.
func isClientTool(tool jsonbody.Object) bool {
	return tool.Text("type") == "function" || tool.Text("type") == "custom"
}

// addNamespace adds the tools of a namespace at path.
func (r *ResponseRequest) addNamespace(path string, tool jsonbody.Object) error {
	namespace := tool.Text("name")
	if namespace == "" {
		return missingName(path, "the namespace")
	}
	items, ok := rawjson.Items(tool["tools"])
	if !ok {
		return wrongType(path+".tools", "an array of tools", tool["tools"])
	}
	for i, v := range items {
		inner, _ := jsonbody.ObjectIn(v)
		if isClientTool(inner) {
			if err := r.addFunction(fmt.Sprintf("%s.tools[%d]", path, i), namespace, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// textFunction is a custom tool as a function. No provider but OpenAI has tools that take
// a text as it is: the model is shown its grammar, if it has one.
func textFunction(tool jsonbody.Object) jsonbody.Object {
	input := jsonbody.Object{"type": quote("string")}
	format, _ := jsonbody.ObjectIn(tool["format"])
	if grammar := format.Text("definition"); grammar != "" {
		input["description"] = quote("A text by this grammar (" + format.Text("syntax") + "):\n" + grammar)
	}
	return jsonbody.Object{"name": tool["name"], "description": tool["description"], "parameters": jsonbody.Object{
		"type": quote("object"), "properties": jsonbody.Object{textArgument: input.Append(nil)}.Append(nil), "required": rawjson.Array([]json.RawMessage{quote(textArgument)}),
	}.Append(nil)}
}

// textArgument is the one argument of [textFunction].
const textArgument = "input"

// textOf is the text that a call of [textFunction] has: all of the arguments where a model
// wrote it as it is.
func textOf(arguments []byte) []byte {
	o, _ := jsonbody.ObjectOf(arguments)
	if text, ok := rawjson.String(o[textArgument]); ok {
		return []byte(text)
	}
	return arguments
}

// addFunction adds the function or custom tool at path as chats have it.
func (r *ResponseRequest) addFunction(path, namespace string, tool jsonbody.Object) error {
	s := toolName{namespace, tool.Text("name"), tool.Text("type") == "custom"}
	if s.name == "" {
		return missingName(path, "the tool")
	}
	if s.custom {
		tool = textFunction(tool)
	}
	f := jsonbody.Object{"name": quote(s.flatName())}
	for _, name := range []string{"description", "parameters", "strict"} {
		if v := tool[name]; !rawjson.IsAbsent(v) {
			f[name] = v
		}
	}
	if namespace != "" || s.custom {
		if r.names == nil {
			r.names = map[string]toolName{}
		}
		r.names[s.flatName()] = s
	}
	r.tools = append(r.tools, chat.Item{JSON: jsonbody.Object{"type": quote("function"), "function": f.Append(nil)}.Append(nil), At: path + ".name"})
	return nil
}

func missingName(path, what string) error {
	return refuse("missing_required_parameter", path+".name", "`"+path+".name` is missing: name "+what+".")
}

// mostResults is how many results OpenAI lets file_search ask for.
const mostResults = 50

// parseMost reads how much file_search at path is to find.
func (r *ResponseRequest) parseMost(path string, v json.RawMessage) error {
	if rawjson.IsAbsent(v) {
		return nil
	}
	path += ".max_num_results"
	n, err := strconv.Atoi(strings.TrimSpace(string(v)))
	switch {
	case err != nil:
		return wrongType(path, "an integer", v)
	case n < 1 || n > mostResults:
		return refuse("unsupported_value", path, fmt.Sprintf("`%s` is %d: it must be 1 to %d.", path, n, mostResults))
	}
	r.mostHits = n
	return nil
}

// addTools adds the tools to q, and tool_choice, which is flat here.
func (r *ResponseRequest) addTools(q *chat.Request) error {
	body := q.Fields
	tools, v := r.tools, r.fields["tool_choice"]
	mode, ok := rawjson.String(v)
	switch choice, isObject := jsonbody.ObjectIn(v); {
	case ok, rawjson.IsAbsent(v):
	case !isObject:
		return wrongType("tool_choice", "a string or an object", v)
	default:
		switch typ := choice.Text("type"); typ {
		case "function", "custom":
			name := toolName{namespace: choice.Text("namespace"), name: choice.Text("name")}.flatName()
			body["tool_choice"] = jsonbody.Object{"type": quote("function"), "function": jsonbody.Object{"name": quote(name)}.Append(nil)}.Append(nil)
		case "allowed_tools":
			mode, tools = choice.Text("mode"), nil
			items, _ := rawjson.Items(choice["tools"])
			for i, v := range items {
				allowed, _ := jsonbody.ObjectIn(v)
				if !isClientTool(allowed) {
					continue
				}
				name := toolName{namespace: allowed.Text("namespace"), name: allowed.Text("name")}.flatName()
				at := slices.IndexFunc(r.tools, func(t chat.Item) bool { return functionName(t.JSON) == name })
				if at < 0 {
					return refuse("invalid_value", fmt.Sprintf("tool_choice.tools[%d].name", i), "`tool_choice.tools` has `"+name+"`, which is no function of `tools`.")
				}
				tools = append(tools, r.tools[at])
			}
		case "file_search": // the search is the host's to offer
		default:
			return refuse("unsupported_value", "tool_choice", "`tool_choice` of type `"+typ+"` is not supported: send auto, none, required, allowed_tools, or a function or custom tool of the client.")
		}
	}
	if mode == "required" && len(tools) == 0 && !r.Searches {
		return refuse("unsupported_value", "tool_choice", "`tool_choice` is required, and `tools` has none that can be called here: offer a function.")
	}
	if len(tools) == 0 {
		delete(body, "parallel_tool_calls")
		if r.fields["tools"] != nil && mode == "auto" { // providers refuse it where there are none
			mode = ""
		}
	} else {
		q.Tools = tools
	}
	if mode != "" {
		body["tool_choice"] = quote(mode)
	}
	return nil
}

// functionName is the name of a tool as chats have it.
func functionName(tool json.RawMessage) string {
	o, _ := jsonbody.ObjectIn(tool)
	f, _ := jsonbody.ObjectIn(o["function"])
	return f.Text("name")
}
