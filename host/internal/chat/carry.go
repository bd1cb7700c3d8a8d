package chat

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/chat/jsonbody"
)

// maxCarried bounds, in bytes, what a plugin is given of answers before this one:
// its memory is small.
const maxCarried = 2 << 20

// A Carry is what an answer's last round left for the plugin. The answer that goes
// on from there wants it back, see [Request.Carries].
type Carry struct {
	By    string   `json:"by"`    // plugin, version and model: for no other to read
	Calls []string `json:"calls"` // ids of the client's calls that the round made
	Bytes []byte   `json:"-"`     // the plugin's; none: it wants nothing back
	// Texts are hashes of the texts that the client may have for the message of a round
	// without calls: the round's, and the whole answer's.
	Texts []uint64 `json:"texts,omitempty"`
	// Message is the round's, with those calls, where the provider said of them more
	// than a client sends back; else nothing.
	Message json.RawMessage `json:"message,omitempty"`
	// Details, of a request with Seal, is c itself as a client sends it back in a message:
	// a list of reasoning_details.
	Details json.RawMessage `json:"-"`
	// Guards are the states of the answer's guards.
	Guards map[string][]byte `json:"guards,omitempty"`
}

// Needed reports whether the next answer lacks something without c.
func (c *Carry) Needed() bool { return len(c.Bytes) > 0 || c.Message != nil || c.Guards != nil }

// by names who makes carries with m for a model, and reads them.
func by(m *abi.Manifest, model string) string { return m.Name + " " + m.Version + " " + model }

// tellCarry gives the sink what the round that has ended left. The plugin's bytes are
// left out of a round that searched: its calls are not all the client's to send back.
func (a *Answer) tellCarry(internal int) {
	c := Carry{By: by(a.manifest, a.model)}
	var calls []*call
	more := !a.round.said.Empty()
	for i := range a.round.calls {
		if call := &a.round.calls[i]; call.client {
			c.Calls = append(c.Calls, call.id)
			calls = append(calls, call)
			more = more || call.members != nil
		}
	}
	ends := internal == 0 && len(calls) == 0
	if s, ok := a.sink.(*guardedSink); ok && ends && !a.waitsForFormat() {
		s.endTexts() // what the client has of the message is known then
	}
	if ends {
		c.Texts = []uint64{a.round.hash, a.hash}
	}
	if more && (ends || len(calls) > 0) {
		c.Message = assistantMessage(nil, &a.round.said, calls)
	}
	if internal == 0 && len(a.round.carry) > 0 {
		c.Bytes = slices.Clone(a.round.carry)
	}
	if a.guards == nil { // else their states are not known yet
		c.Details = a.sealedDetails(&c)
	}
	a.sink.EndRound(&c)
}

// A carried is what a plugin is given of answers before this one, in base64: an entry for
// each of the last messages with calls, and for each of the last of an assistant without
// any; empty where there is none.
type carried struct{ calls, texts []string }

// carriedBy returns those of carries that are by a plugin. Of what is too much, the oldest
// goes.
func carriedBy(who string, carries []Carry, messages []Item) (all carried) {
	carries = slices.DeleteFunc(slices.Clone(carries), func(c Carry) bool { return c.By != who || len(c.Bytes) == 0 })
	if len(carries) == 0 {
		return all
	}
	first, size := [2]int{}, 0 // how many entries there are up to the first that has one; bytes of all
	for _, m := range slices.Backward(leftWith(carries, messages)) {
		list, used := &all.calls, &first[0]
		if len(m.calls) == 0 {
			list, used = &all.texts, &first[1]
			if !m.assistant {
				continue
			}
		}
		entry := ""
		if c := m.left; c != nil && size+len(c.Bytes) <= maxCarried {
			entry = base64.StdEncoding.EncodeToString(c.Bytes)
			size += len(c.Bytes)
			*used = len(*list) + 1
		}
		*list = append(*list, entry)
	}
	all.calls, all.texts = all.calls[:first[0]], all.texts[:first[1]]
	slices.Reverse(all.calls)
	slices.Reverse(all.texts)
	return all
}

// A leaving is a message with what was left with it.
type leaving struct {
	calls     []string // ids of those that it makes
	assistant bool
	left      *Carry // nil: nothing
}

