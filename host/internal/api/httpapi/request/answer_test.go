package request

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A page of documents, as a search answers it.
type page struct {
	Hits  []json.RawMessage `json:"hits"`
	Query string            `json:"query"`
	Total *int              `json:"total"`
}

// documents are so many of some 2.8 kB.
func documents(count int) []json.RawMessage {
	docs := make([]json.RawMessage, count)
	for i := range docs {
		docs[i] = Encode(map[string]any{"id": i, "none": nil, "text": strings.Repeat(`a "word", `, 230)})
	}
	return docs
}

// TestAppendDocuments: the body is the one that encoding/json writes.
func TestAppendDocuments(t *testing.T) {
	for _, count := range []int{0, 1, 20} {
		docs := documents(count)
		var want bytes.Buffer
		if err := write(&want, page{Hits: docs, Query: `null <b> & "c"`}); err != nil {
			t.Fatal(err)
		}
		got, err := AppendDocuments(nil, docs, page{Query: `null <b> & "c"`})
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%d documents: %v, %.300s\nwant %.300s", count, err, got, want.String())
		}
	}
}

func BenchmarkAppendDocuments(b *testing.B) {
	docs := documents(10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := AppendDocuments(nil, slices.Clone(docs), page{Query: "words"}); err != nil {
			b.Fatal(err)
		}
	}
}
