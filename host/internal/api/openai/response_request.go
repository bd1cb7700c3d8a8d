package openai

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// A ResponseRequest is a request for a response.
type ResponseRequest struct {
	Model    string // as the client named it
	Stream   bool
	Store    bool   // the client lets the response be kept
	Previous string // id of the response whose conversation goes on; empty: none
	// Searches are shown as items of the output, with what they found where
	// Results says so.
	Searches, Results bool
	// Sealed says that items of reasoning are to have encrypted content.
	Sealed bool

	fields   jsonbody.Object
	input    []json.RawMessage // items
	logprobs bool
	indexes  []string            // that file_search is to search; nil: all that may be
	mostHits int                 // that it is to find; 0: it does not say
	tools    []chat.Item         // functions
	names    map[string]toolName // of those that the client calls otherwise, by their names in tools
	echo     []json.RawMessage   // tools that count, as the response shows them
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

// States are the encrypted contents of the items that [ResponseRequest.Ask] met.
func (r *ResponseRequest) States() []SealedState { return r.states }

// Tokens returns how many tokens the answer may have, 0 where that is not said.
func (r *ResponseRequest) Tokens() int {
	n, _ := strconv.Atoi(strings.TrimSpace(string(r.fields["max_output_tokens"])))
	return max(n, 0)
}

// Input returns the items that the request adds to its conversation, with those
// that it refers to in place, and each with an id.
func (r *ResponseRequest) Input(kept Kept) []json.RawMessage {
	items := slices.Clone(r.input)
	for i, v := range items {
		o, _ := jsonbody.ObjectIn(v)
		if o.Text("type") == "item_reference" {
			if item, ok := kept.Item(o.Text("id")); ok {
				items[i] = item
			}
			continue
		}
		items[i] = wholeItem(o)
	}
	return items
}
