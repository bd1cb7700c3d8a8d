package httpapi

import (
	"time"

	"github.com/parley-search/parley/host/internal/search"
)

// Version says which build runs.
type Version struct {
	Version string // semver
	Commit  string // "unknown" where the build does not know
	Date    string // of the commit
}

// health answers GET /health.
func (s *Server) health(r *call) error {
	return ok(r, struct {
		Status string `json:"status"`
	}{"available"})
}

// version answers GET /version.
func (s *Server) version(r *call) error {
	return ok(r, struct {
		CommitSHA  string `json:"commitSha"`
		CommitDate string `json:"commitDate"`
		PkgVersion string `json:"pkgVersion"`
	}{s.Version.Commit, s.Version.Date, s.Version.Version})
}

type indexStatsBody struct {
	NumberOfDocuments int            `json:"numberOfDocuments"`
	IsIndexing        bool           `json:"isIndexing"`
	FieldDistribution map[string]int `json:"fieldDistribution"`
	RawDocumentDBSize int64          `json:"rawDocumentDbSize"` // bytes
	AvgDocumentSize   int64          `json:"avgDocumentSize"`
}

func newIndexStats(st *search.Stats) indexStatsBody {
	return indexStatsBody{
		st.NumberOfDocuments, st.IsIndexing, st.FieldDistribution,
		st.DocumentBytes, st.DocumentBytes / int64(max(st.NumberOfDocuments, 1)),
	}
}

type statsBody struct {
	DatabaseSize *int64                    `json:"databaseSize,omitempty"`
	LastUpdate   *time.Time                `json:"lastUpdate"` // of any index; null without one
	Indexes      map[string]indexStatsBody `json:"indexes"`
}

// stats answers GET /stats, for the indexes that the caller may use.
func (s *Server) stats(r *call) error {
	b := statsBody{Indexes: make(map[string]indexStatsBody)}
	if s.DatabaseSize != nil {
		b.DatabaseSize = new(s.DatabaseSize())
	}
	for _, st := range s.Search.AllStats(r.caller) {
		b.Indexes[st.UID] = newIndexStats(&st)
		if b.LastUpdate == nil || st.UpdatedAt.After(*b.LastUpdate) {
			b.LastUpdate = new(st.UpdatedAt)
		}
	}
	return ok(r, b)
}
