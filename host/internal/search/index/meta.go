package index

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/base/rawjson"
	"github.com/parley-search/parley/host/internal/search/attribute"
	"github.com/parley-search/parley/host/internal/search/settings"
	"github.com/parley-search/parley/host/internal/search/vector"
)

// A Meta is the record of an index. It is never changed in place: writers put
// a copy.
type Meta struct {
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
	Building map[string]BuildingSet `json:",omitempty"`
	LastSet  uint32                 // the highest ID of a set that was ever in use

	Vectors *VectorCount // nil: not counted yet

	numbers map[string]int // of Fields; made by number
}

// MaxFields bounds the fields of an index: their numbers are 16 bits.
const MaxFields = 65_000

// DecodeMeta reads what [Meta.Encode] wrote, of the index uid. A record may come of a dump
// from anywhere: no name in it leads out of the directory of folders, where what it names
// is opened and, once it is built anew, removed.
func DecodeMeta(uid string, b []byte) (*Meta, error) {
	m := new(Meta)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("read index %q: %w", uid, err)
	}
	if m.UID != uid || CheckUID(uid) != nil {
		return nil, fmt.Errorf("read index %q: its record is of %q, and an index has one name, of A-Z, a-z, 0-9, - and _", uid, m.UID)
	}
	if m.Folder != "" && uuid.Validate(m.Folder) != nil {
		return nil, fmt.Errorf("read index %q: its record names the folder %q, and the folders of indexes have names such as %s", uid, m.Folder, uuid.Nil)
	}
	return m, nil
}

// Encode returns m as the database keeps it, JSON.
func (m *Meta) Encode() []byte {
	settings, err := m.Settings.Kept()
	if err != nil {
		panic(fmt.Sprintf("encode settings of index: %v", err)) // only strings and numbers in them
	}
	type plain Meta
	b, err := json.Marshal(struct {
		*plain
		Settings json.RawMessage // in place of the one that clients see
	}{(*plain)(m), settings})
	if err != nil {
		panic(fmt.Sprintf("encode record of index: %v", err)) // only strings and numbers in it
	}
	return b
}

// Clone returns a copy that may be changed.
func (m *Meta) Clone() *Meta {
	c := *m
	c.Fields = slices.Clone(m.Fields)
	c.FieldCounts = slices.Clone(m.FieldCounts)
	c.VectorSets, c.Building = cloneMap(m.VectorSets), cloneMap(m.Building)
	c.numbers = nil
	c.Vectors = &VectorCount{}
	if m.Vectors != nil {
		*c.Vectors = *m.Vectors
	}
	return &c
}

// Empty takes all documents from m, which are kept under another id from then on:
// those of task and later ones.
func (m *Meta) Empty(task uint32) {
	m.Docs, m.Count, m.LastSeq, m.Fields, m.FieldCounts, m.numbers = uuid.NewString(), 0, 0, nil, nil, nil
	m.VectorSets, m.Building, m.Vectors = map[string]vector.StoredSet{}, nil, &VectorCount{}
	m.Bytes, m.Next, m.Pruned = 0, task, task
}

// number returns the number of a field, a new one for a new field. Only for a
// record that is being changed.
func (m *Meta) number(field string) int {
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

// CountDocument adds n to the count of each field of a document, and n times its size.
func (m *Meta) CountDocument(doc []byte, n int) {
	m.Bytes += int64(n * len(doc))
	EachField(doc, func(path string) { m.FieldCounts[m.number(path)] += n })
}

// EachField calls f for each dotted path at which doc has a scalar, null, or an
// empty container; once for each.
func EachField(doc []byte, f func(path string)) {
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

// Ranks returns the rank of each field for the attribute rule, best first, by
// its number. Where all are searched none goes before another: which was seen
// first is an accident, and another one after a dump was read.
func (m *Meta) Ranks() []uint16 {
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

// Has reports whether documents have the attribute, or had it.
func (m *Meta) Has(attr string) bool {
	return slices.ContainsFunc(m.Fields, func(f string) bool { return attribute.Covers(attr, f) })
}

// FieldsBelow says of each field whether it is one of the attributes or below
// one.
func (m *Meta) FieldsBelow(attributes []string) []bool {
	out := make([]bool, len(m.Fields))
	for i, f := range m.Fields {
		out[i] = attribute.CoveredBy(attributes, f)
	}
	return out
}

// Searches reports whether words are looked for in an attribute, or in some
// below it.
func (m *Meta) Searches(attr string) bool {
	if slices.Contains(m.Settings.SearchableAttributes, "*") {
		return slices.ContainsFunc(m.Fields, func(f string) bool { return attribute.Covers(attr, f) })
	}
	return slices.ContainsFunc(m.Settings.SearchableAttributes, func(a string) bool { return attribute.Covers(a, attr) || attribute.Covers(attr, a) })
}
