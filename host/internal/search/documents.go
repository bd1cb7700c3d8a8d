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
	body []byte // compact, without vectors
	// given are the vectors that it brings, by embedder.
	given map[string]*givenVectors
}

// A checker checks the documents of one payload in their order.
type checker struct {
	key    string // the primary key; "": found in the first document
	places bool   // `_geo` must be a place
}

// check returns what a record holds. The error is an [apierr.Error] that names
// the document.
func (c *checker) check(r record) (d received, err error) {
	if r.body[0] != '{' {
		return d, fault(apierr.MalformedPayload, r, "it is %s; expected an object", jsonType(r.body))
	}
	if depth(r.body) > maxDepth {
		return d, fault(apierr.MalformedPayload, r, "it is nested deeper than %d", maxDepth)
	}
	if c.key == "" {
		if c.key, err = inferKey(r.body); err != nil {
			return d, err
		}
	}
	if d.id, err = documentID(r, c.key); err != nil {
		return d, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, r.body); err != nil {
		return d, fmt.Errorf("compact document: %w", err)
	}
	if d.body, d.given, err = takeVectors(dedupe(b.Bytes())); err != nil {
		e := apierr.From(err)
		return d, fault(e.Code, r, "%s", e.Message)
	}
	if c.places {
		if err := checkGeo(d.body); err != nil {
			e := apierr.From(err)
			return d, fault(e.Code, r, "%s", e.Message)
		}
	}
	return d, nil
}

// fault says what is wrong with a document.
func fault(code apierr.Code, r record, format string, args ...any) *apierr.Error {
	return apierr.Newf(code, "Document %d, at line %d of the payload: %s. No document of this task was kept.", r.n, r.line, fmt.Sprintf(format, args...))
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
func documentID(r record, key string) (string, error) {
	var v []byte
	eachMember(r.body, func(rawKey, value []byte) bool {
		if unquote(rawKey) == key {
			v = value
		}
		return true
	})
	if v == nil {
		return "", fault(apierr.MissingDocumentID, r, "it has no primary key `%.100s`", key)
	}
	id := string(v)
	switch c := v[0]; {
	case c == '"':
		id = unquote(v)
	case c == '-' || c >= '0' && c <= '9':
		if strings.ContainsAny(id, ".eE") {
			return "", fault(apierr.InvalidDocumentID, r, "its id `%.100s` is a fraction; %s", id, idRule)
		}
	default:
		return "", fault(apierr.InvalidDocumentID, r, "its id is %s; %s", jsonType(v), idRule)
	}
	if !validID(id) {
		return "", fault(apierr.InvalidDocumentID, r, "its id `%.100s` is not valid; %s", id, idRule)
	}
	return id, nil
}
