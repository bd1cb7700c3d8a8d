package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/anthropic"
	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
)

// messagesPath is the route of Anthropic's API, whose errors have a form of their own.
const messagesPath = "/v1/messages"

// onMessages reports whether a request is for Anthropic's API.
func onMessages(c *fiber.Ctx) bool {
	return c.Path() == messagesPath || strings.HasPrefix(c.Path(), messagesPath+"/")
}

// failMessages answers with e in the form of Anthropic's API.
func failMessages(c *fiber.Ctx, e *openai.Error) error {
	a, _ := accessOf(c)
	setRetryAfter(c, e.RetryAfter)
	c.Set("Request-Id", a.id)
	return request.SendJSON(c, e.Status, anthropic.ErrorBody(e.Status, e.Message, a.id))
}
