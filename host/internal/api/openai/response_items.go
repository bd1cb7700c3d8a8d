package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// messages builds a chat's messages of a response's items.
type messages struct {
	list []chat.Item // each with where in the request it is, but the assistant's and those of tools
	// An assistant message that calls may still be added to; content is null
	// where it has calls alone.
	open    bool
	content json.RawMessage
	calls   []json.RawMessage

	// seen are images and files that tools gave, which only a user's message can
	// have: it comes behind all of their outputs.
	seen   []json.RawMessage
	seenAt string
	states []SealedState
	kept   Kept
}

// A SealedState is the encrypted content of an item that a client sent back.
type SealedState struct {
	Param string // where in the request it is; empty: it was kept here
	Text  string
}

// addMessage adds what is at path of the request.
func (m *messages) addMessage(path, role string, content json.RawMessage) {
	m.closeAssistant()
	m.addToolMedia()
	m.list = append(m.list, chat.Item{JSON: jsonbody.Object{"role": quote(role), "content": content}.Append(nil), At: path})
}

// closeAssistant ends the assistant message that is open.
func (m *messages) closeAssistant() {
	if !m.open {
		return
	}
	o := jsonbody.Object{"role": quote("assistant"), "content": m.content}
	if len(m.calls) > 0 {
		o["tool_calls"] = rawjson.Array(m.calls)
	}
	m.list = append(m.list, chat.Item{JSON: o.Append(nil)})
	m.open, m.calls = false, nil
}

// addOutput adds what a tool gave.
func (m *messages) addOutput(path string, o jsonbody.Object) error {
	if o.Text("call_id") == "" {
		return refuse("missing_required_parameter", path+".call_id", "`"+path+".call_id` is missing: name the call that the output answers.")
	}
	content, err := partsText(path+".output", "user", o["output"])
	if err != nil {
		return err
	}
	m.closeAssistant()
	if parts, ok := rawjson.Items(content); ok {
		var texts []json.RawMessage
		for _, v := range parts {
			if part, _ := jsonbody.ObjectIn(v); part.Text("type") == "text" {
				texts = append(texts, v)
			} else {
				m.seen, m.seenAt = append(m.seen, v), path
			}
		}
		if content = rawjson.Array(texts); len(texts) == 0 {
			content = quote("What this gave follows.")
		}
	}
	m.list = append(m.list, chat.Item{JSON: jsonbody.Object{"role": quote("tool"), "tool_call_id": o["call_id"], "content": content}.Append(nil)})
	return nil
}

// addToolMedia adds the user's message with what tools gave beside text.
func (m *messages) addToolMedia() {
	if seen := m.seen; seen != nil {
		m.seen = nil
		m.addMessage(m.seenAt, "user", rawjson.Array(seen))
	}
}

func (m *messages) takeItems() []chat.Item {
	m.closeAssistant()
	m.addToolMedia()
	return m.list
}

// keepState keeps the encrypted content of an item that a client sends, for who can open
// it.
func (m *messages) keepState(path string, o jsonbody.Object) {
	if text := o.Text("encrypted_content"); text != "" {
		m.states = append(m.states, SealedState{path + ".encrypted_content", text})
	}
}

// keepOwnState keeps what this host has kept of the turn of an output item, which clients
// refer to or send back whole.
func (m *messages) keepOwnState(o jsonbody.Object) {
	if state := m.kept.State(o.Text("id")); state != "" {
		m.states = append(m.states, SealedState{Text: state})
	}
}

// finished reports whether items of a type are what a server, or a tool that is not the
// client's, did, or notes of a client's own: they are history here.
func finished(typ string) bool {
	return strings.HasSuffix(typ, "_call") || strings.HasSuffix(typ, "_output") || strings.HasPrefix(typ, "mcp_") || strings.Contains(typ, "compaction") || typ == "configuration_update"
}

// addItem adds an item, which is at path of the request.
func (m *messages) addItem(path string, v json.RawMessage) error {
	o, ok := jsonbody.ObjectIn(v)
	if !ok {
		return wrongType(path, "an object", v)
	}
	switch typ := o.Text("type"); typ {
	case "", "message":
		return m.addMessageItem(path, o)
	case "reasoning":
		m.keepState(path, o)
	case "agent_message":
		return m.addAgentMessage(path, o)
	case "function_call", "custom_tool_call":
		m.keepOwnState(o)
		if !m.open {
			m.addToolMedia()
			m.open, m.content = true, json.RawMessage("null")
		}
		arguments := wholeArguments([]byte(o.Text("arguments")))
		if typ == "custom_tool_call" {
			arguments = jsonbody.Object{textArgument: quote(o.Text("input"))}.Append(nil)
		}
		name := toolName{namespace: o.Text("namespace"), name: o.Text("name")}.flatName()
		f := jsonbody.Object{"name": quote(name), "arguments": quote(string(arguments))}
		m.calls = append(m.calls, jsonbody.Object{"id": quote(o.Text("call_id")), "type": quote("function"), "function": f.Append(nil)}.Append(nil))
	case "function_call_output", "custom_tool_call_output":
		return m.addOutput(path, o)
	case "item_reference":
		item, ok := m.kept.Item(o.Text("id"))
		if !ok {
			return unknownItem(path, o.Text("id"))
		}
		return m.addItem(path, item) // no output has a reference
	default:
		if !finished(typ) {
			return refuse("unsupported_value", path+".type", "`"+path+".type` is `"+typ+"`, which is not supported.")
		}
	}
	return nil
}

