package plugin

import (
	"github.com/parley-search/parley/abi"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// readEncodeResponse is readObject for what stands between a question and the
// request to its provider. Package json would cross the body, which is nearly all
// of it, four times, and copy it; here it stays a part of answer.
func readEncodeResponse(answer []byte, r *abi.EncodeResponse) error {
	if len(answer) == 0 || answer[0] != '{' || !rawjson.Valid(answer) || !readRequest(answer, r) {
		*r = abi.EncodeResponse{}
		return readObject(answer, r)
	}
	return nil
}

// readRequest reads a checked answer of the form that SDKs write: each name once
// and as it is spelt, each value of its own kind. ok is false for any other.
func readRequest(answer []byte, r *abi.EncodeResponse) (ok bool) {
	m, ok := rawjson.MembersOf(answer)
	for ok && m.Next() {
		switch string(m.Key) {
		case `"method"`:
			ok = once(&r.Method, m.Value)
		case `"url"`:
			ok = once(&r.URL, m.Value)
		case `"framing"`:
			ok = once(&r.Framing, m.Value)
		case `"auth"`:
			ok = once(&r.Auth, m.Value)
		case `"answer"`:
			ok = r.Answer == nil
			r.Answer = m.Value
		case `"headers"`:
			ok = r.Headers == nil && readHeaders(r, m.Value)
		case `"body"`:
			ok = r.Body == nil
			r.Body = m.Value
		default:
			ok = false
		}
	}
	return ok
}

func readHeaders(r *abi.EncodeResponse, v []byte) (ok bool) {
	r.Headers = make(map[string]string, 4)
	m, ok := rawjson.MembersOf(v)
	for ok && m.Next() {
		name, _ := rawjson.String(m.Key)
		var value string
		ok = once(&value, m.Value)
		r.Headers[name] = value
	}
	return ok
}

// once makes the string v the value of a field that has none yet.
func once(field *string, v []byte) (ok bool) {
	if *field != "" {
		return false
	}
	*field, ok = rawjson.String(v)
	return ok
}
