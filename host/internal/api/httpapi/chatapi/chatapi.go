// Package chatapi answers the routes of chats, /chats and /v1: each form in which
// clients ask is a [Parser] and a sink.
package chatapi

import (
	"context"
	"net/netip"

	"github.com/rs/zerolog"

	"github.com/parley-search/parley/host/internal/access/limit"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai/responses"
	"github.com/parley-search/parley/host/internal/chat"
	"github.com/parley-search/parley/host/internal/chat/workspace"
	"github.com/parley-search/parley/host/internal/search"
)

// Deps is what a [Server] works with. All fields but Limiter, Sealer and PublicURL are
// required.
type Deps struct {
	Chat   *chat.Service
	Search *search.Service
	// Limiter bounds and counts what keys and workspaces ask for; nil: there are no limits.
	Limiter *limit.Limiter
	// Responses keeps what clients of /v1 may refer to.
	Responses *responses.Store
	// Sealer seals the reasoning that clients of /v1 keep; nil: they get none.
	Sealer  Sealer
	Answers Answers
	// Feedback keeps what clients think of answers.
	Feedback workspace.Feedbacks
	Log      zerolog.Logger
	// Base is what work for a request runs under.
	Base context.Context
	// Address is the address of a request's client.
	Address func(*request.Call) netip.Addr
	// PublicURL is where clients reach this host, without a slash at the end;
	// empty: as each request says.
	PublicURL string
}

// A Sealer seals what clients keep for this host. Only the same place opens it.
type Sealer interface {
	Seal(text []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// Answers gives answers to clients.
type Answers interface {
	// Stream answers r with a stream of events by q's sink.
	Stream(r *request.Call, q *Question) error
	// Write writes the whole answer to q into w, with the failure that it ended in.
	Write(r *request.Call, q *Question, w chat.Sink) error
	// Try writes the answer to a trial into w, as far as w takes it, and in the time
	// that a trial has. It is not counted among the answers.
	Try(r *request.Call, q *Question, w chat.Sink) (chat.Outcome, error)
}

// A Server answers the routes. Safe for concurrent use.
type Server struct{ Deps }

// URLOf is where the client of r reaches this host, without a slash at the end.
func (s *Server) URLOf(r *request.Call) string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return r.BaseURL() // which it puts together: no part of the request
}
