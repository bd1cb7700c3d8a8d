package write

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/indexerr"
	"github.com/parley-search/parley/host/internal/search/filter"
	"github.com/parley-search/parley/host/internal/search/index"
	"github.com/parley-search/parley/host/internal/search/ingest"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/task"
)

// The functions of this file make the tasks that [Writer.Process] applies,
// checked as far as they can be before their turn. Their errors are
// [apierr.Error]s.

// maxPrimaryKey bounds the bytes of a primary key's name.
const maxPrimaryKey = 500

// A payload is what a task's payload begins with; a line break and the body
// follow.
type payload struct {
	PrimaryKey string `json:",omitempty"`
	Partial    bool   `json:",omitempty"`
	// SkipCreation is of documents that change others and make none.
	SkipCreation bool `json:",omitempty"`
	// UID is the new name of an index; "": it keeps its own.
	UID       string            `json:",omitempty"`
	Format    ingest.BodyFormat `json:",omitempty"`
	Delimiter byte              `json:",omitempty"` // of CSV
	All       bool              `json:",omitempty"`
	IDs       []string          `json:",omitempty"`
	// Filter chooses documents to delete, as the search API takes it.
	Filter json.RawMessage `json:",omitempty"`
	Swaps  []Swap          `json:",omitempty"`
	// Reset is of settings that go back to their defaults: it makes no index.
	Reset bool `json:",omitempty"`
	// Refused fails a task of settings once what is left of them is applied.
	Refused *task.Error `json:",omitempty"`
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
	d := json.NewDecoder(bytes.NewReader(head))
	d.DisallowUnknownFields() // of a newer version: to pass over one is to do something else
	if err := d.Decode(&p); err != nil && strings.Contains(err.Error(), "unknown field") {
		return p, nil, fmt.Errorf("%w (%w)", errNewer, err)
	} else if err != nil {
		return p, nil, fmt.Errorf("decode payload: %w", err)
	}
	return p, body, nil
}

// errNewer is the error of a task that a node of a newer version took. Applied in part it would
// be another task.
var errNewer = apierr.Newf(apierr.BadRequest, "The task asks for something that this version of Parley does not know: a newer version took it. Upgrade this host, and send it again.")

func checkPrimaryKey(key string) error {
	if len(key) > maxPrimaryKey || !utf8.ValidString(key) {
		return apierr.Newf(indexerr.InvalidIndexPrimaryKey, "The primary key must be a field's name of at most %d bytes.", maxPrimaryKey)
	}
	return nil
}

// CreateIndex is the task that makes an index. primaryKey "" leaves it to the
// first document.
func CreateIndex(uid, primaryKey string) (task.New, error) {
	if err := errors.Join(index.CheckUID(uid), checkPrimaryKey(primaryKey)); err != nil {
		return task.New{}, apierr.From(err)
	}
	p := payload{PrimaryKey: primaryKey}
	return task.New{Type: task.IndexCreation, IndexUID: uid, Details: details("primaryKey", settings.OrNull(primaryKey)), Payload: p.encode(nil)}, nil
}

// UpdateIndex is the task that sets the primary key of an index, or gives it
// another uid, which must be free. The key "" and the uid that it has change nothing.
func UpdateIndex(uid, primaryKey, newUID string) (task.New, error) {
	n, err := CreateIndex(uid, primaryKey)
	n.Type = task.IndexUpdate
	if err != nil || newUID == uid {
		return n, err
	}
	if err := index.CheckUID(newUID); err != nil {
		return task.New{}, err
	}
	p := payload{PrimaryKey: primaryKey, UID: newUID}
	n.Payload, n.Indexes, n.Needs = p.encode(nil), []string{uid, newUID}, "another uid"
	n.Details = details("primaryKey", settings.OrNull(primaryKey), "oldIndexUid", uid, "newIndexUid", newUID)
	return n, nil
}

// DeleteIndex is the task that deletes an index with its documents.
func DeleteIndex(uid string) (task.New, error) {
	if err := index.CheckUID(uid); err != nil {
		return task.New{}, err
	}
	return task.New{Type: task.IndexDeletion, IndexUID: uid, Details: details("deletedDocuments", nil), Payload: new(payload).encode(nil)}, nil
}

// DeleteDocuments is the task that deletes the documents of the ids; one that
// is absent is no mistake.
func DeleteDocuments(uid string, ids []string) (task.New, error) {
	if err := index.CheckUID(uid); err != nil {
		return task.New{}, err
	}
	for _, id := range ids {
		if !ingest.ValidID(id) {
			return task.New{}, apierr.Newf(indexerr.InvalidDocumentID, "`%.100s` is not a document id; %s.", id, ingest.IDRule)
		}
	}
	p := payload{IDs: ids}
	return task.New{
		Type: task.DocumentDeletion, IndexUID: uid, Payload: p.encode(nil),
		Details: details("providedIds", len(ids), "deletedDocuments", nil, "originalFilter", nil),
	}, nil
}

// DeleteByFilter is the task that deletes the documents that a filter chooses:
// a string or an array, as the search API takes it. Whether the index may be
// asked so is seen when its turn comes.
func (s *Writer) DeleteByFilter(uid string, raw json.RawMessage) (task.New, error) {
	if err := index.CheckUID(uid); err != nil {
		return task.New{}, err
	}
	n, err := filter.Parse(raw, true, nil)
	if err != nil {
		return task.New{}, filter.Refuse(err, indexerr.InvalidDocumentFilter)
	}
	if n == nil {
		return task.New{}, apierr.Newf(indexerr.InvalidDocumentFilter, "The filter is empty: say which documents are to go, or delete all of them by DELETE.")
	}
	var wrote bytes.Buffer
	if err := json.Compact(&wrote, raw); err != nil {
		return task.New{}, fmt.Errorf("compact filter: %w", err)
	}
	p := payload{Filter: wrote.Bytes()}
	return task.New{
		Type: task.DocumentDeletion, IndexUID: uid, Payload: p.encode(nil),
		Details: details("providedIds", 0, "deletedDocuments", nil, "originalFilter", wrote.String()),
	}, nil
}

// DeleteAllDocuments is the task that empties an index.
func DeleteAllDocuments(uid string) (task.New, error) {
	if err := index.CheckUID(uid); err != nil {
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
