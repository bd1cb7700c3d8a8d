package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// A ResponseRequest is a request for a response.
type ResponseRequest struct {
	Model    string // as the client named it
	Stream   bool
	Store    bool   // the client lets the response be kept
	Previous string // id of the response whose conversation goes on; empty: none
	// Indexes are those that file_search is to search; nil: all that may be.
	Indexes []string
	// MostHits is how much it is to find at most; 0: it does not say.
	MostHits int
	// Searches are shown as items of the output, with what they found where
	// Results says so.
	Searches, Results bool
	// Sealed says that items of reasoning are to have encrypted content.
	Sealed bool

	fields   object
	input    []json.RawMessage // items
	logprobs bool
	tools    []json.RawMessage // functions, as chat completions have them
	echo     []json.RawMessage // tools, as the response shows them
	from     map[int]string    // places of the messages that Body made
	states   []SealedState
}

// ParseResponse reads the body of a request for a response. The error is an
// [*Error].
func ParseResponse(body []byte) (*ResponseRequest, error) {
	fields, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	r := &ResponseRequest{fields: fields, Store: strings.TrimSpace(string(fields["store"])) != "false"}
	if r.Model, err = parseModel(fields["model"]); err != nil {
		return nil, err
	}
	if r.Stream, err = parseStream(fields["stream"]); err != nil {
		return nil, err
	}
	for _, name := range []string{"conversation", "prompt"} {
		if !rawjson.IsAbsent(fields[name]) {
			return nil, refuse("unsupported_parameter", name, "`"+name+"` is not supported: send the conversation in `input`, or name the response before it in `previous_response_id`.")
		}
	}
	if strings.TrimSpace(string(fields["background"])) == "true" {
		return nil, refuse("unsupported_parameter", "background", "`background` is not supported: leave it out, and wait for the response or stream it.")
	}
	if v := fields["previous_response_id"]; !rawjson.IsAbsent(v) {
		var ok bool
		if r.Previous, ok = rawjson.String(v); !ok {
			return nil, wrongType("previous_response_id", "a string", v)
		}
	}
	if err := r.parseInput(fields["input"]); err != nil {
		return nil, err
	}
	if err := r.parseTools(fields["tools"]); err != nil {
		return nil, err
	}
	include, _ := rawjson.Items(fields["include"])
	for _, v := range include {
		switch name, _ := rawjson.String(v); name {
		case "file_search_call.results":
			r.Searches, r.Results = true, true
		case "message.output_text.logprobs":
			r.logprobs = true
		case includeSealed:
			r.Sealed = true
		}
	}
	return r, nil
}

func (r *ResponseRequest) parseInput(v json.RawMessage) error {
	if text, ok := rawjson.String(v); ok {
		r.input = []json.RawMessage{encode(map[string]any{"type": "message", "role": "user", "content": []map[string]string{{"type": "input_text", "text": text}}})}
		return nil
	}
	items, ok := rawjson.Items(v)
	switch {
	case rawjson.IsAbsent(v) && r.Previous == "":
		return refuse("missing_required_parameter", "input", "`input` is missing: send a text, or the items of a conversation.")
	case rawjson.IsAbsent(v):
		return nil
	case !ok:
		return wrongType("input", "a string or an array of items", v)
	}
	r.input = items
	return nil
}

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
		tool, ok := objectIn(v)
		if !ok {
			return wrongType(path, "an object", v)
		}
		switch typ := tool.text("type"); typ {
		case "function":
			if tool.text("name") == "" {
				return refuse("missing_required_parameter", path+".name", "`"+path+".name` is missing: name the function.")
			}
			f := object{}
			for _, name := range []string{"name", "description", "parameters", "strict"} {
				if v := tool[name]; !rawjson.IsAbsent(v) {
					f[name] = v
				}
			}
			r.tools = append(r.tools, object{"type": quote("function"), "function": f.append(nil)}.append(nil))
			for _, name := range []string{"description", "parameters", "strict"} {
				if tool[name] == nil {
					tool[name] = json.RawMessage("null")
				}
			}
			r.echo = append(r.echo, tool.append(nil))
		case "file_search":
			r.Searches = true
			ids, _ := rawjson.Items(tool["vector_store_ids"])
			for _, v := range ids {
				if uid, ok := rawjson.String(v); ok {
					r.Indexes = append(r.Indexes, uid)
				}
			}
			if err := r.parseMost(path, tool["max_num_results"]); err != nil {
				return err
			}
			r.echo = append(r.echo, v)
		default:
			return refuse("unsupported_tool", path+".type", "`"+path+".type` is `"+typ+"`, which is not supported: only `function` and `file_search` are.")
		}
	}
	return nil
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
	r.MostHits = n
	return nil
}

// A Lookup returns the stored item called id, or false.
type Lookup func(id string) (item json.RawMessage, ok bool)

