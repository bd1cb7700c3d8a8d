package chat

import (
	"encoding/json"
	"slices"
)

// A conversation is the request as each round has it: the client's, between
// the workspace's prompt in front and what host and model said since. There is no
// space between its parts: plugins need not walk over any.
type conversation struct {
	fields   object // all but messages, tools and tool_choice
	messages []byte // joined by commas
	tools    []byte // the array's items; empty: no tools
	choice   json.RawMessage
}

func newConversation(r *request, p Prompts, indexes []Index) conversation {
	c := conversation{fields: r.fields, choice: r.fields["tool_choice"]}
	c.fields["stream"] = json.RawMessage("true")
	delete(c.fields, "tool_choice")
	if p.System != "" {
		c.add(object{"role": quote("system"), "content": quote(p.System)}.append(nil))
	}
	for _, m := range r.messages {
		c.add(m)
	}
	tools := r.tools.passed
	if len(indexes) > 0 {
		tools = append(slices.Clip(tools), searchTool(p, indexes))
	}
	for i, t := range tools {
		if i > 0 {
			c.tools = append(c.tools, ',')
		}
		c.tools = appendCompact(c.tools, t)
	}
	// Providers refuse what is said of tools where there are none. A client
	// that sent none and yet speaks of them gets its provider's own answer.
	if len(tools) == 0 && r.tools.asked || len(indexes) == 0 && chosenFunction(c.choice) == searchFunction {
		c.choice = nil
		delete(c.fields, "parallel_tool_calls")
	}
	return c
}

// add appends a message.
func (c *conversation) add(message []byte) {
	if len(c.messages) > 0 {
		c.messages = append(c.messages, ',')
	}
	c.messages = appendCompact(c.messages, message)
}

// body is the request of a round, counted from 0. It is a copy.
func (c *conversation) body(round int) []byte {
	choice := c.choice
	if round > 0 {
		choice = laterChoice(choice)
	}
	b := make([]byte, 0, len(c.messages)+len(c.tools)+1024)
	b = c.fields.append(b)
	b = append(b[:len(b)-1], `,"messages":[`...)
	b = append(b, c.messages...)
	b = append(b, ']')
	if len(c.tools) > 0 {
		b = append(b, `,"tools":[`...)
		b = append(b, c.tools...)
		b = append(b, ']')
	}
	if choice != nil {
		b = append(b, `,"tool_choice":`...)
		b = append(b, choice...)
	}
	return append(b, '}')
}
