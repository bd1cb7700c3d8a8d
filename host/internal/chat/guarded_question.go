package chat

import (
	"bytes"
	"encoding/json"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// itemKinds are the kinds of items by role.
var itemKinds = map[string]uint32{"system": abi.ItemSystem, "developer": abi.ItemSystem, "user": abi.ItemUser, "assistant": abi.ItemAssistant, "tool": abi.ItemTool}

// guardQuestion takes the texts of messages through the guards, and puts what they make
// of them in their place.
func (g *guarded) guardQuestion(messages []Item) error {
	if !g.hasStage(abi.StageQuestion) {
		return nil
	}
	var q questionTexts
	for i, m := range messages {
		q.read(i, m.JSON)
	}
	was := make([][]byte, len(q.items))
	for i := range q.items {
		was[i] = q.items[i].Text
	}
	if _, err := g.Whole(g.ctx, abi.StageQuestion, q.items); err != nil {
		return err
	}
	for i := range q.items {
		if !bytes.Equal(was[i], q.items[i].Text) {
			q.put[i](string(q.items[i].Text))
		}
	}
	for i, write := range q.write {
		messages[i].JSON = write()
	}
	return nil
}

// questionTexts are the texts of messages.
type questionTexts struct {
	items []abi.Item
	put   []func(text string)            // in the place of an item
	write map[int]func() json.RawMessage // messages with other texts, by their place
}

func (q *questionTexts) add(kind uint32, text string, put func(text string)) {
	if text != "" {
		q.items, q.put = append(q.items, abi.Item{Kind: kind, Text: []byte(text)}), append(q.put, put)
	}
}

// read finds the texts of the message at i.
func (q *questionTexts) read(i int, message json.RawMessage) {
	m, ok := jsonbody.ObjectOf(message)
	if !ok {
		return
	}
	role, _ := rawjson.String(m["role"])
	kind := itemKinds[role]
	set := func(name string, value func() json.RawMessage) {
		before := q.write[i]
		if q.write == nil {
			q.write = map[int]func() json.RawMessage{}
		}
		q.write[i] = func() json.RawMessage {
			if before != nil {
				before()
			}
			m[name] = value()
			return m.Append(nil)
		}
	}
	for name, kind := range map[string]uint32{"content": kind, "refusal": kind, "reasoning_content": abi.ItemReasoning, "reasoning": abi.ItemReasoning} {
		if text, ok := rawjson.String(m[name]); ok {
			q.add(kind, text, func(text string) { set(name, func() json.RawMessage { return jsonbody.Quote(text) }) })
		}
	}
	if parts, ok := jsonbody.ArrayOf(m["content"]); ok {
		for n, v := range parts {
			part, _ := jsonbody.ObjectOf(v)
			for _, name := range []string{"text", "refusal"} {
				if text, ok := rawjson.String(part[name]); ok {
					q.add(kind, text, func(text string) {
						part[name] = jsonbody.Quote(text)
						parts[n] = part.Append(nil)
						set("content", func() json.RawMessage { return rawjson.Array(parts) })
					})
				}
			}
		}
	}
	calls, _ := jsonbody.ArrayOf(m["tool_calls"])
	for n, v := range calls {
		call, _ := jsonbody.ObjectOf(v)
		f, _ := jsonbody.ObjectOf(call["function"])
		arguments, ok := rawjson.String(f["arguments"])
		if !ok {
			continue
		}
		texts := guard.Texts([]byte(arguments))
		for t := range texts {
			q.add(abi.ItemArguments, string(texts[t]), func(text string) {
				texts[t] = []byte(text)
				f["arguments"] = jsonbody.Quote(string(guard.WithTexts([]byte(arguments), texts)))
				call["function"] = f.Append(nil)
				calls[n] = call.Append(nil)
				set("tool_calls", func() json.RawMessage { return rawjson.Array(calls) })
			})
		}
	}
}
