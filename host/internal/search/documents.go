package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/apierr"
)

// maxID bounds the bytes of a document's id.
const maxID = 511

const idRule = "an id is a whole number, or a string of 1 to 511 characters of A-Z, a-z, 0-9, - and _"

func validID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		if !nameByte(id[i]) {
			return false
		}
	}
	return true
}

// A received document is one of a payload, checked.
type received struct {
	id   string
	body []byte // compact
}

// receive reads the documents of a payload under the primary key; "" finds one
// in the first document. One bad document spoils all: the error is an
// [apierr.Error] that names it.
func receive(body []byte, key string) (docs []received, primaryKey string, err error) {
	body = bytes.TrimSpace(body)
	n := 0
	each := func(at int, v []byte) bool {
		if v[0] != '{' {
			err = fault(apierr.MalformedPayload, body, n, at, "it is %s; expected an object", jsonType(v))
			return false
		}
		if depth(v) > maxDepth {
			err = fault(apierr.MalformedPayload, body, n, at, "it is nested deeper than %d", maxDepth)
			return false
		}
		if key == "" {
			if key, err = inferKey(v); err != nil {
				return false
			}
		}
		var d received
		if d.id, err = documentID(v, key, body, n, at); err != nil {
			return false
		}
		var b bytes.Buffer
		if err = json.Compact(&b, v); err != nil {
			return false
		}
		d.body = b.Bytes()
		docs = append(docs, d)
		n++
		return true
	}
	if body[0] == '{' {
		each(0, body)
	} else {
		eachElement(body, each)
	}
	return docs, key, err
}

// fault says what is wrong with the document that begins at body[at].
func fault(code apierr.Code, body []byte, n, at int, format string, args ...any) *apierr.Error {
	line, _ := place(body, at+1)
	return apierr.Newf(code, "Document %d, at line %d of the payload: %s. No document of this task was kept.", n+1, line, fmt.Sprintf(format, args...))
}

// inferKey finds the primary key in a document: the field `id`, or else the one
// field whose name ends in "id".
func inferKey(doc []byte) (string, error) {
	var found []string
	exact := false
	eachMember(doc, func(rawKey, _ []byte) bool {
		key := unquote(rawKey)
		if key == "id" {
			exact = true
		}
		if strings.HasSuffix(strings.ToLower(key), "id") {
			found = append(found, key)
		}
		return true
	})
	switch {
	case exact:
		return "id", nil
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", apierr.Newf(apierr.IndexPrimaryKeyNoCandidate, "The index has no primary key, and no field of the first document has a name that ends in `id`; name one with the parameter primaryKey.")
	}
	return "", apierr.Newf(apierr.IndexPrimaryKeyMultipleCandidate, "The index has no primary key, and the first document has several fields that could be it (%.200s); name one with the parameter primaryKey.", strings.Join(found, ", "))
}

// documentID returns a document's id.
func documentID(doc []byte, key string, body []byte, n, at int) (string, error) {
	var v []byte
	eachMember(doc, func(rawKey, value []byte) bool {
		if unquote(rawKey) == key {
			v = value
		}
		return true
	})
	if v == nil {
		return "", fault(apierr.MissingDocumentID, body, n, at, "it has no primary key `%.100s`", key)
	}
	id := string(v)
	switch c := v[0]; {
	case c == '"':
		id = unquote(v)
	case c == '-' || c >= '0' && c <= '9':
		if strings.ContainsAny(id, ".eE") {
			return "", fault(apierr.InvalidDocumentID, body, n, at, "its id `%.100s` is a fraction; %s", id, idRule)
		}
	default:
		return "", fault(apierr.InvalidDocumentID, body, n, at, "its id is %s; %s", jsonType(v), idRule)
	}
	if !validID(id) {
		return "", fault(apierr.InvalidDocumentID, body, n, at, "its id `%.100s` is not valid; %s", id, idRule)
	}
	return id, nil
}
