package openai

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A ChatRequest is a request for a chat completion.
type ChatRequest struct {
	Model  string // as the client named it
	Stream bool
	Chat   *chat.Request // without the provider's model
}

// ParseChat reads the body of a request for a chat completion. What it leaves
// unchecked package chat checks. The error is an [*Error].
func ParseChat(body []byte) (*ChatRequest, error) {
	fields, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	return newChat(fields)
}

// newChat checks the members of a request for a chat completion.
func newChat(fields jsonbody.Object) (r *ChatRequest, err error) {
	r = &ChatRequest{}
	if r.Model, err = parseModel(fields["model"]); err != nil {
		return nil, err
	}
	if err := checkMessages(fields["messages"]); err != nil {
		return nil, err
	}
	if r.Stream, err = parseStream(fields["stream"]); err != nil {
		return nil, err
	}
	if v := fields["n"]; !rawjson.IsAbsent(v) {
		n, err := strconv.ParseFloat(strings.TrimSpace(string(v)), 64)
		if err != nil {
			return nil, wrongType("n", "the number 1, or left out", v)
		}
		if n != 1 {
			return nil, refuse("unsupported_value", "n", "`n` must be 1, or left out: an answer has exactly one choice.")
		}
	}
	if v := fields["tools"]; !rawjson.IsAbsent(v) {
		if _, ok := rawjson.Items(v); !ok {
			return nil, wrongType("tools", "an array of tools", v)
		}
	}
	for _, name := range []string{"functions", "function_call"} {
		if !rawjson.IsAbsent(fields[name]) {
			return nil, refuse("unsupported_parameter", name, "`"+name+"` is an old form that is not supported: use `tools` and `tool_choice`.")
		}
		delete(fields, name)
	}
	r.Chat = chat.SplitFields(fields)
	r.Chat.Portable = true
	return r, nil
}

// parseBody reads a body that must be a JSON object.
func parseBody(body []byte) (jsonbody.Object, error) {
	if err := apierr.CheckJSON(body); err != nil {
		return nil, FromError(apierr.From(err))
	}
	fields, ok := jsonbody.ObjectIn(body)
	if !ok {
		return nil, &Error{Status: http.StatusBadRequest, Type: typeRequest, Code: "invalid_type", Message: "The body must be a JSON object, not " + rawjson.KindOf(body) + "."}
	}
	return fields, nil
}

func parseModel(v []byte) (string, error) {
	if rawjson.IsAbsent(v) {
		return "", refuse("missing_required_parameter", "model", "`model` is missing: name a model that GET /v1/models lists.")
	}
	model, ok := rawjson.String(v)
	if !ok {
		return "", wrongType("model", "a string", v)
	}
	if model == "" {
		return "", refuse("missing_required_parameter", "model", "`model` is empty: name a model that GET /v1/models lists.")
	}
	return model, nil
}

func parseStream(v []byte) (bool, error) {
	switch strings.TrimSpace(string(v)) {
	case "", "null", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, wrongType("stream", "true, false or left out", v)
}

// checkMessages looks for what this API has a word of its own for.
func checkMessages(v []byte) error {
	if rawjson.IsAbsent(v) {
		return refuse("missing_required_parameter", "messages", "`messages` is missing: send the conversation, the question last.")
	}
	messages, ok := rawjson.Items(v)
	if !ok {
		return wrongType("messages", "an array of messages", v)
	}
	for i, v := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		m, ok := jsonbody.ObjectIn(v)
		if !ok {
			return wrongType(path, "an object", v)
		}
		if rawjson.IsAbsent(m["role"]) {
			return refuse("missing_required_parameter", path+".role", "`"+path+".role` is missing.")
		}
		parts, ok := rawjson.Items(m["content"])
		if !ok {
			if err := checkContent(path+".content", m); err != nil {
				return err
			}
			continue
		}
		for j, v := range parts {
			part, _ := jsonbody.ObjectIn(v)
			if typ := part.Text("type"); slices.Contains(unsupportedParts, typ) {
				return unsupportedPart(fmt.Sprintf("%s.content[%d]", path, j), typ)
			}
		}
	}
	return nil
}

// checkContent checks the content of the message m, which is no array.
func checkContent(path string, m jsonbody.Object) error {
	v := m["content"]
	if _, ok := rawjson.String(v); ok {
		return nil
	}
	switch {
	case !rawjson.IsAbsent(v):
		return wrongType(path, "a string or an array of parts", v)
	case m.Text("role") == "assistant": // it may have calls alone
		return nil
	}
	return refuse("missing_required_parameter", path, "`"+path+"` is missing: it must be a string or an array of parts.")
}

// unsupportedParts are kinds of content that other servers take.
var unsupportedParts = []string{"input_image", "input_file", "audio", "video_url"}

func unsupportedPart(path, typ string) error {
	return refuse("unsupported_content_part", path, "`"+path+"` is a part of type `"+typ+"`, which is not supported: only text is.")
}

// Tokens returns how many tokens the answer may have, 0 where that is not said.
func (r *ChatRequest) Tokens() int {
	for _, name := range []string{"max_completion_tokens", "max_tokens"} {
		if n, err := strconv.Atoi(strings.TrimSpace(string(r.Chat.Fields[name]))); err == nil && n > 0 {
			return n
		}
	}
	return 0
}