// leftWith returns for each message which of carries was left with it. Of several for
// messages that say the same, the last is of the last of these.
func leftWith(carries []Carry, messages []Item) []leaving {
	all := make([]leaving, len(messages))
	taken := make([]bool, len(carries))
	for i, v := range slices.Backward(messages) {
		m, _ := jsonbody.ObjectIn(v.JSON)
		l := &all[i]
		l.calls, l.assistant = callsIn(m), m.Text("role") == "assistant"
		var hash uint64
		switch {
		case len(l.calls) > 0:
		case l.assistant:
			hash = hashText(hashNone, textIn(m["content"]))
		default:
			continue
		}
		for j := range slices.Backward(carries) {
			c := &carries[j]
			if taken[j] || len(l.calls) > 0 && !sameIDs(c.Calls, l.calls) || len(l.calls) == 0 && !slices.Contains(c.Texts, hash) {
				continue
			}
			l.left, taken[j] = c, true
			break
		}
	}
	return all
}

// guardsOf returns the states that the guards left with the newest of messages which
// has some.
func guardsOf(carries []Carry, messages []Item) map[string][]byte {
	carries = slices.DeleteFunc(slices.Clone(carries), func(c Carry) bool { return c.Guards == nil })
	if len(carries) == 0 {
		return nil
	}
	for _, m := range slices.Backward(leftWith(carries, messages)) {
		if m.left != nil && len(m.calls) > 0 {
			return m.left.Guards
		}
	}
	return nil
}

// callsIn returns the ids of the calls that a message makes.
func callsIn(m jsonbody.Object) (ids []string) {
	calls, _ := rawjson.Items(m["tool_calls"])
	for _, c := range calls {
		o, _ := jsonbody.ObjectIn(c)
		ids = append(ids, o.Text("id"))
	}
	return ids
}

// sameIDs reports whether a and b are the same, in whatever order.
func sameIDs(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(id string) bool { return !slices.Contains(b, id) })
}

// restore gives messages what carries that are by who kept of them, and the client
// did not send back: members of a message that made calls, and of the calls.
func restore(who string, carries []Carry, messages []Item) {
	carries = slices.DeleteFunc(slices.Clone(carries), func(c Carry) bool { return c.By != who || c.Message == nil })
	if len(carries) == 0 {
		return
	}
	for i, l := range leftWith(carries, messages) {
		if l.left == nil {
			continue
		}
		m, _ := jsonbody.ObjectIn(messages[i].JSON)
		kept, _ := jsonbody.ObjectOf(l.left.Message)
		calls, _ := rawjson.Items(m["tool_calls"])
		keptCalls, _ := rawjson.Items(kept["tool_calls"])
		for j, v := range calls {
			c, _ := jsonbody.ObjectIn(v)
			for _, k := range keptCalls {
				if o, _ := jsonbody.ObjectIn(k); string(o["id"]) == string(c["id"]) {
					calls[j] = withMembers(c, o)
				}
			}
		}
		m["tool_calls"] = rawjson.Array(calls)
		messages[i].JSON = withMembers(m, kept)
	}
}

// hashNone is the hash of no text.
const hashNone = 14695981039346656037

// hashText adds a text to a hash, FNV-1a with 64 bits: a carry outlives this process.
func hashText(hash uint64, text []byte) uint64 {
	for _, c := range text {
		hash = (hash ^ uint64(c)) * 1099511628211
	}
	return hash
}

// textIn is the text of a message's content, a string or parts.
func textIn(content json.RawMessage) (text []byte) {
	if s, ok := rawjson.String(content); ok {
		return []byte(s)
	}
	parts, _ := rawjson.Items(content)
	for _, v := range parts {
		o, _ := jsonbody.ObjectIn(v)
		text = append(text, o.Text("text")...)
	}
	return text
}

// withMembers is o with the members of kept that it does not have.
func withMembers(o, kept jsonbody.Object) json.RawMessage {
	for name, v := range kept {
		if _, ok := o[name]; !ok {
			o[name] = v
		}
	}
	return o.Append(nil)
}

// standard are the members of a message that any provider knows.
var standard = []string{"role", "content", "refusal", "name", "audio", "tool_calls", "tool_call_id", "function_call"}

// plain returns a conversation's messages, items of an array, without what one
// provider alone knows.
func plain(messages []byte) []byte {
	items, _ := rawjson.Items(append(append([]byte{'['}, messages...), ']'))
	var b []byte
	for _, v := range items {
		m, _ := jsonbody.ObjectIn(v)
		calls, _ := rawjson.Items(m["tool_calls"])
		for i, v := range calls {
			c, _ := jsonbody.ObjectIn(v)
			calls[i] = c.Only("id", "type", "function", "custom").Append(nil)
		}
		if len(calls) > 0 {
			m["tool_calls"] = rawjson.Array(calls)
		}
		b = appendItem(b, m.Only(standard...).Append(nil))
	}
	return b
}
