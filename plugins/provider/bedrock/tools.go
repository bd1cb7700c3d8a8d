package main

import (
	"slices"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// toolConfig returns the tools of the request, nil for none. Where the history has
// calls there must be some: then those are named that were called.
func (c *conversation) toolConfig(chat rawjson.Edit) (rawjson.Value, error) {
	choice := chat.Get("tool_choice")
	mode := choice.String() + choice.Path("allowed_tools", "mode").String()
	if mode == "none" && len(c.names) == 0 {
		return nil, nil
	}
	var allowed []string
	for it := choice.Path("allowed_tools", "tools").Items(); it.Next(); {
		allowed = append(allowed, it.Value.Path("function", "name").String())
	}
	var specs []byte
	var known []string
	for it := chat.Get("tools").Items(); it.Next(); {
		f := it.Value.Get("function")
		name := f.Get("name").String()
		if name == "" {
			return nil, provider.Refuse("`tools` has one that is not a function: Bedrock is given functions only")
		}
		if len(allowed) > 0 && !slices.Contains(allowed, name) && !slices.Contains(c.names, name) {
			continue
		}
		known = append(known, name)
		specs = appendSpec(appendComma(specs), name, f.Get("description").String(), f.Get("parameters"))
	}
	for _, name := range c.names {
		if !slices.Contains(known, name) {
			known = append(known, name)
			specs = appendSpec(appendComma(specs), name, "", nil)
		}
	}
	if len(specs) == 0 {
		return nil, nil
	}
	config := rawjson.Edit{{Key: "tools", Value: wrapArray(specs)}}
	switch only := choice.Path("function", "name"); {
	case len(only) > 2:
		config.Set("toolChoice", append(append(rawjson.Value(`{"tool":{"name":`), only...), "}}"...))
	case mode == "required":
		config.Set("toolChoice", rawjson.Value(`{"any":{}}`))
	case mode == "auto":
		config.Set("toolChoice", rawjson.Value(`{"auto":{}}`))
	}
	return config.Value(), nil
}

// appendSpec appends a tool. Bedrock wants a description and a schema of type
// object.
func appendSpec(b []byte, name, description string, parameters rawjson.Value) []byte {
	if description == "" {
		description = name
	}
	schema := rawjson.EditOf(parameters)
	if len(schema.Get("type")) == 0 {
		schema.Set("type", rawjson.Value(`"object"`))
	}
	b = rawjson.AppendString(append(b, `{"toolSpec":{"name":`...), name)
	b = rawjson.AppendString(append(b, `,"description":`...), description)
	b = append(append(append(b, `,"inputSchema":{"json":`...), schema.Value()...), "}}}"...)
	return b
}
