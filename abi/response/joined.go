package response

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A Joined is a JSON value of which deltas bring pieces, joined as clients join
// them: strings go on, and so do lists; items of one index and type are pieces of
// one item; objects are joined member by member; and of all else the last one
// counts. Its zero value has no piece yet.
type Joined struct {
	kind    byte // the first byte of its pieces; 0: none yet
	text    []byte
	items   []*Joined
	names   []string // of members, in the order in which they came
	members map[string]*Joined
	last    json.RawMessage
}

// wholes are members that come whole where they come more than once.
var wholes = []string{"id", "index", "type", "format", "role", "name", "object", "status", "model"}

// Add adds a piece, checked JSON that it keeps, of the value that is called name.
// null adds nothing.
func (j *Joined) Add(name string, v json.RawMessage) {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || v[0] == 'n' && j.kind != 0 {
		return
	}
	if v[0] != j.kind {
		*j = Joined{kind: v[0]}
	}
	switch {
	case v[0] == '"' && !slices.Contains(wholes, name):
		j.text = append(j.text, v[1:len(v)-1]...)
	case v[0] == '[':
		var items []json.RawMessage
		_ = json.Unmarshal(v, &items) // it was checked
		for _, item := range items {
			j.item(item).Add("", item)
		}
	case v[0] == '{':
		if j.members == nil {
			j.members = map[string]*Joined{}
		}
		for _, m := range membersOf(v) {
			if j.members[m.name] == nil {
				j.names = append(j.names, m.name)
				j.members[m.name] = &Joined{}
			}
			j.members[m.name].Add(m.name, m.value)
		}
	default:
		j.last = v
	}
}

// item is the item of j that v is a piece of, which may be a new one.
func (j *Joined) item(v json.RawMessage) *Joined {
	o := membersOf(v)
	if index := o.get("index"); index != nil {
		for _, item := range slices.Backward(j.items) {
			if m := item.members; m != nil && m["index"].is(index) && m["type"].is(o.get("type")) {
				return item
			}
		}
	}
	item := &Joined{}
	j.items = append(j.items, item)
	return item
}

// is reports whether j is v, of which there may be none.
func (j *Joined) is(v json.RawMessage) bool {
	if j == nil {
		return v == nil
	}
	return bytes.Equal(j.last, v)
}

// Append appends the value; nothing where there was no piece.
func (j *Joined) Append(b []byte) []byte {
	switch {
	case j.last != nil:
		return append(b, j.last...)
	case j.kind == '"':
		return append(append(append(b, '"'), j.text...), '"')
	case j.kind == '[':
		b = append(b, '[')
		for i, item := range j.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.Append(b)
		}
		return append(b, ']')
	case j.kind == '{':
		b = append(b, '{')
		for i, name := range j.names {
			if i > 0 {
				b = append(b, ',')
			}
			b = j.members[name].Append(append(appendString(b, name), ':'))
		}
		return append(b, '}')
	}
	return b
}

// An object is the members of a JSON object in their order.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of v, checked JSON; none where v is no object.
func membersOf(v json.RawMessage) (o object) {
	d := json.NewDecoder(bytes.NewReader(v))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		t, _ := d.Token()
		m := member{}
		m.name, _ = t.(string)
		if d.Decode(&m.value) != nil {
			return nil
		}
		o = append(o, m)
	}
	return o
}

// get returns the member called name, nil where there is none.
func (o object) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// without is o but for the members called names, as JSON; nothing where none is
// left.
func (o object) without(names ...string) json.RawMessage {
	b := json.RawMessage{'{'}
	for _, m := range o {
		if slices.Contains(names, m.name) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(appendString(b, m.name), ':'), m.value...)
	}
	if len(b) == 1 {
		return nil
	}
	return append(b, '}')
}
