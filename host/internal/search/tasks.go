package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/task"
)

// The functions of this file make the tasks that [Service.Process] applies,
// checked as far as they can be before their turn. Their errors are
// [apierr.Error]s.

// maxIndexUID bounds the bytes of an index's uid.
const maxIndexUID = 400

// maxPrimaryKey bounds the bytes of a primary key's name.
const maxPrimaryKey = 500

// A payload is what a task's payload begins with; a line break and the body
// follow.
type payload struct {
	PrimaryKey string   `json:",omitempty"`
	Partial    bool     `json:",omitempty"`
	All        bool     `json:",omitempty"`
	IDs        []string `json:",omitempty"`
}

func (p *payload) encode(body []byte) []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("encode payload: %v", err)) // only strings in it
	}
	return append(append(b, '\n'), body...)
}

func decodePayload(b []byte) (p payload, body []byte, err error) {
	head, body, _ := bytes.Cut(b, []byte("\n"))
	if err := json.Unmarshal(head, &p); err != nil {
		return p, nil, fmt.Errorf("decode payload: %w", err)
	}
	return p, body, nil
}

// CheckIndexUID checks a uid that a client chose.
func CheckIndexUID(uid string) error {
	ok := uid != "" && len(uid) <= maxIndexUID
	for i := 0; ok && i < len(uid); i++ {
		ok = nameByte(uid[i])
	}
	if !ok {
		return apierr.Newf(apierr.InvalidIndexUID, "`%.100s` is not a valid index uid; it has 1 to %d characters of A-Z, a-z, 0-9, - and _.", uid, maxIndexUID)
	}
	return nil
}

// nameByte reports whether c may be in an index's uid or a document's id.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func checkPrimaryKey(key string) error {
	if len(key) > maxPrimaryKey || !utf8.ValidString(key) {
		return apierr.Newf(apierr.InvalidIndexPrimaryKey, "The primary key must be a field's name of at most %d bytes.", maxPrimaryKey)
	}
	return nil
}

// CreateIndex is the task that makes an index. primaryKey "" leaves it to the
// first document.
func CreateIndex(uid, primaryKey string) (task.New, error) {
	return indexTask(task.IndexCreation, uid, primaryKey)
}

// UpdateIndex is the task that sets the primary key of an index.
func UpdateIndex(uid, primaryKey string) (task.New, error) {
	return indexTask(task.IndexUpdate, uid, primaryKey)
}

func indexTask(t task.Type, uid, primaryKey string) (task.New, error) {
	if err := errors.Join(CheckIndexUID(uid), checkPrimaryKey(primaryKey)); err != nil {
		return task.New{}, apierr.From(err)
	}
	p := payload{PrimaryKey: primaryKey}
	return task.New{Type: t, IndexUID: uid, Details: details("primaryKey", orNull(primaryKey)), Payload: p.encode(nil)}, nil
}

// DeleteIndex is the task that deletes an index with its documents.
func DeleteIndex(uid string) (task.New, error) {
	if err := CheckIndexUID(uid); err != nil {
		return task.New{}, err
	}
	return task.New{Type: task.IndexDeletion, IndexUID: uid, Details: details("deletedDocuments", nil), Payload: new(payload).encode(nil)}, nil
}

// AddDocuments is the task that puts documents into an index, which it makes
// where there is none. body is a JSON object or an array of them. partial keeps
// the fields of a document that the new one does not name. primaryKey "" takes
// the index's, or finds one in the first document.
func AddDocuments(uid, primaryKey string, partial bool, body []byte) (task.New, error) {
	if err := errors.Join(CheckIndexUID(uid), checkPrimaryKey(primaryKey)); err != nil {
		return task.New{}, apierr.From(err)
	}
	n, err := countDocuments(body)
	if err != nil {
		return task.New{}, err
	}
	p := payload{PrimaryKey: primaryKey, Partial: partial}
	return task.New{
		Type: task.DocumentAddition, IndexUID: uid, Payload: p.encode(body),
		Details: details("receivedDocuments", n, "indexedDocuments", nil),
	}, nil
}

// countDocuments checks that body is JSON and counts its documents.
func countDocuments(body []byte) (int, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return 0, apierr.Newf(apierr.MissingPayload, "The body is empty; expected a JSON array of documents.")
	}
	var v any
	if !json.Valid(body) {
		err := json.Unmarshal(body, &v)
		at := len(body)
		if se, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = min(int(se.Offset), len(body))
		}
		line, column := place(body, at)
		return 0, apierr.Newf(apierr.MalformedPayload, "The body is not JSON: %v, at line %d, column %d.", err, line, column)
	}
	if !utf8.Valid(body) {
		at := 0
		for r, n := utf8.DecodeRune(body[at:]); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(body[at:]) {
			at += n
		}
		line, column := place(body, at+1)
		return 0, apierr.Newf(apierr.MalformedPayload, "The body is not UTF-8, at line %d, column %d.", line, column)
	}
	if body[0] == '{' {
		return 1, nil
	}
	if body[0] != '[' {
		return 0, apierr.Newf(apierr.MalformedPayload, "The body is %s; expected an array of documents, or one document.", jsonType(body))
	}
	n := 0
	eachElement(body, func(int, []byte) bool { n++; return true })
	return n, nil
}

// place returns line and column, from 1, of the byte before b[at].
func place(b []byte, at int) (line, column int) {
	before := b[:max(at-1, 0)]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// DeleteDocuments is the task that deletes the documents of the ids; one that
// is absent is no mistake.
func DeleteDocuments(uid string, ids []string) (task.New, error) {
	if err := CheckIndexUID(uid); err != nil {
		return task.New{}, err
	}
	for _, id := range ids {
		if !validID(id) {
			return task.New{}, apierr.Newf(apierr.InvalidDocumentID, "`%.100s` is not a document id; %s.", id, idRule)
		}
	}
	p := payload{IDs: ids}
	return task.New{
		Type: task.DocumentDeletion, IndexUID: uid, Payload: p.encode(nil),
		Details: details("providedIds", len(ids), "deletedDocuments", nil, "originalFilter", nil),
	}, nil
}

// DeleteAllDocuments is the task that empties an index.
func DeleteAllDocuments(uid string) (task.New, error) {
	if err := CheckIndexUID(uid); err != nil {
		return task.New{}, err
	}
	p := payload{All: true}
	return task.New{
		Type: task.DocumentDeletion, IndexUID: uid, Payload: p.encode(nil),
		Details: details("providedIds", 0, "deletedDocuments", nil, "originalFilter", nil),
	}, nil
}

// details returns an object of names and values in turn.
func details(pairs ...any) json.RawMessage {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("encode details: %v", err)) // only numbers and strings in it
	}
	return b
}

// orNull is s, or nil where it is empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
