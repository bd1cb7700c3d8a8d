// Package turns walks through a conversation in the form of most APIs that are not
// OpenAI's: instructions apart, user and assistant in turns, the user first, and the
// results of an assistant's calls in the user's turn behind them, each call with one.
package turns

import (
	"strconv"
	"strings"

	"github.com/parley-search/parley/sdk/provider"
	"github.com/parley-search/parley/sdk/rawjson"
)

// A Kind is what a [Part] is.
type Kind int

// The kinds of part.
const (
	System Kind = iota // an instruction, which belongs to no turn
	Text               // of the user or the assistant
	Media              // of the user: a content part that is no text
	Call               // of the assistant
	Result             // of the user: the answer to a call
)

// A Part is a piece of the conversation. Its slices are parts of the request.
type Part struct {
	Kind Kind
	// User says whose turn the part belongs to: the user's, or the assistant's. New: the
	// turn begins with it.
	User, New bool
	// Text is that of System, Text and Result. It is never blank; but a Result has none
	// where nobody answered the call.
	Text string
	// ID is that of a Call, and of the call that a Result is for; Name its function's.
	ID, Name string
	// Value is a Call's arguments, an object, or a Media's content part.
	Value rawjson.Value
	// Carried, of the first part of an assistant's message, is what Decode carried of it.
	Carried []byte
	// At is where a Media stands, for errors: messages[2].content[1].
	At string
}

// A Walker goes from part to part. The zero value has none; see [Of].
type Walker struct {
	Part Part // the one that Next found

	messages rawjson.Items
	carried  provider.CarryMatch
	kept     []byte // of the message under way, for its first part
	parts    []Part // of the message under way
	at       int
	index    int // of the message
	begun    bool
	user     bool // whose turn it is
	calls    []Part
	ended    bool
	err      error
}

// Of walks through the messages of r.
func (w *Walker) Of(r *provider.Request) {
	messages := r.Chat.Get("messages")
	*w = Walker{messages: messages.Items(), carried: r.MatchCarry(messages), parts: w.parts[:0], calls: w.calls[:0], index: -1}
}

// Next goes to the next part. It returns false at the end, and where a message cannot be
// read: see Err.
func (w *Walker) Next() bool {
	for w.at == len(w.parts) {
		w.parts, w.at = w.parts[:0], 0
		if w.err != nil || w.ended {
			return false
		}
		w.read()
	}
	w.Part = w.parts[w.at]
	w.at++
	return true
}

// Err is why the walk ended early, for Encode to return; nil: it did not.
func (w *Walker) Err() error { return w.err }

// read makes parts of the next message, or of the end.
func (w *Walker) read() {
	if !w.messages.Next() {
		w.ended = true
		w.settle()
		if !w.begun { // instructions alone are the question
			w.text(true, ".")
		}
		return
	}
	w.index++
	m := w.messages.Value
	content := m.Get("content")
	switch m.Get("role").String() {
	case "system", "developer":
		if text := textOf(content); !isBlank(text) {
			w.parts = append(w.parts, Part{Kind: System, Text: text})
		}
	case "user":
		w.settle()
		w.content(content)
	case "assistant":
		w.settle()
		w.kept = w.carried.Next(m)
		w.text(false, textOf(content)+m.Get("refusal").String())
		for it := m.Get("tool_calls").Items(); it.Next(); {
			f := it.Value.Get("function")
			c := Part{Kind: Call, ID: it.Value.Get("id").String(), Name: f.Get("name").String(), Value: Arguments(f.Get("arguments"))}
			w.calls = append(w.calls, c)
			w.add(c)
		}
		w.kept = nil
	case "tool":
		w.result(m.Get("tool_call_id").String(), textOf(content))
	default:
		w.err = provider.Refuse(w.place() + ".role` is none that this provider can be given: use system, developer, user, assistant or tool")
	}
}

// place begins what a client calls the message under way.
func (w *Walker) place() string { return "`messages[" + strconv.Itoa(w.index) + "]" }

// add takes a part of a turn.
func (w *Walker) add(p Part) {
	if !w.begun && !p.User { // the user is first
		w.begun, w.user = true, true
		w.parts = append(w.parts, Part{Kind: Text, User: true, New: true, Text: "."})
	}
	p.New, p.Carried, w.kept = !w.begun || p.User != w.user, w.kept, nil
	w.begun, w.user = true, p.User
	w.parts = append(w.parts, p)
}

func (w *Walker) text(user bool, text string) {
	if !isBlank(text) {
		w.add(Part{Kind: Text, User: user, Text: text})
	}
}

// content adds what a user's message holds.
func (w *Walker) content(v rawjson.Value) {
	if v.Kind() == rawjson.String {
		w.text(true, v.String())
		return
	}
	for it, j := v.Items(), 0; it.Next(); j++ {
		if text := it.Value.Get("text"); text.Kind() == rawjson.String {
			w.text(true, text.String())
			continue
		}
		w.add(Part{Kind: Media, User: true, Value: it.Value, At: w.place()[1:] + ".content[" + strconv.Itoa(j) + "]"})
	}
}

// result adds the answer to a call that waits for one.
func (w *Walker) result(id, text string) {
	for i, c := range w.calls {
		if c.ID == id {
			w.calls = append(w.calls[:i], w.calls[i+1:]...)
			if isBlank(text) {
				text = ""
			}
			w.add(Part{Kind: Result, User: true, Text: text, ID: id, Name: c.Name})
			return
		}
	}
	w.err = provider.Refuse(w.place() + ".tool_call_id` is that of no call which waits for its answer: send it once, after the assistant's message with the call")
}

// settle answers the calls that nobody did.
func (w *Walker) settle() {
	for _, c := range w.calls {
		w.add(Part{Kind: Result, User: true, ID: c.ID, Name: c.Name})
	}
	w.calls = w.calls[:0]
}

// Arguments returns the arguments of a call as an object, an empty one where they are none.
func Arguments(v rawjson.Value) rawjson.Value {
	if v.Kind() == rawjson.String {
		v, _ = rawjson.Parse([]byte(v.String()))
	}
	if v.Kind() != rawjson.Object {
		return rawjson.Value("{}")
	}
	return v
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// textOf returns the text of a content: a string, or the text parts of a list, joined.
func textOf(content rawjson.Value) string {
	if content.Kind() == rawjson.String {
		return content.String()
	}
	var b strings.Builder
	for it := content.Items(); it.Next(); {
		b.WriteString(it.Value.Get("text").String())
	}
	return b.String()
}
