package httpapi

import (
	"encoding/json"

	"github.com/parley-search/parley/host/internal/task"
)

// createDump answers POST /dumps.
func (s *Server) createDump(r *call) error {
	return s.enqueue(r, task.New{Type: task.DumpCreation, Details: json.RawMessage(`{"dumpUid":null}`)})
}

// createSnapshot answers POST /snapshots.
func (s *Server) createSnapshot(r *call) error {
	return s.enqueue(r, task.New{Type: task.SnapshotCreation})
}
