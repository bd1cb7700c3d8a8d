package gemini

import (
	"strings"

	"github.com/parley-search/parley/sdk/rawjson"
)

// Gemini's schemas are a part of JSON Schema. It refuses a request for one key
// that it does not know, so a schema is made anew of what it does know; what
// helps the model of the rest is said in the description.

// maxSchemas bounds what comes of one schema, whose references may fan out
// without end, maxDepth how deep it goes, and maxHops how far one reference
// leads to the next.
const (
	maxSchemas = 2000
	maxDepth   = 16
	maxHops    = 8
)

// reduceSchema returns a schema as Gemini takes it.
func reduceSchema(schema rawjson.Value) rawjson.Value {
	r := reducer{root: schema, left: maxSchemas}
	return r.reduce(r.flatten(schema, 0), 0)
}

type reducer struct {
	root rawjson.Value
	left int // schemas that may still be read or written
}

// flatten returns the members of a schema, those behind $ref and in allOf with
// them.
func (r *reducer) flatten(schema rawjson.Value, hops int) rawjson.Edit {
	if r.left--; r.left < 0 || hops == maxHops {
		return nil
	}
	e := rawjson.EditOf(schema)
	if path, ok := strings.CutPrefix(e.Get("$ref").String(), "#"); ok {
		at := r.root
		for _, key := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
			if key != "" {
				at = at.Get(strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~"))
			}
		}
		e = addUnder(e, r.flatten(at, hops+1))
	}
	for it := e.Get("allOf").Items(); it.Next(); {
		e = addUnder(e, r.flatten(it.Value, hops+1))
	}
	return e
}

// addUnder adds members that e lacks, and properties and required to e's own.
func addUnder(e, more rawjson.Edit) rawjson.Edit {
	for _, m := range more {
		have := e.Get(m.Key)
		switch {
		case len(have) == 0:
			e.Set(m.Key, m.Value)
		case m.Key == "properties":
			e.Set(m.Key, addUnder(rawjson.EditOf(have), rawjson.EditOf(m.Value)).Value())
		case m.Key == "required":
			e.Set(m.Key, wrapArray(joinNames(have, m.Value)))
		}
	}
	return e
}

// joinNames returns the texts of lists, each once, joined by commas.
func joinNames(lists ...rawjson.Value) (joined []byte) {
	seen := map[string]bool{}
	for _, l := range lists {
		for it := l.Items(); it.Next(); {
			if name := it.Value.String(); name != "" && !seen[name] {
				seen[name] = true
				joined = appendItem(joined, it.Value)
			}
		}
	}
	return joined
}

// reduce writes one schema, without its alternatives where it has properties
// beside them: those only say which are required.
func (r *reducer) reduce(e rawjson.Edit, depth int) rawjson.Value {
	if r.left--; r.left < 0 || depth > maxDepth {
		return rawjson.Value(`{"type":"object"}`)
	}
	e.Rename("oneOf", "anyOf")
	types, nullable := typesOf(e)
	var branches []rawjson.Edit
	if len(e.Get("properties")) == 0 {
		for it := e.Get("anyOf").Items(); it.Next(); {
			b := r.flatten(it.Value, 0)
			if t, _ := typesOf(b); len(t) == 0 {
				nullable = true
				continue
			}
			branches = append(branches, b)
		}
	}
	if len(branches) == 0 && len(types) > 1 {
		for _, t := range types {
			branches = append(branches, addUnder(rawjson.Edit{{Key: "type", Value: rawjson.Quote(t)}}, e))
		}
	}
	e.Drop("anyOf", "$ref", "allOf")
	if nullable {
		e.Set("nullable", rawjson.Value("true"))
	}
	for i, b := range branches {
		b.Drop("nullable")
		branches[i] = addUnder(b, e)
	}
	switch len(branches) {
	case 0:
		return r.plain(e, types, depth)
	case 1:
		return r.reduce(branches[0], depth)
	}
	var each []byte
	for _, b := range branches { // beside anyOf nothing else may stand
		each = appendItem(each, r.reduce(b, depth+1))
	}
	return newObject("anyOf", wrapArray(each))
}

