package main

import (
	"slices"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// setTools rewrites tools and tool_choice.
func setTools(body *rawjson.Edit) error {
	choice, named := toolChoice(body.Get("tool_choice"))
	var tools []rawjson.Value
	for it := body.Get("tools").Items(); it.Next(); {
		if kind := it.Value.Get("type").String(); kind != "function" && kind != "" {
			return provider.Refuse("a tool in `tools` is not of type function: Mistral's chat completions take functions only")
		}
		f := only(it.Value.Get("function"), "name", "description", "parameters", "strict")
		if named != nil && !slices.Contains(named, f.Get("name").String()) {
			continue
		}
		if p := f.Get("parameters"); p.Kind() == rawjson.Object {
			f.Set("parameters", schema(p))
		} else {
			f.Set("parameters", rawjson.Value(`{"type":"object","properties":{}}`))
		}
		tools = append(tools, rawjson.Edit{
			{Key: "type", Value: rawjson.Quote("function")},
			{Key: "function", Value: f.Value()},
		}.Value())
	}
	body.Set("tools", array(tools))
	if len(choice) > 0 {
		body.Set("tool_choice", choice)
	}
	if len(tools) == 0 {
		body.Drop("tools", "tool_choice", "parallel_tool_calls")
	}
	return nil
}

// toolChoice returns Mistral's word for a choice. named, where not nil, lists
// the only tools that OpenAI's allowed_tools leaves.
func toolChoice(v rawjson.Value) (choice rawjson.Value, named []string) {
	allowed := v.Get("allowed_tools")
	if v.Get("type").String() == "allowed_tools" {
		named = []string{}
		for it := allowed.Get("tools").Items(); it.Next(); {
			named = append(named, it.Value.Path("function", "name").String())
		}
		v = allowed.Get("mode")
	}
	if v.Kind() == rawjson.Object {
		f := only(v.Get("function"), "name")
		return rawjson.Edit{
			{Key: "type", Value: rawjson.Quote("function")},
			{Key: "function", Value: f.Value()},
		}.Value(), named
	}
	if v.String() == "required" {
		v = rawjson.Quote("any")
	}
	return v, named
}

// schema returns a JSON schema in which no type is a list: Mistral takes the
// same said with anyOf.
func schema(v rawjson.Value) rawjson.Value {
	if v.Kind() != rawjson.Object {
		return v
	}
	e := rawjson.EditOf(v)
	for i, m := range e {
		switch m.Key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			inner := rawjson.EditOf(m.Value)
			for j := range inner {
				inner[j].Value = schema(inner[j].Value)
			}
			if m.Value.Kind() == rawjson.Object {
				e[i].Value = inner.Value()
			}
		case "anyOf", "oneOf", "allOf", "prefixItems", "items":
			if m.Value.Kind() != rawjson.Array {
				e[i].Value = schema(m.Value)
				break
			}
			var inner []rawjson.Value
			for it := m.Value.Items(); it.Next(); {
				inner = append(inner, schema(it.Value))
			}
			e[i].Value = array(inner)
		case "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties", "propertyNames",
			"contains", "not", "if", "then", "else":
			e[i].Value = schema(m.Value)
		}
	}
	if t := e.Get("type"); t.Kind() == rawjson.Array {
		setType(&e, t)
	}
	return e.Value()
}

// setType says a list of types without one. Beside an anyOf of its own a
// schema keeps the first type that is not null.
func setType(e *rawjson.Edit, types rawjson.Value) {
	var first rawjson.Value
	var any []rawjson.Value
	for it := types.Items(); it.Next(); {
		if len(first) == 0 || first.String() == "null" {
			first = it.Value
		}
		any = append(any, rawjson.Edit{{Key: "type", Value: it.Value}}.Value())
	}
	switch {
	case len(any) == 0:
		e.Drop("type")
	case len(any) == 1 || len(e.Get("anyOf")) > 0:
		e.Set("type", first)
	default:
		e.Drop("type")
		e.Set("anyOf", array(any))
	}
}
