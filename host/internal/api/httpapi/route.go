package httpapi

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/abi/event"
	"github.com/parley-search/parley/host/internal/access/auth"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/mcp"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/feature"
)

// A route is one row of the API's table: all that this package declares of a
// way into it. The guard, the usage events, the log, routes.md and openapi.json
// read it.
type route struct {
	method string
	path   string // Fiber's pattern, as "/indexes/:uid"
	// id is the operationId in openapi.json; empty for pages and files for people,
	// which are not part of the API.
	id string
	// actions are what the caller's key must allow, all of them. Without one, any
	// valid key will do.
	actions []auth.Action
	public  bool // it asks for no key
	needs   feature.Feature
	query   []string // the parameters that it knows
	dialect dialect
	handle  request.Handler
	// family is the label of [event.Route] that the event http_request has; tell
	// emits the route's own event, nil: it has none.
	family string
	tell   teller
	chats  bool // it answers with a chat
	// progress: where there is a leader its answer is better, since it alone knows
	// how far the batch under way is.
	progress bool
	// loaded: it waits until all plugins run.
	loaded bool
	// reads: it changes nothing, and ends when its client leaves.
	reads bool
	// writes: it changes what all nodes of a cluster share, though none of its actions does.
	writes bool
	// searches: it reads, and counts as a request of keys whose limits say so.
	searches bool
}

// A dialect is a convention about how a route is asked and how it fails.
type dialect int

const (
	native       dialect = iota // this API's own
	openAI                      // OpenAI's: the key may stand in other headers, and unknown query parameters are ignored
	anthropicAPI                // Anthropic's: as openAI, with its errors
	rpc                         // of the Model Context Protocol: as openAI, with errors of JSON-RPC
)

// A call is what handlers of this package answer, and those of the packages
// below it.
type call = request.Call

// name is the route as "GET /path".
func (rt *route) name() string { return rt.method + " " + rt.path }

// eventFamily is the family that usage events count the route among.
func (rt *route) eventFamily() event.Route {
	if rt == nil {
		return event.OrdinalOf[event.Route]("other")
	}
	return event.OrdinalOf[event.Route](rt.family)
}

// addRoute adds a route to the router: the caller is known and allowed, and the
// query parameters are known, before the handler is called.
func (s *Server) addRoute(rt *route) {
	guarded := func(c *fiber.Ctx) error {
		a, _ := accessOf(c)
		a.row, a.route = rt, rt.path
		if err := s.inTime(rt); err != nil {
			return err
		}
		caller, err := s.admitCaller(c, rt)
		if err != nil {
			return err
		}
		r := &call{Ctx: c, ID: a.id, Caller: caller, Limit: s.bodyLimit(rt), Base: s.ctx}
		r.NewSpool = func() request.Spool { return s.Search.NewSpool() }
		if conn, ok := c.Context().Conn().(*conn); ok {
			r.Base, r.Loan = conn.base, conn.loan
		}
		r.CountSearches = func(n int) error { return s.countSearches(r, n) }
		if rt.reads || rt.searches {
			var heard func()
			r.Base, heard = s.whileHeard(r)
			defer heard()
		}
		if rt.dialect == native {
			if r.Query, err = request.ParseQuery(c.Request().URI().QueryArgs(), rt.query); err != nil {
				return err
			}
			if err := s.checkFeature(rt); err != nil {
				return err
			}
		}
		if rt.loaded {
			s.awaitLoaded()
		}
		done, err := s.inCluster(r, rt)
		if done {
			return err
		}
		if rt.searches && err == nil {
			err = r.CountSearches(1)
		}
		if err == nil {
			err = rt.handle(r)
		}
		if err != nil && errors.Is(context.Cause(r.Base), request.ErrClientLeft) {
			err = request.ErrClientLeft // whatever it broke on the way
		}
		if !a.stream {
			s.setSeq(c)
		}
		if rt.tell != nil && s.Telemetry != nil {
			rt.tell(s, r, err)
		}
		return err
	}
	s.app.Add(rt.method, rt.path, guarded)
	if rt.method == fiber.MethodGet {
		s.app.Add(fiber.MethodHead, rt.path, guarded)
	}
}

// reserveWords has a path such as /tasks/cancel refuse the methods that its own
// routes do not take: Fiber would hand them to /tasks/:uid, for which the word is no
// value. The id of a document may be any word.
func (s *Server) reserveWords() {
	taken := map[string][]string{} // methods by path
	for _, rt := range s.table {
		taken[rt.path] = append(taken[rt.path], rt.method)
		if rt.method == fiber.MethodGet {
			taken[rt.path] = append(taken[rt.path], fiber.MethodHead)
		}
	}
	for _, rt := range s.table {
		parent, last := path.Split(rt.path)
		if !strings.HasPrefix(last, ":") || parent == "/indexes/:uid/documents/" {
			continue
		}
		for word, methods := range taken {
			above, name := path.Split(word)
			if above != parent || name == "" || strings.HasPrefix(name, ":") {
				continue
			}
			for _, method := range []string{fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete} {
				if slices.Contains(methods, method) {
					continue
				}
				s.app.Add(method, word, func(c *fiber.Ctx) error {
					c.Set(fiber.HeaderAllow, strings.Join(methods, ", "))
					return fiber.ErrMethodNotAllowed
				})
			}
		}
	}
}

// awaitLoaded returns once all plugins run, or the server ends.
func (s *Server) awaitLoaded() {
	if s.Loaded == nil {
		return
	}
	select {
	case <-s.Loaded:
	case <-s.ctx.Done():
	}
}

// admitCaller returns who sent c, if it may ask rt. In the dialects of others a
// feature that is off is told before who asks.
func (s *Server) admitCaller(c *fiber.Ctx, rt *route) (*auth.Caller, error) {
	if rt.public {
		return nil, nil
	}
	if rt.dialect == native {
		return s.authorize(c, rt.actions)
	}
	if err := s.checkFeature(rt); err != nil {
		return nil, err
	}
	caller, err := s.authenticate(c, bearer(c))
	if err != nil {
		return nil, err
	}
	for _, action := range rt.actions {
		err := caller.Require(action)
		switch {
		case err == nil:
		case rt.dialect == rpc:
			return nil, mcp.Denied(apierr.From(err))
		default:
			return nil, openai.Denied(apierr.From(err).Message)
		}
	}
	return caller, nil
}

// checkFeature returns an error where the feature that rt needs is off.
func (s *Server) checkFeature(rt *route) error {
	if rt.needs == "" {
		return nil
	}
	return s.Features.Require(rt.needs, "")
}

// bearer is what the header Authorization says, or would say of the key in a
// header that other APIs have.
func bearer(c *fiber.Ctx) string {
	if h := c.Get(fiber.HeaderAuthorization); h != "" {
		return h
	}
	for _, name := range []string{"Api-Key", "X-Api-Key"} {
		if key := c.Get(name); key != "" {
			return "Bearer " + key
		}
	}
	return ""
}

// onV1 reports whether a request is for /v1, where there is such a route or not.
func onV1(c *fiber.Ctx) bool {
	return strings.HasPrefix(c.Path(), "/v1/") || c.Path() == "/v1"
}
