package indexapi

import (
	"time"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/search"
)

type indexStatsBody struct {
	NumberOfDocuments         int            `json:"numberOfDocuments"`
	IndexSize                 int64          `json:"indexSize"` // bytes, as all sizes
	UsedIndexSize             int64          `json:"usedIndexSize"`
	IsIndexing                bool           `json:"isIndexing"`
	FieldDistribution         map[string]int `json:"fieldDistribution"`
	NumberOfEmbeddedDocuments int            `json:"numberOfEmbeddedDocuments"`
	NumberOfEmbeddings        int            `json:"numberOfEmbeddings"`
	RawDocumentDBSize         int64          `json:"rawDocumentDbSize"`
	AvgDocumentSize           int64          `json:"avgDocumentSize"`
}

func newIndexStats(st *search.Stats) indexStatsBody {
	return indexStatsBody{
		st.NumberOfDocuments, st.FolderBytes, st.UsedBytes, st.IsIndexing, st.FieldDistribution, st.Embedded, st.Embeddings,
		st.DocumentBytes, st.DocumentBytes / int64(max(st.NumberOfDocuments, 1)),
	}
}

type statsBody struct {
	DatabaseSize     *int64                    `json:"databaseSize,omitempty"`
	UsedDatabaseSize *int64                    `json:"usedDatabaseSize,omitempty"`
	VectorMemory     *int64                    `json:"vectorMemory,omitempty"` // and at most:
	MaxVectorMemory  int64                     `json:"maxVectorMemory"`
	LastUpdate       *time.Time                `json:"lastUpdate"` // of any index; null without one
	Indexes          map[string]indexStatsBody `json:"indexes"`
}

// Stats answers GET /stats, for the indexes that the caller may use: to a key that is bound to
// some, sizes are those of these indexes.
func (s *Server) Stats(r *request.Call) error {
	b := statsBody{Indexes: make(map[string]indexStatsBody)}
	var size, used, vectors int64
	vectors, b.MaxVectorMemory = s.Search.VectorMemory()
	bound := r.Caller.Bound()
	if !bound {
		b.VectorMemory = &vectors
	}
	if s.DatabaseSize != nil {
		if !bound {
			size, used = s.DatabaseSize()
		}
		b.DatabaseSize, b.UsedDatabaseSize = &size, &used
	}
	for _, st := range s.Search.AllStats(r.Caller) {
		if bound {
			size, used = size+st.FolderBytes+st.DocumentBytes, used+st.UsedBytes+st.DocumentBytes
		}
		b.Indexes[st.UID] = newIndexStats(&st)
		if b.LastUpdate == nil || st.UpdatedAt.After(*b.LastUpdate) {
			b.LastUpdate = new(st.UpdatedAt)
		}
	}
	return r.OK(b)
}
