package httpapi

import (
	"errors"
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
	// Failure, of a chat, is whose failure ended it, before its answer or in it;
	// nil where it was no provider's and no plugin's.
	Failure *chat.Failure
	// Of an answer to a chat: what became of it, and how long its provider's
	// first event and its first word took; 0 where it has no words.
	Chat             *chat.Outcome
	First, FirstWord time.Duration
}

// failureOf is whose failure ended the chat of a request; nil where none did.
func failureOf(a *access) *chat.Failure {
	if a.err == nil {
		return nil
	}
	f, _ := errors.AsType[*chat.Failure](a.err.Err)
	return f
}

// NoRoute is the route of a request that has none: it names what is not there,
// asks what a page may do, or is not HTTP.
const NoRoute = "none"

// otherMethod stands for what no method of HTTP is.
const otherMethod = "other"

// recordServed is the end of a request that was answered and logged: it is traced and
// counted. o is of an answer to a chat.
func (s *Server) recordServed(a *access, o *chat.Outcome) {
	a.endTrace(o)
	failure := failureOf(a)
	if failure != nil {
		s.Log.Warn().Str("request_id", a.id).Str("workspace", failure.Workspace).Str("source", failure.Source).Str("plugin", failure.Plugin).Str("version", failure.PluginVersion).
			Str("kind", failure.Kind).Str("code", a.err.Code.String()).AnErr("cause", failure.Logged()).Msg("chat completion met errors")
		if failure.ProviderCode != "" {
			s.Log.Debug().Str("request_id", a.id).Str("provider_code", failure.ProviderCode).Msg("what the provider called it")
		}
	}
	if s.Served == nil {
		return
	}
	served := Served{Method: a.method, Route: a.route, Status: a.status, Took: a.elapsed(), Chat: o, First: a.first, Failure: failure}
	if a.isChat() && o == nil && a.err != nil {
		served.Refused = a.err.Code.String()
	}
	if o != nil && !o.FirstWord.IsZero() {
		served.FirstWord = o.FirstWord.Sub(a.start)
	}
	s.Served(&served)
}
