package request

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/access/limit"
)

// SetLimits says what is left of the limits that are in force, in OpenAI's headers.
func SetLimits(c *fiber.Ctx, s limit.State) {
	setLimit(c, "Requests", s.Requests)
	setLimit(c, "Tokens", s.Tokens)
}

func setLimit(c *fiber.Ctx, of string, w limit.Window) {
	if w.Limit == 0 { // nor is one that was in force of another workspace
		for _, what := range []string{"Limit", "Remaining", "Reset"} {
			c.Response().Header.Del("X-RateLimit-" + what + "-" + of)
		}
		return
	}
	c.Set("X-RateLimit-Limit-"+of, strconv.FormatInt(w.Limit, 10))
	c.Set("X-RateLimit-Remaining-"+of, strconv.FormatInt(w.Remaining, 10))
	c.Set("X-RateLimit-Reset-"+of, w.Reset.Round(time.Millisecond).String())
}