// typesOf returns the types that a schema names, null aside, or the one that
// its other members tell of; none where null is all.
func typesOf(e rawjson.Edit) (types []string, nullable bool) {
	named := e.Get("type")
	if named.Kind() == rawjson.String {
		named = wrapArray(named)
	}
	nullable = e.Get("nullable").Kind() == rawjson.True
	for it := named.Items(); it.Next(); {
		switch t := strings.ToLower(it.Value.String()); t {
		case "null":
			nullable = true
		case "object", "array", "string", "number", "integer", "boolean":
			types = append(types, t)
		}
	}
	values := valuesOf(e)
	for it := values.Items(); it.Next(); {
		nullable = nullable || it.Value.Kind() == rawjson.Null
	}
	switch {
	case len(types) > 0 || nullable && named.Len() > 0:
	case len(e.Get("properties")) > 0 || len(e.Get("additionalProperties")) > 0:
		types = []string{"object"}
	case len(e.Get("items")) > 0 || len(e.Get("prefixItems")) > 0:
		types = []string{"array"}
	default:
		kinds := map[byte]string{rawjson.Number: "number", rawjson.True: "boolean", rawjson.False: "boolean"}
		types = []string{"string"}
		for it := values.Items(); it.Next(); {
			if t := kinds[it.Value.Kind()]; t != "" {
				types = []string{t}
			}
		}
		if nullable && values.Len() == 1 {
			types = nil
		}
	}
	return types, nullable
}

// valuesOf returns the values that a schema allows, as an array.
func valuesOf(e rawjson.Edit) rawjson.Value {
	if only := e.Get("const"); len(only) > 0 {
		return wrapArray(only)
	}
	return e.Get("enum")
}

// limits are the keys that a type may have beside its own.
var limits = map[string][]string{
	"object":  {"minProperties", "maxProperties"},
	"array":   {"minItems", "maxItems"},
	"string":  {"minLength", "maxLength", "pattern"},
	"number":  {"minimum", "maximum"},
	"integer": {"minimum", "maximum"},
}

// formats are those that a type is taken with.
var formats = map[string]string{"string": "date-time", "number": "float double", "integer": "int32 int64"}

// plain writes a schema of one type.
func (r *reducer) plain(e rawjson.Edit, types []string, depth int) rawjson.Value {
	t := "string"
	if len(types) > 0 {
		t = types[0]
	}
	description := e.Get("description").String()
	out := rawjson.Edit{{Key: "type", Value: rawjson.Quote(t)}}
	if title := e.Get("title"); title.Kind() == rawjson.String {
		out.Set("title", title)
	}
	out.Set("description", nil) // its place
	if e.Get("nullable").Kind() == rawjson.True {
		out.Set("nullable", rawjson.Value("true"))
	}
	if f := e.Get("format").String(); f != "" {
		if strings.Contains(" "+formats[t]+" ", " "+f+" ") {
			out.Set("format", rawjson.Quote(f))
		} else {
			description += " (format: " + f + ")"
		}
	}
	if values := valuesOf(e); values.Len() > 0 {
		var texts []byte
		for it := values.Items(); it.Next(); {
			if t == "string" && it.Value.Kind() == rawjson.String && len(it.Value) > 2 {
				texts = appendItem(texts, it.Value)
			}
		}
		if len(texts) > 0 {
			out.Set("enum", wrapArray(texts))
		} else {
			description += " (one of: " + string(values) + ")"
		}
	}
	for _, key := range limits[t] {
		v := e.Get(key)
		if n, whole := v.Int(); key == "pattern" && v.Kind() == rawjson.String || v.Kind() == rawjson.Number && (key[3:] == "imum" || whole && n >= 0) {
			out.Set(key, v)
		}
	}
	switch t {
	case "array":
		items := e.Get("items")
		for it := items.Items(); it.Next() && items.Kind() == rawjson.Array; {
			items = it.Value // a tuple: the first of its kind stands for all
		}
		out.Set("items", r.reduce(r.flatten(items, 0), depth+1))
	case "object":
		r.properties(&out, e, depth)
	}
	if description = strings.TrimSpace(description); description != "" {
		out.Set("description", rawjson.Quote(description))
	} else {
		out.Drop("description")
	}
	return out.Value()
}

// properties writes those of an object, and which of them are required.
func (r *reducer) properties(out *rawjson.Edit, e rawjson.Edit, depth int) {
	var properties rawjson.Edit
	var required []byte
	for m := e.Get("properties").Members(); m.Next(); {
		properties.Set(string(rawjson.AppendUnescaped(nil, m.Key)), r.reduce(r.flatten(m.Value, 0), depth+1))
	}
	for it := wrapArray(joinNames(e.Get("required"))).Items(); it.Next(); {
		if len(properties.Get(it.Value.String())) > 0 {
			required = appendItem(required, it.Value)
		}
	}
	if len(properties) > 0 {
		out.Set("properties", properties.Value())
	}
	if len(required) > 0 {
		out.Set("required", wrapArray(required))
	}
}
