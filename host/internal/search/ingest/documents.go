package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/settings"
)

// maxID bounds the bytes of a document's id.
const maxID = 511

const IDRule = "an id is a whole number, or a string of 1 to 511 characters of A-Z, a-z, 0-9, - and _"

func ValidID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := range len(id) {
		if !settings.NameByte(id[i]) {
			return false
		}
	}
	return true
}

// A Received document is one of a payload, checked.
type Received struct {
	ID   string
	Body []byte // compact, without vectors
	// given are the vectors that it brings, by embedder.
	Given map[string]*GivenVectors
}

// A Checker checks the documents of one payload in their order.
type Checker struct {
	Key    string // the primary key; "": found in the first document
	Places bool   // `_geo` must be a place
}

// Check returns what a record holds. The error is an [apierr.Error] that names
// the document.
func (c *Checker) Check(r Record) (d Received, err error) {
	if r.Body[0] != '{' {
		return d, fault(apierr.MalformedPayload, r, "it is %s; expected an object", rawjson.KindOf(r.Body))
	}
	if rawjson.Depth(r.Body) > maxDepth {
		return d, fault(apierr.MalformedPayload, r, "it is nested deeper than %d", maxDepth)
	}
	if c.Key == "" {
		if c.Key, err = inferKey(r.Body); err != nil {
			return d, err
		}
	}
	if d.ID, err = documentID(r, c.Key); err != nil {
		return d, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, r.Body); err != nil {
		return d, fmt.Errorf("compact document: %w", err)
	}
	if d.Body, d.Given, err = takeVectors(Dedupe(b.Bytes())); err != nil {
		e := apierr.From(err)
		return d, fault(e.Code, r, "%s", e.Message)
	}
	if c.Places {
		if err := checkGeo(d.Body); err != nil {
			e := apierr.From(err)
			return d, fault(e.Code, r, "%s", e.Message)
		}
	}
	return d, nil
}

// NoneKept is how the message ends that tells of a document of a task that is not valid.
const NoneKept = " No document of this task was kept."

// fault says what is wrong with a document.
func fault(code apierr.Code, r Record, format string, args ...any) *apierr.Error {
	return apierr.Newf(code, "Document %d, at line %d of the payload: %s."+NoneKept, r.n, r.Line, fmt.Sprintf(format, args...))
}

// inferKey finds the primary key in a document: the field `id`, unless there is
// another of that name but for underscores and case, or else the one field whose
// name ends in "id".
func inferKey(doc []byte) (string, error) {
	var found, exact []string
	rawjson.EachMember(doc, func(rawKey, _ []byte) bool {
		key := rawjson.Unquote(rawKey)
		lower := strings.ToLower(key)
		if strings.HasSuffix(lower, "id") {
			found = append(found, key)
		}
		if strings.Trim(lower, "_") == "id" {
			exact = append(exact, key)
		}
		return true
	})
	switch {
	case len(exact) == 1 && exact[0] == "id":
		return "id", nil
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", apierr.Newf(indexerr.IndexPrimaryKeyNoCandidate, "The index has no primary key, and no field of the first document has a name that ends in `id`; name one with the parameter primaryKey.")
	}
	return "", apierr.Newf(indexerr.IndexPrimaryKeyMultipleCandidate, "The index has no primary key, and the first document has several fields that could be it (%.200s); name one with the parameter primaryKey.", strings.Join(found, ", "))
}

// documentID returns a document's id.
func documentID(r Record, key string) (string, error) {
	var v []byte
	rawjson.EachMember(r.Body, func(rawKey, value []byte) bool {
		if rawjson.Unquote(rawKey) == key {
			v = value
		}
		return true
	})
	if v == nil {
		return "", fault(indexerr.MissingDocumentID, r, "it has no primary key `%.100s`", key)
	}
	id := string(v)
	switch c := v[0]; {
	case c == '"':
		id = rawjson.Unquote(v)
	case c == '-' || c >= '0' && c <= '9':
		if strings.ContainsAny(id, ".eE") {
			return "", fault(indexerr.InvalidDocumentID, r, "its id `%.100s` is a fraction; %s", id, IDRule)
		}
	default:
		return "", fault(indexerr.InvalidDocumentID, r, "its id is %s; %s", rawjson.KindOf(v), IDRule)
	}
	if !ValidID(id) {
		return "", fault(indexerr.InvalidDocumentID, r, "its id `%.100s` is not valid; %s", id, IDRule)
	}
	return id, nil
}

// maxDepth bounds how deep a document may be nested.
const maxDepth = 100
