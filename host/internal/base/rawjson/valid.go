package rawjson

import (
	"bytes"
	"encoding/json"

	"github.com/valyala/fastjson"
)

// maxQuick bounds the brackets of a document that fastjson is given: it goes
// into each by a call of its own, and a document of nothing else would take all
// of the stack that there is.
const maxQuick = 256

// Valid reports whether b is one JSON value (RFC 8259), as [json.Valid] does. It
// takes a fourth of its time for what is sent to a model and comes back from it:
// short documents without line breaks.
func Valid(b []byte) bool {
	if len(b) == 0 { // a member that is not there, for which fastjson would word an error
		return false
	}
	if bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) > maxQuick {
		return json.Valid(b)
	}
	for _, c := range b {
		if c < ' ' { // fastjson lets some of them stand in a string with escapes
			return json.Valid(b)
		}
	}
	return fastjson.ValidateBytes(b) == nil
}
