package httpapi

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/console"
	"github.com/parley-search/parley/host/internal/base/apierr"
)

// redirectConsole leads a browser to the console, or to what says that it is off.
func redirectConsole(c *call) error {
	if !strings.Contains(c.Get(fiber.HeaderAccept), "text/html") {
		return fiber.ErrNotFound
	}
	return c.Redirect("/console/", fiber.StatusFound)
}

// noConsole says why there is no console.
func noConsole(*call) error {
	return apierr.Newf(apierr.NotFound, "The console is off, as it is in production: --console=on, or console = \"on\" in the configuration file, serves it.")
}

// consoleFile serves a file of the console.
func (s *Server) consoleFile(c *call) error {
	if c.Path() == "/console" {
		return c.Redirect("/console/", fiber.StatusFound)
	}
	name := c.Params("file")
	if name == "" {
		name = "index.html"
	}
	f, ok := s.consoleFiles[name]
	if !ok {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentSecurityPolicy, console.Policy)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set(fiber.HeaderETag, f.ETag)
	if c.Get(fiber.HeaderIfNoneMatch) == f.ETag {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, f.Type)
	return c.Send(f.Body)
}
