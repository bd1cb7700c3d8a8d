package index

import (
	"sync"

	"github.com/parley-search/parley/host/internal/search/bleveindex"
)

// A derived keeps what was worked out of one state of an index, by key.
type derived struct {
	mu     sync.Mutex
	folder *bleveindex.Folder
	next   uint32
	byKey  map[string]any
}

// maxDerived bounds the values of a derived.
const maxDerived = 64

// Derive returns what work makes of st, a state of ix. It is kept under key until
// the index changes.
func Derive[T any](ix *Index, st *State, key string, work func() (T, error)) (T, error) {
	d := &ix.derived
	d.mu.Lock()
	if d.folder != st.Folder || d.next != st.Meta.Next || len(d.byKey) >= maxDerived {
		d.folder, d.next, d.byKey = st.Folder, st.Meta.Next, map[string]any{}
	}
	kept, ok := d.byKey[key]
	d.mu.Unlock()
	if ok {
		return kept.(T), nil
	}
	value, err := work()
	if err != nil {
		return value, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// Only where nothing changed meanwhile: the record is ahead of the folder
	// while a task is being applied.
	if d.folder == st.Folder && d.next == st.Meta.Next && ix.state.Load() == st && st.Folder.Next.Load() == st.Meta.Next {
		d.byKey[key] = value
	}
	return value, nil
}
