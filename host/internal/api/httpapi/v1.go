package httpapi

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/httpapi/request"
	"github.com/parley-search/parley/host/internal/api/openai"
)

// failV1 answers with e.
func failV1(c *fiber.Ctx, e *openai.Error) error {
	if e.Status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	setRetryAfter(c, e.RetryAfter)
	return request.SendJSON(c, e.Status, e.Body())
}

// setProcessing says how long the request took.
func setProcessing(c *fiber.Ctx, a *access) {
	c.Set("OpenAI-Processing-Ms", strconv.FormatInt(a.elapsed().Milliseconds(), 10))
}
