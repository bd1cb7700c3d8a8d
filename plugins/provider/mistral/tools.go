package main

import (
	"bytes"
	"slices"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A toolList rewrites tools. Its memory is used again for the next request.
type toolList struct {
	out      []byte       // an array
	function rawjson.Edit // of one tool
}

// set rewrites tools and tool_choice.
func (l *toolList) set(body *rawjson.Edit) error {
	choice, named := toolChoice(body.Get("tool_choice"))
	l.out = append(l.out[:0], '[')
	for it := body.Get("tools").Items(); it.Next(); {
		var members [2]rawjson.Value
		it.Value.Pick(members[:], "type", "function")
		if kind := members[0]; !kind.Is("function") && kind.String() != "" {
			return provider.Refuse("a tool in `tools` is not of type function: Mistral's chat completions take functions only")
		}
		f := keepOnly(rawjson.AppendMembers(l.function[:0], members[1]), "name", "description", "parameters", "strict")
		if named != nil && !slices.Contains(named, f.Get("name").String()) {
			continue
		}
		if p := f.Get("parameters"); p.Kind() == rawjson.Object {
			f.Set("parameters", rewriteSchema(p))
		} else {
			f.Set("parameters", rawjson.Value(`{"type":"object","properties":{}}`))
		}
		l.function = f
		if len(l.out) > 1 {
			l.out = append(l.out, ',')
		}
		l.out = append(f.Append(append(l.out, `{"type":"function","function":`...)), '}')
	}
	if len(l.out) == 1 {
		body.Drop("tools", "tool_choice", "parallel_tool_calls")
		return nil
	}
	l.out = append(l.out, ']')
	body.Set("tools", l.out)
	if len(choice) > 0 {
		body.Set("tool_choice", choice)
	}
	return nil
}

// toolChoice returns Mistral's word for a choice. named, where not nil, lists
// the only tools that OpenAI's allowed_tools leaves.
func toolChoice(v rawjson.Value) (choice rawjson.Value, named []string) {
	if v.Get("type").Is("allowed_tools") {
		allowed := v.Get("allowed_tools")
		named = []string{}
		for it := allowed.Get("tools").Items(); it.Next(); {
			named = append(named, it.Value.Path("function", "name").String())
		}
		v = allowed.Get("mode")
	}
	if v.Kind() == rawjson.Object {
		f := keepOnly(rawjson.EditOf(v.Get("function")), "name")
		return rawjson.Edit{
			{Key: "type", Value: rawjson.Quote("function")},
			{Key: "function", Value: f.Value()},
		}.Value(), named
	}
	if v.Is("required") {
		v = rawjson.Quote("any")
	}
	return v, named
}

// rewriteSchema returns a JSON schema in which no type is a list: Mistral takes the
// same said with anyOf.
func rewriteSchema(v rawjson.Value) rawjson.Value {
	if v.Kind() != rawjson.Object || !listsTypes(v) {
		return v
	}
	e := rawjson.EditOf(v)
	for i, m := range e {
		switch m.Key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			inner := rawjson.EditOf(m.Value)
			for j := range inner {
				inner[j].Value = rewriteSchema(inner[j].Value)
			}
			if m.Value.Kind() == rawjson.Object {
				e[i].Value = inner.Value()
			}
		case "anyOf", "oneOf", "allOf", "prefixItems", "items":
			if m.Value.Kind() != rawjson.Array {
				e[i].Value = rewriteSchema(m.Value)
				break
			}
			var inner []rawjson.Value
			for it := m.Value.Items(); it.Next(); {
				inner = append(inner, rewriteSchema(it.Value))
			}
			e[i].Value = joinArray(inner)
		case "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties", "propertyNames",
			"contains", "not", "if", "then", "else":
			e[i].Value = rewriteSchema(m.Value)
		}
	}
	if t := e.Get("type"); t.Kind() == rawjson.Array {
		setType(&e, t)
	}
	return e.Value()
}

// listsTypes reports whether v may hold a member type that is a list, by what
// stands before each list: most schemas hold none, and are not rewritten.
func listsTypes(v rawjson.Value) bool {
	for i := 0; ; {
		n := bytes.IndexByte(v[i:], '[')
		if n < 0 {
			return false
		}
		before := bytes.TrimRight(v[:i+n], ": \t\r\n")
		i += n + 1
		end := len(before) - 1
		if before[end] != '"' {
			continue // no member's value
		}
		key := before[bytes.LastIndexByte(before[:end], '"')+1 : end]
		if string(key) == "type" || bytes.IndexByte(key, '\\') >= 0 {
			return true
		}
	}
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
		e.Set("anyOf", joinArray(any))
	}
}
