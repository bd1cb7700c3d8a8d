package chat

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/rawjson"
)

// A conversation is the request as each round has it: the client's, with the
// workspace's prompt in front, the search among the tools, and what host and model
// said since. It lasts as long as its answer, and ten thousand of them do: it
// holds no part of the request's body, and makes what other answers say alike
// anew for each round.
//
// There is no space between the parts of what it says: plugins need not walk over
// any.
type conversation struct {
	fields   []byte // `{…`: all but what follows, without the closing brace
	messages []byte // the array's items
	tools    []byte // the client's, in the same way
	choice   json.RawMessage
	prompts  *workspace.PromptTexts
	indexes  []Index // none: nothing to search
}

func newConversation(r *request, p *workspace.PromptTexts, indexes []Index) conversation {
	c := conversation{prompts: p, indexes: indexes}
	fields, choice := r.fields, r.fields["tool_choice"]
	fields["stream"] = json.RawMessage("true")
	delete(fields, "tool_choice")
	// Providers refuse what is said of tools where there are none. A client
	// that sent none and yet speaks of them gets its provider's own answer.
	none := len(r.offered) == 0 && len(indexes) == 0
	if none && r.askedTools || len(indexes) == 0 && chosenFunction(choice) == searchFunction {
		choice = nil
		delete(fields, "parallel_tool_calls")
	}
	if choice != nil {
		c.choice = rawjson.AppendCompact(nil, choice)
	}
	c.fields = rawjson.AppendCompact(nil, fields.Append(nil))
	c.fields = c.fields[:len(c.fields)-1]
	size := 0
	for _, m := range r.messages {
		size += len(m) + 1
	}
	c.messages = make([]byte, 0, size)
	for _, m := range r.messages {
		c.add(m)
	}
	for _, t := range r.offered {
		c.tools = appendItem(c.tools, t)
	}
	return c
}

// add appends a message.
func (c *conversation) add(message []byte) { c.messages = appendItem(c.messages, message) }

// appendItem appends an item of an array, which has none yet where b is empty.
func appendItem(b, item []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return rawjson.AppendCompact(b, item)
}

// body is the request of a round, counted from 0. It is a copy.
func (c *conversation) body(round int) []byte {
	prompts, tools := c.prompts.Effective(), c.tools
	if len(c.indexes) > 0 {
		tools = appendItem(tools[:len(tools):len(tools)], searchTool(prompts, c.indexes))
	}
	b := make([]byte, 0, len(c.fields)+len(prompts.System)+len(c.messages)+len(tools)+len(c.choice)+256)
	b = append(b, c.fields...)
	b = append(b, `,"messages":[`...)
	if prompts.System != "" {
		b = rawjson.AppendString(append(b, `{"content":`...), prompts.System)
		b = append(b, `,"role":"system"},`...) // one message there is
	}
	b = append(b, c.messages...)
	b = append(b, ']')
	if len(tools) > 0 {
		b = append(b, `,"tools":[`...)
		b = append(b, tools...)
		b = append(b, ']')
	}
	choice := c.choice
	if round > 0 {
		choice = laterChoice(choice)
	}
	if choice != nil {
		b = append(b, `,"tool_choice":`...)
		b = append(b, choice...)
	}
	return append(b, '}')
}
