package store

import (
	"sync"

	"github.com/parley-search/parley/host/internal/chat/workspace"
)

// maxRead bounds the workspaces that are kept as they were read. A host that
// has more begins anew now and then.
const maxRead = 1000

// A readWorkspaces keeps workspaces as they were read, since every answer asks
// for one: its record is parsed and its key opened once, not for each question.
// Its zero value is empty.
type readWorkspaces struct {
	mu    sync.RWMutex
	byUID map[string]*workspace.Workspace // never changed, only replaced
	gone  uint64                          // how often one was forgotten
}

// get returns a workspace, nil where it is not kept. What is read then may be kept by
// add, which is told gone.
func (r *readWorkspaces) get(uid string) (w *workspace.Workspace, gone uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byUID[uid], r.gone
}

// add keeps w, unless something was forgotten since get returned gone:
// what was read may be older than that.
func (r *readWorkspaces) add(w *workspace.Workspace, gone uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone != gone {
		return
	}
	if r.byUID == nil || len(r.byUID) >= maxRead {
		r.byUID = make(map[string]*workspace.Workspace)
	}
	r.byUID[w.UID] = w
}

// Forget has a workspace read again, after another node wrote it.
func (w *Workspaces) Forget(uid string) { w.read.forget(uid) }

// forget has uid read again. It is called behind each write, whatever came of
// that.
func (r *readWorkspaces) forget(uid string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone++
	delete(r.byUID, uid)
}
