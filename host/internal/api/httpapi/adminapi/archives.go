package adminapi

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/task"
)

// CreateDump answers POST /dumps.
func (s *Server) CreateDump(r *request.Call) error {
	return s.Tasks.Enqueue(r, task.New{Type: task.DumpCreation, Details: json.RawMessage(`{"dumpUid":null}`)})
}

// CreateSnapshot answers POST /snapshots.
func (s *Server) CreateSnapshot(r *request.Call) error {
	return s.Tasks.Enqueue(r, task.New{Type: task.SnapshotCreation})
}
