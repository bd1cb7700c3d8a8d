package chat

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/chat/workspace"
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
	format   json.RawMessage // that the last round alone asks for; nil: fields have it, if any
	answered bool            // the last message is the answer that gets that format
	prompts  *workspace.PromptTexts
	system   string      // of system messages that were moved behind the prompt
	first    bool        // they are: the model takes one, at the beginning
	indexes  []Index     // none: nothing to search
	before   *beforehand // the model has no tools; nil: it has
}

// newConversation begins the conversation of a request, with a model that lacks
// something.
func newConversation(r *request, p *workspace.PromptTexts, indexes []Index, lacks lack) conversation {
	c := conversation{prompts: p, indexes: indexes}
	if lacks&lacksTools != 0 {
		c.before = &beforehand{}
		r.offered = nil
	}
	fields, choice := r.fields, r.fields["tool_choice"]
	fields["stream"] = json.RawMessage("true")
	delete(fields, "tool_choice")
	// Providers refuse what is said of tools where there are none. A client
	// that sent none and yet speaks of them gets its provider's own answer.
	none := len(r.offered) == 0 && (len(indexes) == 0 || c.before != nil)
	if none && (r.askedTools || c.before != nil) || len(indexes) == 0 && chosenFunction(choice) == searchFunction {
		choice = nil
		delete(fields, "parallel_tool_calls")
	}
	if choice != nil {
		c.choice = rawjson.AppendCompact(nil, choice)
	}
	c.fields = rawjson.AppendCompact(nil, fields.Append(nil))
	c.fields = c.fields[:len(c.fields)-1]
	if lacks&lacksFormatWithTools != 0 && !none {
		c.deferFormat()
	}
	size := 0
	for _, m := range r.messages {
		size += len(m.JSON) + 1
	}
	c.messages = make([]byte, 0, size)
	for _, m := range r.messages {
		c.addMessage(tidied(m.JSON))
	}
	c.rename(lacks)
	for _, t := range r.offered {
		c.tools = appendItem(c.tools, t)
	}
	return c
}

// moveTo has other rules hold for what is left of c, which fresh was made by. What one
// provider alone knows is left out of its messages.
func (c *conversation) moveTo(fresh conversation) {
	c.fields, c.tools, c.choice, c.format = fresh.fields, fresh.tools, fresh.choice, fresh.format
	c.messages = plain(c.messages)
	if fresh.first {
		c.joinSystems()
	}
	if c.before == nil || fresh.before == nil {
		c.before = fresh.before
	}
}

// deferFormat has the last round alone ask for the format, and reports whether there is one
// that all rounds would ask for.
func (c *conversation) deferFormat() bool {
	fields, _ := jsonbody.ObjectOf(append(slices.Clip(c.fields), '}'))
	format := fields["response_format"]
	if !asksFormat(format) {
		return false
	}
	c.format = rawjson.AppendCompact(nil, format)
	delete(fields, "response_format")
	c.fields = fields.Append(nil)
	c.fields = c.fields[:len(c.fields)-1]
	return true
}

// rename asks otherwise for the parameters that a model lacks, and reports whether there
// was one.
func (c *conversation) rename(lacks lack) (changed bool) {
	if lacks&renamed == 0 {
		return false
	}
	fields, _ := jsonbody.ObjectOf(append(slices.Clip(c.fields), '}'))
	if lacks&lacksStreamOptions != 0 && (fields["stream_options"] == nil || !rawjson.IsNull(fields["stream_options"])) {
		fields["stream_options"], changed = json.RawMessage("null"), true
	}
	for what, names := range map[lack][2]string{lacksMaxTokens: {"max_tokens", "max_completion_tokens"}, lacksMaxCompletion: {"max_completion_tokens", "max_tokens"}} {
		if v := fields[names[0]]; lacks&what != 0 && v != nil {
			delete(fields, names[0])
			fields[names[1]], changed = v, true
		}
	}
	if changed {
		c.fields = fields.Append(nil)
		c.fields = c.fields[:len(c.fields)-1]
	}
	if lacks&lacksSystems != 0 && c.joinSystems() {
		changed = true
	}
	return c.renameReasoning(lacks) || changed
}

// renameReasoning gives the reasoning in messages its other name, leaves it out, or puts a
// blank where there is none: providers that want reasoning refuse an empty one, too.
func (c *conversation) renameReasoning(lacks lack) (changed bool) {
	if lacks&ofReasoning == 0 {
		return false
	}
	items, _ := jsonbody.ArrayOf(slices.Concat([]byte{'['}, c.messages, []byte{']'}))
	c.messages = c.messages[:0:0]
	for _, v := range items {
		m, _ := jsonbody.ObjectOf(v)
		before, text := len(m), m["reasoning_content"]
		switch {
		case lacks&(lacksContent|lacksReasoning) == 0:
			if m.Text("role") == "assistant" && m.Text("reasoning_content") == "" {
				m["reasoning_content"] = jsonbody.Quote(cmp.Or(m.Text("reasoning"), " "))
				v, changed = m.Append(nil), true
			}
			c.messages = appendItem(c.messages, v)
			continue
		case lacks&lacksReasoning != 0:
			delete(m, "reasoning")
			delete(m, "reasoning_details")
		case text != nil && m["reasoning"] == nil:
			m["reasoning"] = text
		}
		delete(m, "reasoning_content")
		if text != nil || len(m) < before {
			v, changed = m.Append(nil), true
		}
		c.messages = appendItem(c.messages, v)
	}
	return changed
}

