package httpapi

import (
	"fmt"
	"time"

	"github.com/parley-search/parley/host/internal/apierr"
	"github.com/parley-search/parley/host/internal/search"
)

// Version says which build runs.
type Version struct {
	Version string // semver
	Commit  string // "unknown" where the build does not know
	Date    string // of the commit
}

// health answers GET /health: whoever reads the answer knows that the process
// is alive.
func (s *Server) health(r *call) error {
	return ok(r, struct {
		Status string `json:"status"`
	}{"available"})
}

// retryReady is when it is worth asking again whether the host is ready.
const retryReady = 5 * time.Second

// ready answers GET /ready: 503 while requests had better go to another host.
// It says nothing of names, for it asks for no key.
func (s *Server) ready(r *call) error {
	if err := readiness(s.down.Load(), s.Search.Load().NotReady); err != nil {
		return err
	}
	return ok(r, struct {
		Status string `json:"status"`
	}{"ready"})
}

// readiness says why a host is not ready, where it is not. Plugins are loaded
// before anybody is listened to.
func readiness(down bool, building int) error {
	switch {
	case down:
		return shuttingDown()
	case building > 0:
		return &apierr.Error{
			Code: apierr.IndexNotReady, RetryAfter: retryReady,
			Message: fmt.Sprintf("The host is not ready: indexes that are built anew from their documents: %d.", building),
		}
	}
	return nil
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
	VectorMemory     int64                     `json:"vectorMemory"` // and at most:
	MaxVectorMemory  int64                     `json:"maxVectorMemory"`
	LastUpdate       *time.Time                `json:"lastUpdate"` // of any index; null without one
	Indexes          map[string]indexStatsBody `json:"indexes"`
}

// stats answers GET /stats, for the indexes that the caller may use.
func (s *Server) stats(r *call) error {
	b := statsBody{Indexes: make(map[string]indexStatsBody)}
	if s.DatabaseSize != nil {
		size, used := s.DatabaseSize()
		b.DatabaseSize, b.UsedDatabaseSize = &size, &used
	}
	b.VectorMemory, b.MaxVectorMemory = s.Search.VectorMemory()
	for _, st := range s.Search.AllStats(r.caller) {
		b.Indexes[st.UID] = newIndexStats(&st)
		if b.LastUpdate == nil || st.UpdatedAt.After(*b.LastUpdate) {
			b.LastUpdate = new(st.UpdatedAt)
		}
	}
	return ok(r, b)
}
