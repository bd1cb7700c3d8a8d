package openai

import (
	"slices"

	"github.com/parley-search/parley/sdk/rawjson"
)

// StrictSchema returns a JSON schema as APIs take it that hold a model to one, in the
// way of their own SDKs: objects have no further properties, and what the API does not
// check, such as a minimum, is told to the model in the description.
func StrictSchema(schema rawjson.Value) rawjson.Value { return strictSchema(schema, 0) }

// maxSchemaDepth bounds how deep schemas nest; below it they stay as they are.
const maxSchemaDepth = 64

func strictSchema(schema rawjson.Value, depth int) rawjson.Value {
	if schema.Kind() != rawjson.Object || depth > maxSchemaDepth {
		return schema
	}
	var out, told rawjson.Edit
	for m := schema.Members(); m.Next(); {
		key := string(m.Key)
		switch key {
		case "type", "description", "title", "enum", "const", "default", "required", "$ref":
			out.Set(key, m.Value)
		case "format":
			if slices.Contains(strictFormats[:], m.Value.String()) {
				out.Set(key, m.Value)
			} else {
				told.Set(key, m.Value)
			}
		case "properties", "$defs", "definitions":
			out.Set(key, strictMembers(m.Value, depth))
		case "items":
			out.Set(key, strictSchema(m.Value, depth+1))
		case "anyOf", "allOf":
			out.Set(key, strictItems(m.Value, depth))
		case "oneOf":
			out.Set("anyOf", strictItems(m.Value, depth))
		case "additionalProperties", "$schema", "$id":
		case "minItems":
			if n, ok := m.Value.Int(); ok && n <= 1 {
				out.Set(key, m.Value)
			} else {
				told.Set(key, m.Value)
			}
		default:
			told.Set(key, m.Value)
		}
	}
	if len(out.Get("properties")) > 0 || isObjectType(out.Get("type")) {
		out.Set("additionalProperties", rawjson.Value("false"))
	}
	if len(told) > 0 {
		text := out.Get("description").String()
		if text != "" {
			text += "\n\n"
		}
		out.Set("description", rawjson.Quote(text+string(told.Value())))
	}
	return out.Value()
}

// strictFormats are those of a text that such APIs know.
var strictFormats = [...]string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// isObjectType reports whether a type is that of objects, or has it among others.
func isObjectType(typ rawjson.Value) bool {
	for it := typ.Items(); it.Next(); {
		if it.Value.Is("object") {
			return true
		}
	}
	return typ.Is("object")
}

func strictMembers(v rawjson.Value, depth int) rawjson.Value {
	var out rawjson.Edit
	for m := v.Members(); m.Next(); {
		out.Set(string(m.Key), strictSchema(m.Value, depth+1))
	}
	return out.Value()
}

func strictItems(v rawjson.Value, depth int) rawjson.Value {
	b := rawjson.Value{'['}
	for it := v.Items(); it.Next(); {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, strictSchema(it.Value, depth+1)...)
	}
	return append(b, ']')
}

// AskForJSON is what a model is told where its API cannot hold it to response_format;
// empty where that asks for text.
func AskForJSON(format rawjson.Value) string {
	switch schema := format.Path("json_schema", "schema"); {
	case schema.Kind() == rawjson.Object:
		return "Answer with one JSON object that fits this JSON schema, and with nothing around it: " + string(schema)
	case format.Get("type").Is("json_object"), format.Get("type").Is("json_schema"):
		return "Answer with one JSON object, and with nothing around it."
	}
	return ""
}
