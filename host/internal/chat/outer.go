package chat

import (
	"slices"

	"github.com/parley-search/parley/host/internal/rawjson"
)

// maxStanding bounds the members that stand in each chunk. More stand in one: a
// provider's few bytes would become many times as many for the client.
const maxStanding = 4 << 10

// What the host says of a chunk and of a choice itself.
var (
	ownChunk  = []string{"id", "object", "created", "model", "choices", "usage", "error", "event_id", "type"}
	ownChoice = []string{"index", "delta", "message", "finish_reason"}
)

// outer takes a checked object {"chunk": {…}, "choice": {…}}: what a provider says
// of a chunk, which stands in each from here on, and of its choice, which stands in
// the next one.
func (r *renderer) outer(object []byte) {
	m, _ := rawjson.MembersOf(object)
	for m.Next() {
		switch {
		case m.Called("chunk"):
			r.members = r.members[:0]
			eachOther(m.Value, ownChunk, func(key, value []byte) {
				r.members = append(appendMember(r.members, key, value), ',')
			})
			r.once = len(r.members) > maxStanding
			r.setModel(r.model)
		case m.Called("choice"):
			if len(r.choice) > 0 { // of an event without a delta
				r.begin()
				r.out = append(r.out, `"content":""`...)
				r.end(nil)
			}
			eachOther(m.Value, ownChoice, func(key, value []byte) {
				r.choice = appendMember(append(r.choice, ','), key, value)
			})
		}
	}
}

// eachOther calls f for the members of an object but for those called own and null.
func eachOther(object []byte, own []string, f func(key, value []byte)) {
	m, ok := rawjson.MembersOf(object)
	if !ok {
		return
	}
	for m.Next() {
		if !slices.ContainsFunc(own, m.Called) && !rawjson.IsNull(m.Value) {
			f(m.Key, m.Value)
		}
	}
}

// appendMember appends a member on one line: between the tokens of JSON line ends
// are white space, inside its strings they cannot be.
func appendMember(b, key, value []byte) []byte {
	from := len(b)
	b = append(append(append(b, key...), ':'), value...)
	for i, c := range b[from:] {
		if c == '\n' || c == '\r' {
			b[from+i] = ' '
		}
	}
	return b
}
