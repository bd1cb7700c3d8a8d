package openai

import (
	"encoding/json"
	"fmt"
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
