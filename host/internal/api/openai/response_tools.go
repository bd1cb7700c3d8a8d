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

// A spaced name is that of a function in a namespace, which chats do not know.
type spaced struct{ namespace, name string }

// mostName is how long OpenAI and others let the name of a function be.
const mostName = 64

// flatName is the function's name among all of a request. It depends on the two names
// alone, since calls of earlier answers come back without the tools of then.
func (s spaced) flatName() string {
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

// clientFunction is what the client calls the function that the provider calls name.
func (r *ResponseRequest) clientFunction(name string) spaced {
	if s, ok := r.spaced[name]; ok {
		return s
	}
	return spaced{name: name}
}

// parseTools keeps the tools that can be used here. What a service runs for its
// clients, such as web_search, and what only its models know is an offer that
// nobody takes up, and is left out; tool_choice may not ask for it.
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

// addNamespace adds the functions of a namespace at path.
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
		if inner.Text("type") == "function" {
			if err := r.addFunction(fmt.Sprintf("%s.tools[%d]", path, i), namespace, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFunction adds the function at path as chats have it.
func (r *ResponseRequest) addFunction(path, namespace string, tool jsonbody.Object) error {
	s := spaced{namespace, tool.Text("name")}
	if s.name == "" {
		return missingName(path, "the function")
	}
	f := jsonbody.Object{"name": quote(s.flatName())}
	for _, name := range []string{"description", "parameters", "strict"} {
		if v := tool[name]; !rawjson.IsAbsent(v) {
			f[name] = v
		}
	}
	if namespace != "" {
		if r.spaced == nil {
			r.spaced = map[string]spaced{}
		}
		r.spaced[s.flatName()] = s
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
		case "function":
			name := spaced{choice.Text("namespace"), choice.Text("name")}.flatName()
			body["tool_choice"] = jsonbody.Object{"type": quote("function"), "function": jsonbody.Object{"name": quote(name)}.Append(nil)}.Append(nil)
		case "allowed_tools":
			mode, tools = choice.Text("mode"), nil
			items, _ := rawjson.Items(choice["tools"])
			for i, v := range items {
				allowed, _ := jsonbody.ObjectIn(v)
				if allowed.Text("type") != "function" {
					continue
				}
				name := spaced{allowed.Text("namespace"), allowed.Text("name")}.flatName()
				at := slices.IndexFunc(r.tools, func(t chat.Item) bool { return functionName(t.JSON) == name })
				if at < 0 {
					return refuse("invalid_value", fmt.Sprintf("tool_choice.tools[%d].name", i), "`tool_choice.tools` has `"+name+"`, which is no function of `tools`.")
				}
				tools = append(tools, r.tools[at])
			}
		case "file_search": // the search is the host's to offer
		default:
			return refuse("unsupported_value", "tool_choice", "`tool_choice` of type `"+typ+"` is not supported: send auto, none, required, allowed_tools, or a function.")
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
