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
}

func newIndexStats(st *search.Stats) indexStatsBody {
	return indexStatsBody{st.NumberOfDocuments, st.IsIndexing, st.FieldDistribution}
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

// A Plugin is what GET /plugins shows of a loaded plugin.
type Plugin struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Version string       `json:"version"`
	Source  string       `json:"source,omitempty"` // of a provider
	SHA256  string       `json:"sha256"`
	ABI     int          `json:"abi"`
	From    string       `json:"from"` // where the module came from
	Grants  PluginGrants `json:"grants"`
	// State is "ready", or "open" while faults keep calls away.
	State     string           `json:"state"`
	Calls     int64            `json:"calls"`
	Faults    map[string]int64 `json:"faults"` // by kind
	Instances int64            `json:"instances"`
	Memory    int64            `json:"memory"` // bytes
	Fuel      int64            `json:"fuel"`   // spent by all calls, in the meter's units
	Limiter   string           `json:"limiter"`
	Unmetered string           `json:"unmetered,omitempty"` // why it is not the meter that bounds calls
}

// PluginGrants are what a plugin may reach.
type PluginGrants struct {
	HTTP    []string `json:"http"`
	Secrets []string `json:"secrets"`
}

// plugins answers GET /plugins.
func (s *Server) plugins(r *call) error {
	results := []Plugin{}
	if s.Plugins != nil {
		results = append(results, s.Plugins()...)
	}
	return ok(r, list[Plugin]{results, 0, len(results), len(results)})
}
