package index

import (
	"slices"
	"strings"
	"testing"
)

// TestCheckUID takes the names that a URL and a file may have.
func TestCheckUID(t *testing.T) {
	for uid, ok := range map[string]bool{"a": true, "A-_9": true, strings.Repeat("a", 400): true, "": false, strings.Repeat("a", 401): false, "a b": false, "a/b": false, "..": false, "ü": false} {
		if err := CheckUID(uid); (err == nil) != ok {
			t.Errorf("CheckUID(%.20q) = %v, want it taken: %v", uid, err, ok)
		}
	}
}

// TestMetaFields counts the fields of documents, and finds again those of a parent.
func TestMetaFields(t *testing.T) {
	m := &Meta{}
	one, two := []byte(`{"id":1,"tags":["a","b"],"at":{"lat":1,"lng":2},"none":null,"empty":{}}`), []byte(`{"id":2,"at":{"lat":3}}`)
	m.CountDocument(one, 1)
	m.CountDocument(two, 1)
	if want := []string{"id", "tags", "at.lat", "at.lng", "none", "empty"}; !slices.Equal(m.Fields, want) {
		t.Fatalf("the fields are %v, want %v", m.Fields, want)
	}
	if want := []int{2, 1, 2, 1, 1, 1}; !slices.Equal(m.FieldCounts, want) {
		t.Errorf("they are counted %v, want %v", m.FieldCounts, want)
	}
	if m.Bytes != int64(len(one)+len(two)) {
		t.Errorf("they have %d bytes, want %d", m.Bytes, len(one)+len(two))
	}
	m.CountDocument(two, -1)
	if m.FieldCounts[0] != 1 || m.FieldCounts[2] != 1 || m.Bytes != int64(len(one)) {
		t.Errorf("without the second: counts %v of %d bytes", m.FieldCounts, m.Bytes)
	}
	if !m.Has("at") || !m.Has("at.lat") || m.Has("a") {
		t.Errorf("at %v, at.lat %v, a %v; want the first two", m.Has("at"), m.Has("at.lat"), m.Has("a"))
	}
	if got, want := m.FieldsBelow([]string{"at"}), []bool{false, false, true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("below at: %v, want %v", got, want)
	}
	m.Settings.SearchableAttributes = []string{"tags", "at.lat"}
	if r := m.Ranks(); r[1] != 0 || r[2] != 1 || r[0] != 65535 {
		t.Errorf("the ranks are %v, want tags 0, at.lat 1, and id none", r)
	}
	if !m.Searches("at") || m.Searches("id") {
		t.Errorf("at %v, id %v; want at to be searched alone", m.Searches("at"), m.Searches("id"))
	}
}

// TestMetaClone changes a copy and leaves the record.
func TestMetaClone(t *testing.T) {
	m := &Meta{UID: "books"}
	m.CountDocument([]byte(`{"id":1}`), 1)
	c := m.Clone()
	c.CountDocument([]byte(`{"id":2,"new":3}`), 1)
	if len(m.Fields) != 1 || m.FieldCounts[0] != 1 || len(c.Fields) != 2 || c.FieldCounts[0] != 2 {
		t.Errorf("the record has %v %v, its changed copy %v %v", m.Fields, m.FieldCounts, c.Fields, c.FieldCounts)
	}
	if c.Empty(3); len(m.Fields) != 1 {
		t.Errorf("to empty the copy left the record with %v", m.Fields)
	}
}
