package transport

import (
	"crypto/rand"
	"crypto/tls"
	"sync"
)

// maxSessions bounds what is remembered; the oldest is forgotten first.
const maxSessions = 256

// sessions are what clients may resume, kept here: a client is given a number
// in place of a ticket. Its zero value is ready.
type sessions struct {
	mu    sync.Mutex
	kept  map[string][]byte // what [tls.SessionState.Bytes] gave
	order []string          // the oldest first
}

func (s *sessions) wrap(_ tls.ConnectionState, state *tls.SessionState) ([]byte, error) {
	b, err := state.Bytes()
	if err != nil {
		return nil, err
	}
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = make(map[string][]byte, maxSessions)
	}
	if len(s.order) == maxSessions {
		delete(s.kept, s.order[0])
		s.order = s.order[:copy(s.order, s.order[1:])]
	}
	s.kept[id] = b
	s.order = append(s.order, id)
	return []byte(id), nil
}

// unwrap returns nil for a session that is not known: the handshake is then a
// whole one.
func (s *sessions) unwrap(id []byte, _ tls.ConnectionState) (*tls.SessionState, error) {
	s.mu.Lock()
	b, ok := s.kept[string(id)]
	s.mu.Unlock()
	if !ok {
		return nil, nil
	}
	return tls.ParseSessionState(b)
}