// Body returns the request for the provider's model, which may be empty, of a
// source, as package chat takes it. history are the items of the conversation so
// far.
func (r *ResponseRequest) Body(history []json.RawMessage, lookup Lookup, model, source string) ([]byte, error) {
	var m messages
	if text := r.fields.text("instructions"); text != "" {
		m.add("instructions", "system", quote(text))
	}
	m.kept = true
	for i, item := range history {
		if err := m.item(fmt.Sprintf("history[%d]", i), item, lookup); err != nil {
			return nil, err
		}
	}
	m.kept = false
	for i, item := range r.input {
		if err := m.item(fmt.Sprintf("input[%d]", i), item, lookup); err != nil {
			return nil, err
		}
	}
	if len(m.list) == 0 {
		return nil, refuse("missing_required_parameter", "input", "`input` has no message: send a text, or the items of a conversation.")
	}
	body := object{"messages": array(m.done())}
	r.from, r.states = m.from, m.states
	if model != "" {
		body["model"] = quote(model)
	}
	for to, from := range map[string]string{
		"parallel_tool_calls": "parallel_tool_calls", "temperature": "temperature", "top_p": "top_p", "top_logprobs": "top_logprobs",
		"max_completion_tokens": "max_output_tokens", "metadata": "metadata", "user": "user",
	} {
		if v := r.fields[from]; !rawjson.IsAbsent(v) {
			body[to] = v
		}
	}
	if source != "openAi" && source != "azureOpenAi" {
		delete(body, "metadata")
		delete(body, "user")
	}
	if r.logprobs || body["top_logprobs"] != nil && string(body["top_logprobs"]) != "0" {
		body["logprobs"] = json.RawMessage("true")
	} else {
		delete(body, "top_logprobs")
	}
	if len(r.tools) > 0 {
		body["tools"] = array(r.tools)
	} else {
		delete(body, "parallel_tool_calls")
	}
	reasoning, _ := objectIn(r.fields["reasoning"])
	if v := reasoning["effort"]; !rawjson.IsAbsent(v) {
		body["reasoning_effort"] = v
	}
	if err := r.choice(body); err != nil {
		return nil, err
	}
	if err := r.format(body); err != nil {
		return nil, err
	}
	return body.append(nil), nil
}

// choice translates tool_choice, which is flat here.
func (r *ResponseRequest) choice(body object) error {
	v := r.fields["tool_choice"]
	if rawjson.IsAbsent(v) {
		return nil
	}
	if _, ok := rawjson.String(v); ok {
		body["tool_choice"] = v
		return nil
	}
	choice, ok := objectIn(v)
	if !ok {
		return wrongType("tool_choice", "a string or an object", v)
	}
	switch typ := choice.text("type"); typ {
	case "function":
		body["tool_choice"] = object{"type": quote("function"), "function": object{"name": quote(choice.text("name"))}.append(nil)}.append(nil)
	case "file_search": // the search is the host's to offer
	default:
		return refuse("unsupported_value", "tool_choice", "`tool_choice` of type `"+typ+"` is not supported: send auto, none, required, or a function.")
	}
	return nil
}

// format translates text.format.
func (r *ResponseRequest) format(body object) error {
	text, _ := objectIn(r.fields["text"])
	if v := text["verbosity"]; !rawjson.IsAbsent(v) {
		body["verbosity"] = v
	}
	format, _ := objectIn(text["format"])
	switch typ := format.text("type"); typ {
	case "", "text":
	case "json_object":
		body["response_format"] = text["format"]
	case "json_schema":
		schema := object{}
		for _, name := range []string{"name", "schema", "strict", "description"} {
			if v := format[name]; !rawjson.IsAbsent(v) {
				schema[name] = v
			}
		}
		body["response_format"] = object{"type": quote("json_schema"), "json_schema": schema.append(nil)}.append(nil)
	default:
		return refuse("unsupported_value", "text.format.type", "`text.format.type` is `"+typ+"`: it must be text, json_object or json_schema.")
	}
	return nil
}

// Said is where in the request the message at an index of [ResponseRequest.Body]
// stands.
func (r *ResponseRequest) Said(index int) string { return r.from[index] }

// States are the encrypted contents of the items that [ResponseRequest.Body] met.
func (r *ResponseRequest) States() []SealedState { return r.states }

// Tokens returns how many tokens the answer may have, 0 where that is not said.
func (r *ResponseRequest) Tokens() int {
	n, _ := strconv.Atoi(strings.TrimSpace(string(r.fields["max_output_tokens"])))
	return max(n, 0)
}

// Input returns the items that the request adds to its conversation, with those
// that it refers to in place, and each with an id.
func (r *ResponseRequest) Input(lookup Lookup) []json.RawMessage {
	items := slices.Clone(r.input)
	for i, v := range items {
		o, _ := objectIn(v)
		if o.text("type") == "item_reference" {
			if item, ok := lookup(o.text("id")); ok {
				items[i] = item
			}
			continue
		}
		items[i] = wholeItem(o)
	}
	return items
}

// array returns items as a JSON array.
func array(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, v := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v...)
	}
	return append(b, ']')
}

// unknownItem is the error for an item_reference to what is not kept.
func unknownItem(path, id string) *Error {
	return &Error{
		Status: http.StatusNotFound, Type: typeRequest, Code: "item_not_found", Param: path + ".id",
		Message: "Item with id `" + id + "` not found: it has expired or was never kept. Send the item itself.",
	}
}
