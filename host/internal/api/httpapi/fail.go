package httpapi

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/mcp"
	"github.com/parley-search/parley/host/internal/api/openai"
	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
)

// renderError renders whatever a handler returned. It logs what is ours.
func (s *Server) renderError(c *fiber.Ctx, err error) error {
	a, read := accessOf(c)
	if !read {
		c.Set(fiber.HeaderXRequestID, a.id)
		hangUpAfter(c.Context())
		defer s.recordUnread(c, a)
	}
	if errors.Is(err, request.ErrClientLeft) {
		c.Status(statusClientLeft)
		return nil
	}
	if refused, ok := errors.AsType[*mcp.Error](err); ok {
		a.err = &apierr.Error{Code: apierr.BadRequest, Message: refused.Message}
		if refused.Status == fiber.StatusForbidden {
			a.err.Code = apierr.InvalidAPIKey
		}
		return failMCP(c, refused)
	}
	if conventional, ok := errors.AsType[*openai.Error](err); ok {
		a.err = &apierr.Error{Code: apierr.BadRequest, Message: conventional.Message}
		if conventional.Status == fiber.StatusForbidden {
			a.err.Code = apierr.InvalidAPIKey
		}
		if onMessages(c) {
			return failMessages(c, conventional)
		}
		return failV1(c, conventional)
	}
	e := translate(c, err)
	if e.Code == apierr.Internal && s.ctx.Err() != nil {
		e = shuttingDown() // what it needed has ended
	}
	a.err = e
	if e.Code == apierr.Internal {
		s.Log.Error().Err(err).Str("request_id", a.id).Msg("request failed")
	}
	if inVain(e) {
		c.Set(headerShouldRetry, "false")
	}
	if onMessages(c) {
		return failMessages(c, openai.FromError(e))
	}
	if onV1(c) {
		return failV1(c, openai.FromError(e))
	}
	if c.Path() == mcpPath {
		setRetryAfter(c, e.RetryAfter)
		return failMCP(c, mcp.FromError(e))
	}
	if e.Code.Type() == apierr.TypeAuth && e.Code.Status() == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	setRetryAfter(c, e.RetryAfter)
	body := request.NewErrorBody(e)
	if strings.HasPrefix(c.Path(), "/chats") {
		body = request.NewChatErrorBody(e)
	}
	return request.Render(c, e.Code.Status(), body)
}

// setRetryAfter says when it is worth asking again; 0: nothing is said of that.
func setRetryAfter(c *fiber.Ctx, after time.Duration) {
	if after > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(after.Seconds()))))
		c.Set("Retry-After-Ms", strconv.FormatInt(after.Milliseconds(), 10))
	}
}

// statusClientLeft is in the log in place of the status of an answer that nobody was
// there to read.
const statusClientLeft = 499

// headerShouldRetry tells OpenAI's SDKs what to make of a status.
const headerShouldRetry = "X-Should-Retry"

// inVain reports whether a request that met e would meet it again, though its
// status does not say so.
func inVain(e *apierr.Error) bool {
	if e.Reason == "insufficient_quota" {
		return true
	}
	switch e.Code {
	case apierr.TokenBudgetSpent, chaterr.UnimplementedNonStreaming, chaterr.UnimplementedMultiChoice, chaterr.LLMProviderUnauthorized, chaterr.MissingChatAPIKey, chaterr.ChatTooManyRounds:
		return true
	}
	return false
}

// translate returns err as a client may see it. Fiber has errors of its own,
// for what never reached a handler.
func translate(c *fiber.Ctx, err error) *apierr.Error {
	f, ok := errors.AsType[*fiber.Error](err)
	if !ok {
		return apierr.From(ofCluster(err))
	}
	switch f.Code {
	case fiber.StatusNotFound:
		if strings.HasPrefix(c.Path(), "/v1/conversations") {
			return apierr.Newf(apierr.NotFound, "Conversations as objects are not kept here, so that there is no route %.200q: name the response before in `previous_response_id` of POST /v1/responses, or send the whole conversation in `input`.", c.Path())
		}
		return apierr.Newf(apierr.NotFound, "There is no route %.200q: %s lists those there are.", c.Path(), request.RouteDocs)
	case fiber.StatusMethodNotAllowed, fiber.StatusNotImplemented:
		return apierr.Newf(apierr.MethodNotAllowed, "The route %.200q does not take %.20s: it takes %s.", c.Path(), c.Method(), c.GetRespHeader(fiber.HeaderAllow, "other methods"))
	case fiber.StatusRequestEntityTooLarge:
		return apierr.Newf(apierr.PayloadTooLarge, "The request is too large.")
	case fiber.StatusRequestHeaderFieldsTooLarge:
		return apierr.Newf(apierr.HeadersTooLarge, "The request's headers are too large: at most %d bytes.", maxHead)
	case fiber.StatusRequestTimeout:
		return apierr.Newf(apierr.RequestTimeout, "The request did not arrive in time: send it again.")
	default:
		if conn, ok := c.Context().Conn().(*conn); ok {
			if why := conn.Malformed(); why != "" {
				return request.Unreadable(string(why))
			}
		}
		return &apierr.Error{Code: apierr.BadRequest, Message: "The request is not HTTP that this host reads.", Err: err}
	}
}
