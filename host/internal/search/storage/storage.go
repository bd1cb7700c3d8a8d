// Package storage says what indexes ask of the database: [DB], which package store
// implements, and what goes in and out of it. Documents in the database are the
// truth; all else that an index has is made of them.
package storage

import (
	"context"
	"errors"
)

// A DB keeps indexes and documents. Documents are kept under an id of ours
// (docs), not under the index's uid, so that an index that was deleted and
// made again never meets the old one's documents. Safe for concurrent use. See
// package store.
type DB interface {
	// Metas returns the record of each index by its uid.
	Metas() (map[string][]byte, error)
	// PutMeta writes the record of an index.
	PutMeta(uid string, meta []byte) error
	// PutMetas writes the records of indexes by their uid, in one transaction,
	// and keeps the outcomes. A nil record removes an index; its documents stay
	// for Sweep.
	PutMetas(metas map[string][]byte, outcomes map[uint32][]byte) error
	// Outcome returns what is kept for a task, or nil. It goes when the task's
	// end is written.
	Outcome(task uint32) ([]byte, error)

	// Write makes all changes of c in one transaction, or none. ErrTooBig says
	// that c must be cut into smaller ones.
	Write(c Change) error
	// Documents returns the documents of the ids, in their order; one that is
	// absent has a zero Seq. The bytes are the caller's.
	Documents(docs string, ids []string) ([]Document, error)
	// Scan calls f for each document, in the order of ids, as they were at one
	// moment, until f returns an error, which it returns. The bytes are good
	// within f only.
	Scan(ctx context.Context, docs string, f func(Document) error) error
	// ScanAfter is Scan of the documents behind the id after.
	ScanAfter(ctx context.Context, docs, after string, f func(Document) error) error
	// Page returns the documents offset to offset+limit in the order of ids.
	Page(docs string, offset, limit int) ([]Document, error)

	// Outbox calls f for each change of documents that was noted by Write and
	// not pruned, oldest first.
	Outbox(docs string, f func(task uint32, ids []string) error) error

	// Vectors returns what is kept of the ids' vectors in a set, in their order;
	// nil for one that has none there. The bytes are the caller's.
	Vectors(docs string, set uint32, ids []string) ([][]byte, error)
	// ScanVectors calls f for each document's vectors in a set, as they were at
	// one moment, until f returns an error, which it returns. The bytes are good
	// within f only.
	ScanVectors(ctx context.Context, docs string, set uint32, f func(id string, vectors []byte) error) error
	// VectorSets lists the sets that hold anything.
	VectorSets(docs string) ([]uint32, error)
	// DropVectors removes a set.
	DropVectors(docs string, set uint32) error

	// Sweep removes the documents and vectors of all docs that known does not
	// know.
	Sweep(known func(docs string) bool) error
}

// A Moment is the database of a node of a cluster as it was at one moment: a record and
// the documents that it counts, which change while the log goes on.
type Moment interface {
	// Seq is the message up to which it has the log.
	Seq() (uint64, error)
	// Meta returns the record of an index; nil: there is none.
	Meta(uid string) ([]byte, error)
	// Documents and ScanAfter are those of [DB].
	Documents(docs string, ids []string) ([]Document, error)
	ScanAfter(ctx context.Context, docs, after string, f func(Document) error) error
	// Notes calls f for each message after the one numbered after that changed
	// documents, with their ids, in order. The same number may come several times.
	Notes(docs string, after uint64, f func(seq uint64, ids []string) error) error
}

// ErrTooBig is returned by [DB.Write] where a change is too big for one
// transaction.
var ErrTooBig = errors.New("too big for one transaction")

// A Document is a document as the database keeps it.
type Document struct {
	ID string
	// Seq is the document's place in the order of insertion, counted from 1:
	// among equally good hits the older comes first.
	Seq  uint64
	Body []byte // a JSON object
}

// A Change is what one transaction writes.
type Change struct {
	IndexUID string
	Meta     []byte // the index's record; nil: as it is
	Docs     string // the id that its documents are kept under
	Task     uint32 // the task that the outbox notes the ids under
	Part     uint32 // counts the changes of one task
	Put      []Document
	Delete   []string // ids
	Vectors  []StoredVectors
	Prune    uint32 // removes the outbox's notes of tasks below it: bleve has them
	// Outcomes are kept for tasks whose changes are all written with this one.
	Outcomes map[uint32][]byte
}

// StoredVectors are the vectors of one document in one set, as the database
// keeps them.
type StoredVectors struct {
	Set   uint32
	ID    string
	Bytes []byte // nil: none any more
}
