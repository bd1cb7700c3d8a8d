package indexapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-search/parley/host/internal/httpapi/exchange"
)

// found is a search's body with so many hits of some 2.8 kB.
func found(hits int) searchBody {
	total := 1 << 20
	b := searchBody{Hits: []json.RawMessage{}, Query: "a <b> & \"c\"", ProcessingTimeMS: 3, EstimatedTotalHits: &total}
	for range hits {
		b.Hits = append(b.Hits, exchange.Encode(map[string]any{"id": 7, "null": nil, "text": strings.Repeat(`a "word", `, 230)}))
	}
	return b
}

// TestAppendSearchBody: the body is the one that encoding/json writes.
func TestAppendSearchBody(t *testing.T) {
	for _, hits := range []int{0, 1, 20} {
		b := found(hits)
		var want bytes.Buffer
		if err := exchange.Write(&want, b); err != nil {
			t.Fatal(err)
		}
		got, err := b.AppendJSON([]byte("before "))
		if err != nil || string(got) != "before "+want.String() {
			t.Errorf("%d hits: %v, %.300s\nwant %.300s", hits, err, got, want.String())
		}
	}
}

func BenchmarkAppendSearchBody(b *testing.B) {
	body := found(10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := body.AppendJSON(nil); err != nil {
			b.Fatal(err)
		}
	}
}
