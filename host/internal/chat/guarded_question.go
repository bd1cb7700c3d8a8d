package chat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
	"github.com/parley-search/parley/host/internal/plugin/guard"
)

// itemKinds are the kinds of items by role.
var itemKinds = map[string]uint32{"system": abi.ItemSystem, "developer": abi.ItemSystem, "user": abi.ItemUser, "assistant": abi.ItemAssistant, "tool": abi.ItemTool}

// textMembers are the members of a message, at any depth and in any case, in which people and
// models write. Those with true are reasoning.
var textMembers = map[string]bool{
	"content": false, "text": false, "refusal": false, "title": false, "context": false, "filename": false, "caption": false, "alt": false,
	"description": false, "transcript": false, "quote": false, "cited_text": false,
	"reasoning_content": true, "reasoning": true, "summary": true, "thinking": true,
}

// chosenFields are the fields of a request whose strings are names, choices or schemas.
var chosenFields = []string{
	"model", "tools", "tool_choice", "functions", "function_call", "response_format", "stream_options", "reasoning_effort", "reasoning", "thinking", "verbosity",
	"modalities", "audio", "service_tier", "truncation", "include",
}

// guardQuestion takes the texts of messages through the guards, and those of the other
// fields of a request, and puts what they make of them in their place; of fields also in
// spare's, where it is not nil.
func (g *guarded) guardQuestion(messages []Item, fields jsonbody.Object, spare *Request) error {
	if !g.hasStage(abi.StageQuestion) {
		return nil
	}
	var q questionTexts
	for i := range messages {
		q.addMessage(messages[i].JSON, func(b json.RawMessage) { messages[i].JSON = b })
	}
	for _, name := range jsonbody.SortedKeys(fields) {
		if v := bytes.TrimSpace(fields[name]); len(v) > 0 && strings.IndexByte(`"[{`, v[0]) >= 0 && !slices.Contains(chosenFields, name) {
			q.addField(v, func(b json.RawMessage) {
				fields[name] = b
				if spare != nil && spare.Fields[name] != nil {
					spare.Fields[name] = b
				}
			})
		}
	}
	was := make([][]byte, len(q.items))
	for i := range q.items {
		was[i] = q.items[i].Text
	}
	if _, err := g.Whole(g.ctx, abi.StageQuestion, q.items); err != nil {
		return err
	}
	for _, d := range q.docs {
		if !slices.EqualFunc(q.items[d.first:d.end], was[d.first:d.end], func(a abi.Item, b []byte) bool { return bytes.Equal(a.Text, b) }) {
			d.put(d.with(q.items[d.first:d.end]))
		}
	}
	return nil
}

// questionTexts are the texts of a request.
type questionTexts struct {
	items []abi.Item
	docs  []guardedDoc
}

// A guardedDoc is a message or a field of a request with the texts that guards see of it.
type guardedDoc struct {
	doc        []byte
	leaves     []guard.Leaf
	first, end int      // its items
	inner      [][]byte // of a leaf: the arguments that it has as JSON; nil: it is the text
	named      int      // the leaf that is the sender's name; -1: there is none
	put        func(json.RawMessage)
}

// addMessage adds the texts of a message.
func (q *questionTexts) addMessage(message json.RawMessage, put func(json.RawMessage)) {
	m, ok := jsonbody.ObjectOf(message)
	if !ok {
		return
	}
	role := m.Text("role")
	d := guardedDoc{doc: message, first: len(q.items), named: -1, put: put}
	for _, l := range guard.LeavesOf(message) {
		if !l.IsString(message) {
			continue
		}
		name := strings.ToLower(l.Member())
		reasoning, isText := textMembers[name]
		switch {
		case name == "arguments":
			arguments := l.Text(message)
			d.leaves, d.inner = append(d.leaves, l), append(d.inner, arguments)
			for _, text := range guard.Texts(arguments) {
				q.items = append(q.items, abi.Item{Kind: abi.ItemArguments, Text: text})
			}
		case name == "name" && l.Depth == 1 && role != "tool":
			d.named = len(d.leaves)
			q.addText(&d, itemKinds[role], l)
		case isText:
			kind := itemKinds[role]
			if reasoning {
				kind = abi.ItemReasoning
			}
			q.addText(&d, kind, l)
		}
	}
	q.addDoc(d)
}

// addField adds the texts of a field that is a string, an object or an array.
func (q *questionTexts) addField(v json.RawMessage, put func(json.RawMessage)) {
	d := guardedDoc{doc: v, first: len(q.items), named: -1, put: put}
	for _, l := range guard.LeavesOf(v) {
		if l.IsString(v) {
			q.addText(&d, abi.ItemUser, l)
		}
	}
	q.addDoc(d)
}

func (q *questionTexts) addText(d *guardedDoc, kind uint32, l guard.Leaf) {
	if text := l.Text(d.doc); len(text) > 0 {
		d.leaves, d.inner = append(d.leaves, l), append(d.inner, nil)
		q.items = append(q.items, abi.Item{Kind: kind, Text: text})
	}
}

func (q *questionTexts) addDoc(d guardedDoc) {
	if d.end = len(q.items); d.end > d.first {
		q.docs = append(q.docs, d)
	}
}

// with is the document with what guards made of its texts. A name that they changed is
// left out: providers take few characters there, and the name is for nobody but them.
func (d *guardedDoc) with(items []abi.Item) json.RawMessage {
	texts := make([][]byte, len(d.leaves))
	unnamed := false
	for i, arguments := range d.inner {
		n := 1
		if arguments == nil {
			texts[i] = items[0].Text
			unnamed = unnamed || i == d.named && !bytes.Equal(texts[i], d.leaves[i].Text(d.doc))
		} else {
			inner := guard.Texts(arguments)
			if n = len(inner); n > 0 {
				for t := range inner {
					inner[t] = items[t].Text
				}
				arguments = guard.WithTexts(arguments, inner)
			}
			texts[i] = arguments
		}
		items = items[n:]
	}
	doc := guard.WithLeaves(d.doc, d.leaves, texts)
	if unnamed {
		m, _ := jsonbody.ObjectOf(doc)
		delete(m, "name")
		return m.Append(nil)
	}
	return doc
}
