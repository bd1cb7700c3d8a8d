package chat

import (
	"encoding/json"
	"slices"
)

// A conversation is the request as each round has it: the client's, between
// the workspace's prompt in front and what host and model said since. There is no
// space between its parts: plugins need not walk over any. It lasts as long as
// its answer, and holds no part of the request's body.
type conversation struct {
	open   []byte // the object as far as its messages: `{…,"messages":[…`
	tools  []byte // the array's items; empty: no tools
	choice json.RawMessage
}

func newConversation(r *request, p Prompts, indexes []Index) conversation {
	fields, choice := r.fields, r.fields["tool_choice"]
	fields["stream"] = json.RawMessage("true")
	delete(fields, "tool_choice")
	tools := r.offered
	if len(indexes) > 0 {
		tools = append(slices.Clip(tools), searchTool(p, indexes))
	}
	// Providers refuse what is said of tools where there are none. A client
	// that sent none and yet speaks of them gets its provider's own answer.
	if len(tools) == 0 && r.askedTools || len(indexes) == 0 && chosenFunction(choice) == searchFunction {
		choice = nil
		delete(fields, "parallel_tool_calls")
	}
	var c conversation
	if choice != nil {
		c.choice = appendCompact(nil, choice)
	}
	for i, t := range tools {
		if i > 0 {
			c.tools = append(c.tools, ',')
		}
		c.tools = appendCompact(c.tools, t)
	}
	messages := r.messages
	if p.System != "" {
		prompt := object{"role": quote("system"), "content": quote(p.System)}.append(nil)
		messages = slices.Insert(messages, 0, prompt)
	}
	size := len(`{"messages":[`)
	for name, v := range fields {
		size += len(name) + len(v) + len(`"":,`)
	}
	for _, m := range messages {
		size += len(m) + 1
	}
	c.open = appendCompact(make([]byte, 0, size), fields.append(nil))
	c.open = append(c.open[:len(c.open)-1], `,"messages":[`...)
	for _, m := range messages {
		c.add(m)
	}
	return c
}

// add appends a message.
func (c *conversation) add(message []byte) {
	if c.open[len(c.open)-1] != '[' {
		c.open = append(c.open, ',')
	}
	c.open = appendCompact(c.open, message)
}

// body is the request of a round, counted from 0. It is a copy.
func (c *conversation) body(round int) []byte {
	choice := c.choice
	if round > 0 {
		choice = laterChoice(choice)
	}
	b := make([]byte, 0, len(c.open)+len(c.tools)+len(choice)+len(`],"tools":[],"tool_choice":}`))
	b = append(b, c.open...)
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
