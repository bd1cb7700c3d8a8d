package main

import (
	"slices"
	"strconv"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// tools is what a request says of them.
type tools struct {
	list   []byte // joined by commas
	choice rawjson.Value
	forced bool // the model must make a call
}

// toolsOf reads tools, functions and tool_choice. used are the functions that
// the conversation has calls of: the API wants them defined, even where none
// may be called any more.
func toolsOf(chat rawjson.Edit, f family, used []string) (t tools, err error) {
	if len(used) == 0 && chat.Get("tools").Empty() && chat.Get("functions").Empty() {
		return t, nil
	}
	err = t.read(chat, f, used)
	return t, err
}

func (t *tools) read(chat rawjson.Edit, f family, used []string) error {
	choice := chat.Get("tool_choice")
	allowed := allowedNames(choice)
	for it := chat.Get("functions").Items(); it.Next(); {
		t.list = appendItem(t.list, defineTool(it.Value, nil, f))
	}
	i := 0
	for it := chat.Get("tools").Items(); it.Next(); i++ {
		tool := it.Value
		switch name := tool.Path("function", "name").String(); {
		case allowed != nil && !slices.Contains(allowed, name):
		case tool.Get("function").Kind() == rawjson.Object:
			t.list = appendItem(t.list, defineTool(tool.Get("function"), tool.Get("cache_control"), f))
		case tool.Get("name").Kind() == rawjson.String:
			t.list = appendItem(t.list, tool) // one of the API's own, web search and the like
		default:
			return provider.Refuse("`tools[" + strconv.Itoa(i) + "].type` must be function, or that of a tool of the Messages API")
		}
	}
	if len(t.list) == 0 {
		for _, name := range used {
			t.list = appendItem(t.list, defineTool(rawjson.Edit{{Key: "name", Value: rawjson.Quote(name)}}.Value(), nil, f))
			t.choice = rawjson.Value(`{"type":"none"}`)
		}
		return nil
	}
	t.choose(choice, string(chat.Get("parallel_tool_calls")) == "false")
	return nil
}

// answerTool is the tool by which a model answers that has no other way to be held to a
// format: its input is the answer's text.
const answerTool = "answer_as_json"

// addAnswer adds answerTool, and has the model call it or another one. A schema that is
// absent is that of any object.
func (t *tools) addAnswer(schema rawjson.Value, f family) {
	if schema.Kind() != rawjson.Object {
		schema = rawjson.Value(`{"type":"object","additionalProperties":true}`)
	}
	tool := rawjson.Edit{
		{Key: "name", Value: rawjson.Quote(answerTool)},
		{Key: "description", Value: rawjson.Quote("Gives the answer, once you know it, as a JSON object with all that was asked for.")},
		{Key: "parameters", Value: schema},
	}
	switch {
	case len(t.list) == 0 || t.choice.Get("type").Is("none"):
		t.choice = rawjson.Value(`{"type":"tool","name":"` + answerTool + `"}`)
	case !t.forced:
		t.choice = rawjson.Value(`{"type":"any","disable_parallel_tool_use":true}`)
	}
	t.list = appendItem(t.list, defineTool(tool.Value(), nil, f))
	t.forced = true
}

// hasOwnTools reports whether some of the tools are the API's own.
func hasOwnTools(tools rawjson.Value) bool {
	for it := tools.Items(); it.Next(); {
		if it.Value.Get("function").IsNull() {
			return true
		}
	}
	return false
}

// defineTool returns the definition of a function.
func defineTool(function, cache rawjson.Value, f family) rawjson.Value {
	schema := rawjson.EditOf(function.Get("parameters"))
	if schema.Get("type").String() != "object" {
		schema.Set("type", rawjson.Value(`"object"`))
	}
	tool := rawjson.Edit{{Key: "name", Value: function.Get("name")}}
	if description := function.Get("description"); description.String() != "" {
		tool.Set("description", description)
	}
	tool.Set("input_schema", schema.Value())
	if string(function.Get("strict")) == "true" && f.constrained() {
		tool.Set("strict", rawjson.Value("true"))
	}
	setMember(&tool, "cache_control", cache)
	return tool.Value()
}

// choose maps tool_choice: a word, or an object of OpenAI's or the API's own.
func (t *tools) choose(v rawjson.Value, single bool) {
	typ, name := v.String(), rawjson.Value(nil)
	if v.Kind() == rawjson.Object {
		typ = v.Get("type").String()
	}
	switch typ {
	case "required", "any":
		typ = "any"
	case "function":
		typ, name = "tool", v.Path("function", "name")
	case "tool":
		name = v.Get("name")
	case "allowed_tools":
		typ = "auto"
		if v.Path("allowed_tools", "mode").String() == "required" {
			typ = "any"
		}
	case "none":
	default:
		if typ = "auto"; v.IsNull() && !single {
			return
		}
	}
	choice := rawjson.Edit{{Key: "type", Value: rawjson.Quote(typ)}}
	setMember(&choice, "name", name)
	if typ != "none" && (single || string(v.Get("disable_parallel_tool_use")) == "true") {
		choice.Set("disable_parallel_tool_use", rawjson.Value("true"))
	}
	t.choice, t.forced = choice.Value(), typ == "any" || typ == "tool"
}

// allowedNames returns the functions that tool_choice narrows the tools to, nil
// where it does not.
func allowedNames(choice rawjson.Value) (names []string) {
	for it := choice.Path("allowed_tools", "tools").Items(); it.Next(); {
		names = append(names, it.Value.Path("function", "name").String())
	}
	return names
}
