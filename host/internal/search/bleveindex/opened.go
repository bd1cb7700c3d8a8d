package bleveindex

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/blevesearch/bleve/v2"
)

// Opened bounds how many folders are open: each holds a descriptor for its list of segments and
// one for each segment, mapped memory and three goroutines. Those not used for longest are closed,
// and opened again by their next use. Safe for concurrent use.
type Opened struct {
	mu      sync.Mutex
	most    int
	order   *list.List // of *Folder that are open, the one used last in front
	columns *ColumnCache
}

// NewOpened returns a bound of most folders. columns forgets those that are closed.
func NewOpened(most int, columns *ColumnCache) *Opened {
	return &Opened{most: most, order: list.New(), columns: columns}
}

// Add has f among those that are closed while they are not used.
func (o *Opened) Add(f *Folder) {
	f.opened.Store(o)
	o.touch(f)
}

// touch makes f the one used last, and closes what is too many.
func (o *Opened) touch(f *Folder) {
	var old []*Folder
	o.mu.Lock()
	if f.place != nil {
		o.order.MoveToFront(f.place)
	} else {
		f.place = o.order.PushFront(f)
	}
	for o.order.Len() > o.most {
		g := o.order.Remove(o.order.Back()).(*Folder)
		g.place = nil
		old = append(old, g)
	}
	o.mu.Unlock()
	for _, g := range old {
		g.rest(o.columns)
	}
}

func (o *Opened) forget(f *Folder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f.place != nil {
		o.order.Remove(f.place)
		f.place = nil
	}
}

// ErrUnreadable says that a folder that was closed meanwhile cannot be opened again.
var ErrUnreadable = errors.New("the index folder cannot be opened again")

// hold returns what f keeps, opened where it is closed. It stays open until letGo is called.
func (f *Folder) hold() (idx bleve.Index, letGo func(), err error) {
	f.using.Lock()
	defer f.using.Unlock()
	if f.idx == nil {
		if f.idx, err = openBleve(f.dir); errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return nil, nil, err // which is no damage
		} else if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
	}
	f.users++
	return f.idx, f.letGo, nil
}

func (f *Folder) letGo() {
	f.using.Lock()
	f.users--
	idle := f.users == 0 && f.idx != nil
	f.using.Unlock()
	if o := f.opened.Load(); o != nil && idle {
		o.touch(f)
	}
}

// rest closes f where nobody uses it. Numbers of segments may be given again after: what was
// made of them is forgotten.
func (f *Folder) rest(columns *ColumnCache) {
	f.using.Lock()
	defer f.using.Unlock()
	if f.users > 0 || f.idx == nil {
		return // its last user notes it again
	}
	f.bytes, f.usedBytes = f.size()
	_ = f.idx.Close() // all of it is on disk
	f.idx = nil
	columns.Forget(f.Name())
}

// closeNow closes f for good.
func (f *Folder) closeNow() error {
	if o := f.opened.Load(); o != nil {
		o.forget(f)
	}
	f.using.Lock()
	defer f.using.Unlock()
	if f.idx == nil {
		return nil
	}
	err := f.idx.Close()
	f.idx = nil
	return err
}
