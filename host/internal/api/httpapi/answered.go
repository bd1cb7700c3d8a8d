package httpapi

import (
	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/chat"
)

// endAnswer is the end of an answer that had begun: it is told, logged and
// counted.
func (s *Server) endAnswer(a *access, o chat.Outcome) {
	s.tellChat(a, o)
	s.logAnswer(a, o)
	s.recordServed(a, &o)
}

// logAnswer writes the lines of an answer that has ended.
func (s *Server) logAnswer(a *access, o chat.Outcome) {
	if o.SearchErr != nil {
		s.Log.Warn().Str("request_id", a.id).AnErr("search", o.SearchErr).Msg("chat completion met errors")
	}
	if len(o.FellBack) > 0 {
		var from []string
		for _, f := range o.FellBack {
			from = append(from, f.From+": "+f.Code)
		}
		s.Log.Warn().Str("request_id", a.id).Strs("instead_of", from).Str("workspace", o.Workspace).Msg("another workspace answered")
	}
	if len(o.Lost) > 0 {
		s.Log.Debug().Str("request_id", a.id).Str("workspace", o.Workspace).Strs("lost", o.Lost).Msg("workspace's rules changed a request")
	}
	a.err = o.Err
	s.logAccess(a, func(e *zerolog.Event) {
		e.Str("source", o.Source).Str("plugin", o.Plugin+" "+o.PluginVersion).Int("rounds", o.Rounds).
			Int("searches", o.Searches).Int("chunks", o.Chunks).Str("finish", o.Finish)
		if o.Cancelled {
			e.Bool("cancelled", true)
		}
	})
}
