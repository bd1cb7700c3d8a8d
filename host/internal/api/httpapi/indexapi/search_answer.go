package indexapi

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/search"
)

// searchBody is what a search found: with a page where one was asked for. Its hits are
// written apart: see [request.Documents].
type searchBody struct {
	Hits             *struct{} `json:"hits"`
	Query            string    `json:"query"`
	ProcessingTimeMS int64     `json:"processingTimeMs"`
	pageBody
	FacetDistribution json.RawMessage        `json:"facetDistribution,omitempty"`
	FacetStats        map[string]facetNumber `json:"facetStats,omitzero"`
	QueryVector       []float32              `json:"queryVector,omitempty"`
	RequestUID        string                 `json:"requestUid"`
	Metadata          *metadata              `json:"metadata,omitempty"`
	SemanticHitCount  *int                   `json:"semanticHitCount,omitempty"`
	Passages          *passagesBody          `json:"passages,omitempty"`
	Performance       performance            `json:"performanceDetails,omitzero"`
}

// pageBody says which hits are shown, and of how many: the first four where a page was
// asked for, else the others.
type pageBody struct {
	HitsPerPage        *int `json:"hitsPerPage,omitempty"`
	Page               *int `json:"page,omitempty"`
	TotalPages         *int `json:"totalPages,omitempty"`
	TotalHits          *int `json:"totalHits,omitempty"`
	Limit              *int `json:"limit,omitempty"`
	Offset             *int `json:"offset,omitempty"`
	EstimatedTotalHits *int `json:"estimatedTotalHits,omitempty"`
}

// facetNumber is the range of an attribute's numbers.
type facetNumber struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// A performance says how long the parts of a search took, by their names.
type performance []search.Step

// MarshalJSON implements [json.Marshaler]: the parts stay in their order.
func (p performance) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, step := range p {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, step.Name), `:"`...), roundDuration(step.Took)...)
		out = append(out, '"')
	}
	return append(out, '}'), nil
}

// roundDuration writes a duration as Meilisearch does: 1.25ms.
func roundDuration(d time.Duration) string {
	unit, name := time.Second, "s"
	switch {
	case d < time.Microsecond:
		unit, name = time.Nanosecond, "ns"
	case d < time.Millisecond:
		unit, name = time.Microsecond, "µs"
	case d < time.Second:
		unit, name = time.Millisecond, "ms"
	}
	return strconv.FormatFloat(float64(d)/float64(unit), 'f', 2, 64) + name
}

func newSearchBody(res *search.Result, q *search.Query, steps bool) searchBody {
	b := searchBody{Query: res.Query, ProcessingTimeMS: res.ProcessingTime.Milliseconds(), RequestUID: newRequestUID(), SemanticHitCount: res.SemanticHits}
	if q.RetrieveVectors {
		b.QueryVector = res.QueryVector
	}
	if steps {
		b.Performance = res.Steps
	}
	if res.Paged {
		b.HitsPerPage, b.Page, b.TotalPages, b.TotalHits = &res.HitsPerPage, &res.Page, &res.TotalPages, &res.TotalHits
	} else {
		b.Limit, b.Offset, b.EstimatedTotalHits = &res.Limit, &res.Offset, &res.EstimatedTotalHits
	}
	if res.Facets != nil {
		b.FacetDistribution, b.FacetStats = facetDistribution(res.Facets), facetStats(res.Facets)
	}
	return b
}

// newRequestUID names a search, so that what is said of it later can be told apart.
// Later ones sort behind.
func newRequestUID() string {
	uid, err := uuid.NewV7()
	if err != nil {
		panic("search: make a uid: " + err.Error()) // there always is randomness
	}
	return uid.String()
}

// facetDistribution is how many hits have each value, by attribute. It is
// written by hand since an order of values was asked for.
func facetDistribution(facets []search.FacetCounts) json.RawMessage {
	out := []byte{'{'}
	for i, f := range facets {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, f.Attribute), ":{"...)
		for k, v := range f.Values {
			if k > 0 {
				out = append(out, ',')
			}
			out = append(appendText(out, v.Value), ':')
			out = strconv.AppendInt(out, int64(v.Count), 10)
		}
		out = append(out, '}')
	}
	return append(out, '}')
}

// appendText appends a text in JSON that leaves the signs of HTML as they are.
func appendText(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a text always can be
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

func facetStats(facets []search.FacetCounts) map[string]facetNumber {
	stats := map[string]facetNumber{}
	for _, f := range facets {
		if f.Min != nil {
			stats[f.Attribute] = facetNumber{*f.Min, *f.Max}
		}
	}
	return stats
}

// membersOf are what is shown of a hit beside its document.
func membersOf(h *search.Hit, score bool) (out []request.Member) {
	add := func(name string, value []byte) { out = append(out, request.Member{Name: name, Value: value}) }
	if h.Formatted != nil {
		add("_formatted", h.Formatted)
	}
	if h.Matches != nil {
		add("_matchesPosition", h.Matches)
	}
	if h.Distance != nil {
		add("_geoDistance", strconv.AppendInt(nil, *h.Distance, 10))
	}
	if score {
		add("_rankingScore", strconv.AppendFloat(nil, h.Score, 'g', -1, 64))
	}
	if h.Details != nil {
		add("_rankingScoreDetails", h.Details)
	}
	return out
}
