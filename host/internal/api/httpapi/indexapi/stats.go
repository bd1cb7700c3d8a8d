package indexapi

import (
	"math"
	"strconv"
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/search"
)

type indexStatsBody struct {
	NumberOfDocuments         int            `json:"numberOfDocuments"`
	IndexSize                 any            `json:"indexSize"` // as all sizes, see sizes
	UsedIndexSize             any            `json:"usedIndexSize"`
	IsIndexing                bool           `json:"isIndexing"`
	FieldDistribution         map[string]int `json:"fieldDistribution"`
	NumberOfEmbeddedDocuments int            `json:"numberOfEmbeddedDocuments"`
	NumberOfEmbeddings        int            `json:"numberOfEmbeddings"`
	RawDocumentDBSize         any            `json:"rawDocumentDbSize"`
	AvgDocumentSize           any            `json:"avgDocumentSize"`
	InternalSizes             map[string]any `json:"internalDatabaseSizes,omitempty"`
}

// SizeParameters are the query parameters of routes with figures.
var SizeParameters = []string{"showInternalDatabaseSizes", "sizeFormat"}

// sizes says how an answer shows sizes.
type sizes struct {
	human bool // as text with a unit, else as integers of bytes
	parts bool // also what an index's parts take
}

func readSizes(r *request.Call) (s sizes, err error) {
	switch v, given := r.Query["sizeFormat"]; {
	case !given || v == "raw":
	case v == "human":
		s.human = true
	default:
		return s, apierr.Newf(apierr.BadRequest, "The query parameter `sizeFormat` must be raw or human, but is %.64q.", v)
	}
	s.parts, err = r.Query.Boolean("showInternalDatabaseSizes", apierr.BadRequest)
	return s, err
}

func (s sizes) of(bytes int64) any {
	if !s.human {
		return bytes
	}
	units, v := []string{"B", "KiB", "MiB", "GiB", "TiB"}, float64(bytes)
	for ; v >= 1024 && len(units) > 1; v /= 1024 {
		units = units[1:]
	}
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) + " " + units[0]
}

func (s sizes) index(st *search.Stats) indexStatsBody {
	b := indexStatsBody{
		st.NumberOfDocuments, s.of(st.FolderBytes), s.of(st.UsedBytes), st.IsIndexing, st.FieldDistribution, st.Embedded, st.Embeddings,
		s.of(st.DocumentBytes), s.of(st.DocumentBytes / int64(max(st.NumberOfDocuments, 1))), nil,
	}
	if s.parts {
		b.InternalSizes = map[string]any{"documents": s.of(st.DocumentBytes), "index": s.of(st.FolderBytes)}
	}
	return b
}

type statsBody struct {
	DatabaseSize     any                       `json:"databaseSize,omitempty"`
	UsedDatabaseSize any                       `json:"usedDatabaseSize,omitempty"`
	VectorMemory     any                       `json:"vectorMemory,omitempty"` // and at most:
	MaxVectorMemory  any                       `json:"maxVectorMemory"`
	LastUpdate       *time.Time                `json:"lastUpdate"` // of any index; null without one
	Indexes          map[string]indexStatsBody `json:"indexes"`
}

// Stats answers GET /stats, for the indexes that the caller may use: to a key that is bound to
// some, sizes are those of these indexes.
func (s *Server) Stats(r *request.Call) error {
	show, err := readSizes(r)
	if err != nil {
		return err
	}
	vectors, most := s.Search.VectorMemory()
	b := statsBody{MaxVectorMemory: show.of(most), Indexes: make(map[string]indexStatsBody)}
	var size, used int64
	bound := r.Caller.Bound()
	if !bound {
		b.VectorMemory = show.of(vectors)
		if s.DatabaseSize != nil {
			size, used = s.DatabaseSize()
		}
	}
	for _, st := range s.Search.AllStats(r.Caller) {
		if bound {
			size, used = size+st.FolderBytes+st.DocumentBytes, used+st.UsedBytes+st.DocumentBytes
		}
		b.Indexes[st.UID] = show.index(&st)
		if b.LastUpdate == nil || st.UpdatedAt.After(*b.LastUpdate) {
			b.LastUpdate = new(st.UpdatedAt)
		}
	}
	if s.DatabaseSize != nil {
		b.DatabaseSize, b.UsedDatabaseSize = show.of(size), show.of(used)
	}
	return r.OK(b)
}
