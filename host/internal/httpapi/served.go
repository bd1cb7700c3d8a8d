package httpapi

import (
	"time"

	"github.com/parley-search/parley/host/internal/chat"
)

// Served is a request that was answered, in figures and names of our own.
type Served struct {
	Method string
	Route  string // its template, as "/indexes/:uid"; [NoRoute] where there is none
	Status int
	Took   time.Duration // until the end of the answer
	// Refused, of a chat that ended before its answer began, is the error's code.
	Refused string
	// Of an answer to a chat: what became of it, and how long its provider's
	// first event took.
	Chat  *chat.Outcome
	First time.Duration
}

// NoRoute is the route of a request that has none: it names what is not there,
// asks what a page may do, or is no HTTP.
const NoRoute = "none"

// otherMethod stands for what no method of HTTP is.
const otherMethod = "other"

// done is the end of a request that was answered and logged: it is traced and
// counted. o is of an answer to a chat.
func (s *Server) done(a *access, o *chat.Outcome) {
	a.endTrace(o)
	if s.Served == nil {
		return
	}
	served := Served{Method: a.method, Route: a.route, Status: a.status, Took: a.took(), Chat: o, First: a.first}
	if a.route == completionsPath && o == nil && a.err != nil {
		served.Refused = a.err.Code.String()
	}
	s.Served(&served)
}
