package chat

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/base/secret"
)

// A call is a tool call of the model in one round.
type call struct {
	id, name  string
	client    bool   // for the client to answer
	index     int    // client: its index in the chunks
	arguments []byte // host: as far as they fit
	searched  []byte // host: those that the search is given, which the guards let pass
	tooLong   bool
	members   json.RawMessage // beside those, from the provider: an object, or nothing
	scrub     secret.Stream   // client: takes the secrets out of the arguments
}

// split returns the calls for the host, and how many are for the client.
func (rd *round) split() (internal []*call, client int) {
	for i := range rd.calls {
		if c := &rd.calls[i]; c.client {
			client++
		} else {
			internal = append(internal, c)
		}
	}
	return internal, client
}

// truncated reports whether the provider stopped in the middle of the calls,
// so that answering them would go on from half a thought.
func (rd *round) truncated(calls []*call) bool {
	if rd.finish != "length" && rd.finish != "content_filter" {
		return false
	}
	for _, c := range calls {
		if !json.Valid(c.arguments) {
			return true
		}
	}
	return false
}
