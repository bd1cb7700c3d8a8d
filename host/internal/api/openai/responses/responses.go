// Package responses keeps the responses of /v1/responses for a while, so that
// clients can refer to them: in memory, sealed, and each for its caller alone.
package responses

import (
	"cmp"
	"container/list"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// A Record is a response with its part of a conversation.
type Record struct {
	ID       string            `json:"id"`
	Previous string            `json:"previous"` // id of the one before it; empty: none
	Body     json.RawMessage   `json:"body"`     // as GET returns it
	Input    []json.RawMessage `json:"input"`    // items of the request alone
	Output   []json.RawMessage `json:"output"`
	ItemIDs  []string          `json:"itemIds"` // of Output
	State    string            `json:"-"`       // sealed, that belongs to the item StateOf; empty: none
	StateOf  string            `json:"-"`
	Key      string            `json:"-"` // uid of the API key whose owners share what they keep; empty: none
}

// Options of [New].
type Options struct {
	TTL      time.Duration // since a response was last used; 0: none is kept
	MaxBytes int64         // of all responses, sealed; default 64 MiB
	Now      func() time.Time
}

// A Store keeps records. Safe for concurrent use. What has expired is forgotten
// with the next call. Where there is no room for another record, the key that keeps
// most loses the oldest record of that owner of its that keeps most, so that those
// who keep little do not lose it to those who keep much.
type Store struct {
	options Options
	seal    cipher.AEAD

	mu    sync.Mutex
	byID  map[string]*list.Element
	items map[string]string // id of an item of an output → id of its response
	order *list.List        // of *entry, the one that was not used for longest first
	kept  share             // by keys, and of each by owners
}

type entry struct {
	id, owner, previous string
	path                [2]string // in kept
	items               []string
	state, stateOf      string // of an item
	sealed              []byte
	until               time.Time
	at                  *list.Element // in the order of its owner
}

// overhead is about what an entry takes beside its sealed bytes.
const overhead = 512

// New returns an empty Store. Its key is made here, and lost with the process.
func New(o Options) *Store {
	o.MaxBytes = cmp.Or(o.MaxBytes, 64<<20)
	if o.Now == nil {
		o.Now = time.Now
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key's length is right
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return &Store{options: o, seal: seal, byID: map[string]*list.Element{}, items: map[string]string{}, order: list.New(), kept: newShare()}
}

// Keeps reports whether anything is kept.
func (s *Store) Keeps() bool { return s.options.TTL > 0 }

// Put keeps r for owner. One that is too large is not kept.
func (s *Store) Put(owner string, r *Record) error {
	if !s.Keeps() {
		return nil
	}
	plain, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode response: %w", err)
	}
	e := &entry{id: r.ID, owner: owner, previous: r.Previous, path: [2]string{r.Key, owner}, items: r.ItemIDs, state: r.State, stateOf: r.StateOf, until: s.options.Now().Add(s.options.TTL)}
	e.sealed = s.seal.Seal(nil, nil, plain, e.place())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if e.bytes() > s.options.MaxBytes {
		return nil
	}
	for s.kept.bytes+e.bytes() > s.options.MaxBytes {
		oldest := s.kept.largest().largest().order.Front()
		s.remove(s.byID[oldest.Value.(*entry).id])
	}
	s.byID[e.id] = s.order.PushBack(e)
	e.at = s.orderOf(e).PushBack(e)
	s.kept.add(e.path[:], e.bytes())
	for _, id := range e.items {
		s.items[id] = e.id
	}
	return nil
}

// place binds a sealed record to its id and its owner.
func (e *entry) place() []byte { return []byte(e.id + "\x00" + e.owner) }

func (e *entry) bytes() int64 { return int64(len(e.sealed) + len(e.state) + overhead) }

// Get returns the record called id, or false where owner has none.
func (s *Store) Get(owner, id string) (*Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	return s.open(owner, id)
}

// Item returns the item of an output called id, or false where owner has none.
func (s *Store) Item(owner, id string) (json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	r, ok := s.open(owner, s.items[id])
	if !ok {
		return nil, false
	}
	for i, itemID := range r.ItemIDs {
		if itemID == id {
			return r.Output[i], true
		}
	}
	return nil, false
}

// State returns the state of the item called id, empty where owner has none.
func (s *Store) State(owner, id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	if at := s.byID[s.items[id]]; at != nil {
		if e := at.Value.(*entry); e.owner == owner && e.stateOf == id {
			return e.state
		}
	}
	return ""
}

// History returns the items of the conversation that ends with the response
// called id, oldest first, or false where a part of it is gone. All of them are
// kept anew from now on.
func (s *Store) History(owner, id string) (items []json.RawMessage, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	chain, ok := s.chain(owner, id)
	if !ok {
		return nil, false
	}
	for i := len(chain) - 1; i >= 0; i-- {
		items = append(append(items, chain[i].Input...), chain[i].Output...)
		s.use(s.byID[chain[i].ID])
	}
	return items, true
}

// Input returns the items that the response called id was made from, oldest first:
// those of its conversation that are kept, and its own. It returns false where
// owner has no such response.
func (s *Store) Input(owner, id string) (items []json.RawMessage, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	chain, _ := s.chain(owner, id)
	if len(chain) == 0 {
		return nil, false
	}
	for i := len(chain) - 1; i > 0; i-- {
		items = append(append(items, chain[i].Input...), chain[i].Output...)
	}
	return append(items, chain[0].Input...), true
}

// chain returns the record called id and those before it, newest first, and whether
// all of them are there.
func (s *Store) chain(owner, id string) (chain []*Record, whole bool) {
	for id != "" {
		r, ok := s.open(owner, id)
		if !ok {
			return chain, false
		}
		chain = append(chain, r)
		id = r.Previous
	}
	return chain, true
}

// Delete forgets the record called id, and reports whether owner had it.
func (s *Store) Delete(owner, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire()
	at := s.byID[id]
	if at == nil || at.Value.(*entry).owner != owner {
		return false
	}
	s.remove(at)
	return true
}

// open unseals a record of owner. s.mu is held, as in all that follow.
func (s *Store) open(owner, id string) (*Record, bool) {
	at := s.byID[id]
	if at == nil || at.Value.(*entry).owner != owner {
		return nil, false
	}
	e := at.Value.(*entry)
	plain, err := s.seal.Open(nil, nil, e.sealed, e.place())
	if err != nil {
		return nil, false
	}
	var r Record
	if err := json.Unmarshal(plain, &r); err != nil {
		return nil, false
	}
	return &r, true
}

// use keeps an entry anew.
func (s *Store) use(at *list.Element) {
	e := at.Value.(*entry)
	e.until = s.options.Now().Add(s.options.TTL)
	s.order.MoveToBack(at)
	s.orderOf(e).MoveToBack(e.at)
}

// expire forgets what is over.
func (s *Store) expire() {
	for now := s.options.Now(); s.order.Len() > 0 && !now.Before(s.order.Front().Value.(*entry).until); {
		s.remove(s.order.Front())
	}
}

func (s *Store) remove(at *list.Element) {
	e := s.order.Remove(at).(*entry)
	delete(s.byID, e.id)
	for _, id := range e.items {
		delete(s.items, id)
	}
	s.orderOf(e).Remove(e.at)
	s.kept.add(e.path[:], -e.bytes())
}

// orderOf is the order of what e's owner keeps.
func (s *Store) orderOf(e *entry) *list.List { return s.kept.of(e.path[0]).of(e.path[1]).order }
