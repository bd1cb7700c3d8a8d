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
	if ends {
		c.Texts = []uint64{a.round.hash, a.hash}
	}
	if more && (ends || len(calls) > 0) {
		c.Message = assistantMessage(nil, &a.round.said, calls)
	}
	if internal == 0 && len(a.round.carry) > 0 {
		c.Bytes = slices.Clone(a.round.carry)
	}
	c.Details = a.sealedDetails(&c)
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
	ids := callsOf(messages)
	for i, v := range slices.Backward(messages) {
		m, _ := jsonbody.ObjectIn(v.JSON)
		list, used := &all.calls, &first[0]
		if len(ids[i]) == 0 {
			list, used = &all.texts, &first[1]
			if m.Text("role") != "assistant" {
				continue
			}
		}
		entry := ""
		if c := leftWith(carries, m, ids[i]); c != nil && size+len(c.Bytes) <= maxCarried {
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

// leftWith returns the one of carries that was left with the message m, which makes the
// calls ids; nil where there is none.
func leftWith(carries []Carry, m jsonbody.Object, ids []string) *Carry {
	at := -1
	if len(ids) > 0 {
		at = slices.IndexFunc(carries, func(c Carry) bool { return sameIDs(c.Calls, ids) })
	} else if m.Text("role") == "assistant" {
		hash := hashText(hashNone, textIn(m["content"]))
		at = slices.IndexFunc(carries, func(c Carry) bool { return slices.Contains(c.Texts, hash) })
	}
	if at < 0 {
		return nil
	}
	return &carries[at]
}

// guardsOf returns the states that the guards left with the newest of messages which
// has some.
func guardsOf(carries []Carry, messages []Item) map[string][]byte {
	carries = slices.DeleteFunc(slices.Clone(carries), func(c Carry) bool { return c.Guards == nil })
	if len(carries) == 0 {
		return nil
	}
	for _, ids := range slices.Backward(callsOf(messages)) {
		at := slices.IndexFunc(carries, func(c Carry) bool { return len(ids) > 0 && sameIDs(c.Calls, ids) })
		if at >= 0 {
			return carries[at].Guards
		}
	}
	return nil
}

// callsOf returns the ids of the calls that each message makes.
func callsOf(messages []Item) [][]string {
	ids := make([][]string, len(messages))
	for i, v := range messages {
		var m [1]json.RawMessage
		if !jsonbody.Pick(v.JSON, m[:], "tool_calls") {
			continue
		}
		calls, _ := rawjson.Items(m[0])
		for _, c := range calls {
			o, _ := jsonbody.ObjectIn(c)
			id, _ := rawjson.String(o["id"])
			ids[i] = append(ids[i], id)
		}
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
	for i, ids := range callsOf(messages) {
		m, _ := jsonbody.ObjectIn(messages[i].JSON)
		c := leftWith(carries, m, ids)
		if c == nil {
			continue
		}
		kept, _ := jsonbody.ObjectOf(c.Message)
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