// addAgentMessage adds what another of the client's agents asks or answers, as a user's
// message. What it marks as encrypted is what the model wrote: only OpenAI encrypts it.
func (m *messages) addAgentMessage(path string, o jsonbody.Object) error {
	parts, ok := rawjson.Items(o["content"])
	if !ok {
		return wrongType(path+".content", "an array of parts", o["content"])
	}
	for i, v := range parts {
		if part, _ := jsonbody.ObjectIn(v); part.Text("type") == "encrypted_content" {
			parts[i] = jsonbody.Object{"type": quote("input_text"), "text": quote(part.Text("encrypted_content"))}.Append(nil)
		}
	}
	content, err := partsText(path+".content", "user", rawjson.Array(parts))
	if err != nil {
		return err
	}
	m.addMessage(path, "user", content)
	return nil
}

var messageRoles = []string{"user", "assistant", "system", "developer"}

func (m *messages) addMessageItem(path string, o jsonbody.Object) error {
	role := o.Text("role")
	switch {
	case rawjson.IsAbsent(o["role"]):
		return refuse("missing_required_parameter", path+".role", "`"+path+".role` is missing: it must be user, assistant, system or developer.")
	case !slices.Contains(messageRoles, role):
		return refuse("invalid_value", path+".role", "`"+path+".role` must be user, assistant, system or developer.")
	}
	content, err := partsText(path+".content", role, o["content"])
	if err != nil {
		return err
	}
	if role != "assistant" {
		m.addMessage(path, role, content)
		return nil
	}
	m.keepOwnState(o)
	m.closeAssistant()
	m.addToolMedia()
	m.open, m.content = true, content
	return nil
}

// mediaPart is an image or a file as a chat's message has it; nil where it says no
// more than an id, which chats do not know.
func mediaPart(typ string, part jsonbody.Object) json.RawMessage {
	if typ == "input_image" {
		url := part.Text("image_url")
		if url == "" {
			return nil
		}
		image := jsonbody.Object{"url": quote(url)}
		if detail := part.Text("detail"); detail != "" {
			image["detail"] = quote(detail)
		}
		return jsonbody.Object{"type": quote("image_url"), "image_url": image.Append(nil)}.Append(nil)
	}
	if part.Text("file_data") == "" {
		return nil
	}
	file := jsonbody.Object{"file_data": part["file_data"]}
	if name := part.Text("filename"); name != "" {
		file["filename"] = quote(name)
	}
	return jsonbody.Object{"type": quote("file"), "file": file.Append(nil)}.Append(nil)
}

// partsText returns content of a role, a string or parts, as a chat's message has
// it.
func partsText(path, role string, v json.RawMessage) (json.RawMessage, error) {
	if _, ok := rawjson.String(v); ok {
		return v, nil
	}
	parts, ok := rawjson.Items(v)
	if !ok {
		return nil, wrongType(path, "a string or an array of parts", v)
	}
	var texts []string
	var list []json.RawMessage
	for i, v := range parts {
		at := fmt.Sprintf("%s[%d]", path, i)
		part, _ := jsonbody.ObjectIn(v)
		switch typ := part.Text("type"); typ {
		case "input_text", "output_text", "text":
			text, ok := rawjson.String(part["text"])
			if !ok {
				return nil, wrongType(at+".text", "a string", part["text"])
			}
			texts = append(texts, text)
			list = append(list, jsonbody.Object{"type": quote("text"), "text": quote(text)}.Append(nil))
		case "input_image", "input_file":
			media := mediaPart(typ, part)
			if media == nil || role != "user" {
				return nil, unsupportedPart(at, typ)
			}
			list = append(list, media)
		case "refusal":
			if role != "assistant" {
				return nil, refuse("invalid_value", at+".type", "`"+at+".type` is `refusal`, which only an assistant's message has.")
			}
			list = append(list, jsonbody.Object{"type": quote("refusal"), "refusal": quote(part.Text("refusal"))}.Append(nil))
		default:
			return nil, unsupportedPart(at, typ)
		}
	}
	if len(texts) == len(list) && len(texts) <= 1 {
		return quote(strings.Join(texts, "")), nil
	}
	return rawjson.Array(list), nil
}
