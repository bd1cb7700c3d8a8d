package openai

import (
	"slices"

	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// maxStanding bounds the members that stand in each chunk. More stand in one: a
// provider's few bytes would become many times as many for the client.
const maxStanding = 4 << 10

// What the host says of a chunk and of a choice itself.
var (
	ownChunk  = []string{"id", "object", "created", "model", "choices", "usage", "error", "event_id", "type"}
	ownChoice = []string{"index", "delta", "message", "finish_reason"}
)

// Outer implements [chat.Sink]: what is said of a chunk is in each from here on,
// what is said of a choice in the next one.
func (r *Chunks) Outer(object []byte) {
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
				r.beginChunk()
				r.out = append(r.out, `"content":""`...)
				r.endChunk(nil)
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

// appendMember appends a member on one line.
func appendMember(b, key, value []byte) []byte {
	return appendLine(append(append(b, key...), ':'), value)
}
