package httpapi

import (
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// answerExpect says whether a client that asks first (Expect: 100-continue) is to send its body:
// not where its key or the body's length is refused, which it learns without having sent it.
// fasthttp sends what is in the response then.
func (s *Server) answerExpect(ctx *fasthttp.RequestCtx) int {
	if checkHead(&ctx.Request) != "" {
		return fasthttp.StatusContinue // screenHeads answers
	}
	c := s.app.AcquireCtx(ctx)
	defer s.app.ReleaseCtx(c)
	for _, rt := range s.table {
		if rt.method != c.Method() || !fiber.RoutePatternMatch(c.Path(), rt.path, fiber.Config{CaseSensitive: true}) {
			continue
		}
		_, err := s.admitCaller(c, rt)
		if err == nil {
			err = s.bodyLimit(rt).Check(int64(ctx.Request.Header.ContentLength()))
		}
		if err == nil {
			break
		}
		if err := s.renderError(c, err); err != nil {
			return fasthttp.StatusExpectationFailed
		}
		return ctx.Response.StatusCode()
	}
	return fasthttp.StatusContinue
}
