package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/api/reference"
)

// openAPIFile is the API's description. TestOpenAPI writes it.
//
//go:embed openapi.json
var openAPIFile []byte

// openAPI returns the description, with the version of this host, and its ETag.
func (s *Server) openAPI() (text []byte, tag string) {
	s.describe.Do(func() {
		s.description = bytes.Replace(openAPIFile, []byte(`"version": "1"`), []byte(`"version": "`+s.Version.Version+`"`), 1)
		s.descriptionTag = etag(s.description)
	})
	return s.description, s.descriptionTag
}

// A describer makes what is served of the description once it is asked for.
type describer struct {
	describe       sync.Once
	description    []byte
	descriptionTag string

	render  sync.Once
	page    []byte
	pageTag string
	pageErr error
}

// etag is the ETag of a body.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// getOpenAPI answers GET /openapi.json.
func (s *Server) getOpenAPI(r *call) error {
	text, tag := s.openAPI()
	return sendTagged(r.Ctx, "application/json; charset=utf-8", tag, text)
}

// getDocs answers GET /docs and GET /docs/style.css: the description as a page
// for people.
func (s *Server) getDocs(r *call) error {
	s.render.Do(func() {
		text, _ := s.openAPI()
		s.page, s.pageErr = reference.Page(text)
		s.pageTag = etag(s.page)
	})
	r.Set(fiber.HeaderContentSecurityPolicy, reference.Policy)
	r.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	r.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	r.Set("Cross-Origin-Opener-Policy", "same-origin")
	switch {
	case r.Params("file") == "style.css":
		return sendTagged(r.Ctx, "text/css; charset=utf-8", etag(reference.Style), reference.Style)
	case r.Params("file") != "":
		return fiber.ErrNotFound
	case s.pageErr != nil:
		return s.pageErr
	}
	return sendTagged(r.Ctx, "text/html; charset=utf-8", s.pageTag, s.page)
}

// sendTagged answers with a body, or with 304 where the client has it.
func sendTagged(c *fiber.Ctx, kind, tag string, body []byte) error {
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set(fiber.HeaderETag, tag)
	if c.Get(fiber.HeaderIfNoneMatch) == tag {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, kind)
	return c.Send(body)
}
