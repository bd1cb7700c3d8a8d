package search

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/parley-search/parley/host/internal/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A meta is the record of an index. It is never changed in place: writers put
// a copy.
type meta struct {
	UID        string
	PrimaryKey string // "": not known yet
	CreatedAt  time.Time
	UpdatedAt  time.Time
	CreatedBy  uint32 // the task that made the index, where one did
	Created    bool   // by a task of its own
	Settings   settings.Settings

	Docs   string // the id that the documents are kept under
	Folder string // name of the bleve folder
	// Next: the changes of all tasks below it are in the documents. Pruned: the
	// outbox has no notes of the tasks below it.
	Next, Pruned uint32

	LastSeq uint64 // of the newest document
	Count   int    // documents
	Bytes   int64  // of all documents, as they are kept

	// Fields are the dotted paths of all documents' leaves in the order they
	// were first seen; a field's place here is its number in bleve, for good.
	Fields      []string
	FieldCounts []int // documents that have the field

	VectorSets map[string]vector.StoredSet // by embedder's name
	// Building are sets that a change of settings makes, or had begun to when it
	// was ended: the same change goes on with them. Nobody searches them.
	Building map[string]buildingSet `json:",omitempty"`
	LastSet  uint32                 // the highest ID of a set that was ever in use

	Vectors *vectorCount // nil: not counted yet

	numbers map[string]int // of Fields; made by number
}

// maxFields bounds the fields of an index: their numbers are 16 bits.
const maxFields = 65_000

func (m *meta) encode() []byte {
	settings, err := m.Settings.Kept()
	if err != nil {
		panic(fmt.Sprintf("encode settings of index: %v", err)) // only strings and numbers in them
	}
	type plain meta
	b, err := json.Marshal(struct {
		*plain
		Settings json.RawMessage // in place of the one that clients see
	}{(*plain)(m), settings})
	if err != nil {
		panic(fmt.Sprintf("encode record of index: %v", err)) // only strings and numbers in it
	}
	return b
}

// clone returns a copy that may be changed.
func (m *meta) clone() *meta {
	c := *m
	c.Fields = slices.Clone(m.Fields)
	c.FieldCounts = slices.Clone(m.FieldCounts)
	c.VectorSets, c.Building = cloneMap(m.VectorSets), cloneMap(m.Building)
	c.numbers = nil
	c.Vectors = &vectorCount{}
	if m.Vectors != nil {
		*c.Vectors = *m.Vectors
	}
	return &c
}

// number returns the number of a field, a new one for a new field. Only for a
// record that is being changed.
func (m *meta) number(field string) int {
	if m.numbers == nil {
		m.numbers = make(map[string]int, len(m.Fields))
		for i, f := range m.Fields {
			m.numbers[f] = i
		}
	}
	n, ok := m.numbers[field]
	if !ok {
		n = len(m.Fields)
		m.numbers[field] = n
		m.Fields = append(m.Fields, field)
		m.FieldCounts = append(m.FieldCounts, 0)
	}
	return n
}

// count adds n to the count of each field of a document, and n times its size.
func (m *meta) count(doc []byte, n int) {
	m.Bytes += int64(n * len(doc))
	eachField(doc, func(path string) { m.FieldCounts[m.number(path)] += n })
}

// eachField calls f for each dotted path at which doc has a scalar, null, or an
// empty container; once for each.
func eachField(doc []byte, f func(path string)) {
	if doc == nil {
		return
	}
	const few = 32 // so many are faster in a slice than in a map
	var first []string
	var more map[string]bool
	rawjson.Walk("", doc, func(path string, v []byte) {
		switch {
		case (v[0] == '{' || v[0] == '[') && !rawjson.IsEmpty(v), slices.Contains(first, path), more[path]:
			return
		case len(first) < few:
			first = append(first, path)
		default:
			if more == nil {
				more = make(map[string]bool)
			}
			more[path] = true
		}
		f(path)
	})
}

func (m *meta) info() Info {
	return Info{UID: m.UID, PrimaryKey: m.PrimaryKey, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
}

// ranks returns the rank of each field for the attribute rule, best first, by
// its number. Where all are searched none goes before another: which was seen
// first is an accident, and another one after a dump was read.
func (m *meta) ranks() []uint16 {
	r := make([]uint16, len(m.Fields))
	attrs := m.Settings.SearchableAttributes
	if slices.Contains(attrs, "*") {
		return r
	}
	for i, f := range m.Fields {
		r[i] = uint16(slices.IndexFunc(attrs, func(a string) bool { return attribute.Covers(a, f) }))
	}
	return r
}

// has reports whether documents have the attribute, or had it.
func (m *meta) has(attr string) bool {
	return slices.ContainsFunc(m.Fields, func(f string) bool { return attribute.Covers(attr, f) })
}
