package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// addSystem adds the system prompt at path, a string or blocks of text.
func (r *Request) addSystem(path string, v json.RawMessage) error {
	if rawjson.IsAbsent(v) {
		return nil
	}
	prompt, ok := rawjson.String(v)
	if !ok {
		blocks, ok := jsonbody.ArrayOf(v)
		if !ok {
			return wrongType(path, "a string or an array of text blocks", v)
		}
		var texts []string
		for i, b := range blocks {
			o, _ := jsonbody.ObjectOf(b)
			s, ok := rawjson.String(o["text"])
			if !ok {
				return wrongType(fmt.Sprintf("%s[%d].text", path, i), "a string", o["text"])
			}
			texts = append(texts, s)
		}
		prompt = strings.Join(texts, "\n\n")
	}
	if prompt != "" {
		r.Chat.AddMessage(path, jsonbody.Object{"role": jsonbody.Quote("system"), "content": jsonbody.Quote(prompt)})
	}
	return nil
}

func (r *Request) addMessages(v json.RawMessage) error {
	if rawjson.IsAbsent(v) {
		return refuse("messages", "`messages` is missing: send the conversation, the question last.")
	}
	items, ok := jsonbody.ArrayOf(v)
	if !ok {
		return wrongType("messages", "an array of messages", v)
	}
	if len(items) == 0 {
		return refuse("messages", "`messages` is empty: send the conversation, the question last.")
	}
	for i, item := range items {
		path := fmt.Sprintf("messages[%d]", i)
		m, ok := jsonbody.ObjectOf(item)
		if !ok {
			return wrongType(path, "an object", item)
		}
		role := text(m, "role")
		if role == "system" { // later than the system prompt, as Claude Code has it
			if err := r.addSystem(path+".content", m["content"]); err != nil {
				return err
			}
			continue
		}
		blocks, err := blocksOf(path, m["content"])
		if err != nil {
			return err
		}
		switch role {
		case "user":
			err = r.addUser(path, blocks)
		case "assistant":
			err = r.addAssistant(path, blocks)
		default:
			err = refuse(path+".role", "`%s.role` is %q: it must be user, assistant or system.", path, jsonbody.Cut(role, 64))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// blocksOf are the blocks of a content, which may be a string.
func blocksOf(path string, v json.RawMessage) ([]jsonbody.Object, error) {
	if s, ok := rawjson.String(v); ok {
		return []jsonbody.Object{{"type": jsonbody.Quote("text"), "text": jsonbody.Quote(s)}}, nil
	}
	items, ok := jsonbody.ArrayOf(v)
	if !ok {
		return nil, wrongType(path+".content", "a string or an array of blocks", v)
	}
	blocks := make([]jsonbody.Object, len(items))
	for i, item := range items {
		at := fmt.Sprintf("%s.content[%d]", path, i)
		if blocks[i], ok = jsonbody.ObjectOf(item); !ok {
			return nil, wrongType(at, "an object", item)
		}
		if text(blocks[i], "type") == "text" {
			if _, ok := rawjson.String(blocks[i]["text"]); !ok {
				return nil, wrongType(at+".text", "a string", blocks[i]["text"])
			}
		}
	}
	return blocks, nil
}

// addUser adds what a user says: first the results of tools, as the chat has them,
// then the rest.
func (r *Request) addUser(path string, blocks []jsonbody.Object) error {
	var parts []json.RawMessage
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content[%d]", path, i)
		if text(b, "type") != "tool_result" {
			part, err := partOf(at, b)
			if err != nil {
				return err
			}
			parts = append(parts, part)
			continue
		}
		id := text(b, "tool_use_id")
		if id == "" {
			return refuse(at+".tool_use_id", "`%s.tool_use_id` is missing: name the call that the result answers.", at)
		}
		result, others, err := resultOf(at, b)
		if err != nil {
			return err
		}
		parts = append(parts, others...)
		r.Chat.AddMessage(at, jsonbody.Object{"role": jsonbody.Quote("tool"), "tool_call_id": jsonbody.Quote(id), "content": jsonbody.Quote(result)})
	}
	switch {
	case len(parts) == 1 && isText(parts[0]):
		o, _ := jsonbody.ObjectIn(parts[0])
		r.Chat.AddMessage(path, jsonbody.Object{"role": jsonbody.Quote("user"), "content": o["text"]})
	case len(parts) > 0:
		r.Chat.AddMessage(path, jsonbody.Object{"role": jsonbody.Quote("user"), "content": rawjson.Array(parts)})
	case len(blocks) == 0:
		return refuse(path+".content", "`%s.content` is empty.", path)
	}
	return nil
}

func isText(part json.RawMessage) bool {
	o, _ := jsonbody.ObjectIn(part)
	return text(o, "type") == "text"
}

func textPart(s string) json.RawMessage {
	return jsonbody.Object{"type": jsonbody.Quote("text"), "text": jsonbody.Quote(s)}.Append(nil)
}

// partOf is a block as a part of the chat's message.
func partOf(path string, b jsonbody.Object) (json.RawMessage, error) {
	source, _ := jsonbody.ObjectIn(b["source"])
	url := text(source, "url")
	if text(source, "type") == "base64" {
		url = "data:" + text(source, "media_type") + ";base64," + text(source, "data")
	}
	switch typ := text(b, "type"); typ {
	case "text":
		return textPart(text(b, "text")), nil
	case "image":
		if url != "" {
			return jsonbody.Object{"type": jsonbody.Quote("image_url"), "image_url": jsonbody.Object{"url": jsonbody.Quote(url)}.Append(nil)}.Append(nil), nil
		}
	case "document":
		switch text(source, "type") {
		case "text":
			return textPart(text(source, "data")), nil
		case "base64":
			name := text(b, "title")
			if name == "" {
				name = "document.pdf"
			}
			file := jsonbody.Object{"filename": jsonbody.Quote(name), "file_data": jsonbody.Quote(url)}
			return jsonbody.Object{"type": jsonbody.Quote("file"), "file": file.Append(nil)}.Append(nil), nil
		}
	case "search_result":
		inner, err := blocksOf(path, b["content"])
		if err != nil {
			return nil, err
		}
		texts := []string{text(b, "title"), text(b, "source")}
		for _, o := range inner {
			texts = append(texts, text(o, "text"))
		}
		return textPart(strings.Join(texts, "\n")), nil
	default:
		return nil, refuse(path+".type", "`%s.type` is %q, which is not supported: send text, images, documents or results of tools.", path, jsonbody.Cut(typ, 64))
	}
	return nil, refuse(path+".source", "`%s.source` is of type %q, which is not supported: send the data itself as base64, or an image's URL.", path, jsonbody.Cut(text(source, "type"), 64))
}

// resultOf is the text of a tool's result, and what of it is none.
func resultOf(path string, b jsonbody.Object) (result string, others []json.RawMessage, err error) {
	if rawjson.IsAbsent(b["content"]) {
		return "", nil, nil
	}
	blocks, err := blocksOf(path, b["content"])
	if err != nil {
		return "", nil, err
	}
	var texts []string
	for i, o := range blocks {
		if text(o, "type") == "text" {
			texts = append(texts, text(o, "text"))
			continue
		}
		part, err := partOf(fmt.Sprintf("%s.content[%d]", path, i), o)
		if err != nil {
			return "", nil, err
		}
		others = append(others, part)
	}
	return strings.Join(texts, "\n"), others, nil
}

// finished are blocks of what Anthropic's servers did, which are history here.
var finished = []string{"server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_use", "mcp_tool_result", "compaction"}

// addAssistant adds what a model said. Its thinking is its own; what this host has
// sealed of it is kept.
func (r *Request) addAssistant(path string, blocks []jsonbody.Object) error {
	var said strings.Builder
	var calls []json.RawMessage
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content[%d]", path, i)
		switch typ := text(b, "type"); typ {
		case "text":
			said.WriteString(text(b, "text"))
		case "thinking":
		case "redacted_thinking":
			if data := text(b, "data"); data != "" {
				r.States = append(r.States, data)
			}
		case "tool_use":
			input := b["input"]
			if rawjson.IsAbsent(input) {
				input = json.RawMessage("{}")
			}
			f := jsonbody.Object{"name": jsonbody.Quote(text(b, "name")), "arguments": jsonbody.Quote(string(input))}
			calls = append(calls, jsonbody.Object{"id": jsonbody.Quote(text(b, "id")), "type": jsonbody.Quote("function"), "function": f.Append(nil)}.Append(nil))
		default:
			if !slices.Contains(finished, typ) {
				return refuse(at+".type", "`%s.type` is %q, which is not supported.", at, jsonbody.Cut(typ, 64))
			}
		}
	}
	m := jsonbody.Object{"role": jsonbody.Quote("assistant"), "content": jsonbody.Quote(said.String())}
	if len(calls) > 0 {
		m["tool_calls"] = rawjson.Array(calls)
		if said.Len() == 0 {
			m["content"] = json.RawMessage("null")
		}
	}
	r.Chat.AddMessage(path, m)
	return nil
}