// joinSystems moves the texts of all system messages behind the prompt, into the one
// message that a model takes, and reports whether there were some.
func (c *conversation) joinSystems() (changed bool) {
	c.first = true
	items, _ := jsonbody.ArrayOf(slices.Concat([]byte{'['}, c.messages, []byte{']'}))
	c.messages = c.messages[:0:0]
	for _, v := range items {
		m, _ := jsonbody.ObjectOf(v)
		if role := m.Text("role"); role != "system" && role != "developer" {
			c.messages = appendItem(c.messages, v)
			continue
		}
		changed = true
		c.system = joinTexts(c.system, string(textIn(m["content"])))
	}
	return changed
}

// joinTexts puts two texts below each other, either of which may be empty.
func joinTexts(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "\n\n" + more
}

// addMessage appends a message.
func (c *conversation) addMessage(message []byte) { c.messages = appendItem(c.messages, message) }

// questions returns the text of the user's last message and of the one before it that names its subject, see
// [leansOnBefore]: the one right before where none does. Empty where there is none.
func (c *conversation) questions() (last, before string) {
	messages, _ := jsonbody.ArrayOf(slices.Concat([]byte{'['}, c.messages, []byte{']'}))
	for _, m := range slices.Backward(messages) {
		o, _ := jsonbody.ObjectOf(m)
		if role, _ := rawjson.String(o["role"]); role != "user" {
			continue
		}
		text, whole := rawjson.String(o["content"])
		if !whole {
			parts, _ := jsonbody.ArrayOf(o["content"])
			for _, p := range parts {
				o, _ := jsonbody.ObjectOf(p)
				part, _ := rawjson.String(o["text"])
				text += part
			}
		}
		switch {
		case last == "":
			last = text
		case !leansOnBefore(text):
			return last, text
		case before == "":
			before = text
		}
	}
	return last, before
}

// appendItem appends an item of an array, which has none yet where b is empty.
func appendItem(b, item []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return rawjson.AppendCompact(b, item)
}

// asksFormat reports whether a response_format asks for more than text.
func asksFormat(v json.RawMessage) bool {
	o, ok := jsonbody.ObjectOf(v)
	typ, _ := rawjson.String(o["type"])
	return ok && typ != "text"
}

// lacksOf is what a model that l asks cannot do: as the manifest and the workspace
// say, and as its provider has refused the caller before.
func (d *Deps) lacksOf(l link, model string, caller *auth.Caller) lack {
	lacks := d.learnt.of(l.modelAt(model, caller))
	if l.manifest.FormatWithTools == "no" && !workspace.MatchesModel(l.manifest.FormatModels, model) {
		lacks |= lacksFormatWithTools
	}
	if l.workspace.NoTools {
		lacks |= lacksTools
	}
	return lacks
}

// lastWords ask for an answer where there are no tools any more.
const lastWords = "You cannot search or call functions any more. Answer now, with what was found so far; say so where it is not enough."

// formatWords ask for an answer once more, in its format.
const formatWords = "Give this answer in the format that was asked for, and nothing else."

// roundBody is the request of a round, counted from 0. The last one offers no tools, and
// asks for an answer. It is a copy.
func (c *conversation) roundBody(round int, last bool) []byte {
	prompts, tools := c.prompts.Effective(), c.tools
	prompts.System = joinTexts(prompts.System, c.system)
	switch {
	case c.before != nil:
		prompts.System = joinTexts(prompts.System, string(c.before.found))
	case last && !c.answered:
		prompts.System = joinTexts(prompts.System, lastWords)
	}
	if last || c.before != nil {
		tools = nil
	} else if len(c.indexes) > 0 {
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
	if c.answered {
		b = append(rawjson.AppendString(append(b, `,{"role":"user","content":`...), formatWords), '}')
	}
	b = append(b, ']')
	if last && c.format != nil {
		b = append(append(b, `,"response_format":`...), c.format...)
	}
	if len(tools) > 0 {
		b = append(b, `,"tools":[`...)
		b = append(b, tools...)
		b = append(b, ']')
	}
	choice := c.choice
	if last || c.before != nil {
		choice = nil
	} else if round > 0 {
		choice = laterChoice(choice)
	}
	if choice != nil {
		b = append(b, `,"tool_choice":`...)
		b = append(b, choice...)
	}
	return append(b, '}')
}
