//go:build race || overwrite

package httpapi

import (
	"unsafe"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// overwrite replaces all that was read of a request, once it was answered. The
// server reads the next request into the same memory, so a string that is kept
// without a copy shows parts of that request sooner or later. Here, it shows what
// no test expects at once.
func overwrite(c *fiber.Ctx) {
	path := c.Path() // in a buffer of Fiber, as the parameters of the path are
	scratch(unsafe.Slice(unsafe.StringData(path), len(path)))
	uri, head := c.Request().URI(), &c.Request().Header
	for _, b := range [][]byte{uri.Path(), uri.PathOriginal(), uri.QueryString(), uri.Host(), head.RequestURI(), head.RawHeaders()} {
		scratch(b)
	}
	for name, value := range uri.QueryArgs().All() {
		scratch(name)
		scratch(value)
	}
	for name, value := range head.All() { // names and this value may be constants
		if string(name) != fasthttp.HeaderConnection {
			scratch(value)
		}
	}
}

func scratch(b []byte) {
	if string(b) == "/" { // may be a constant
		return
	}
	for i := range b {
		b[i] = '#'
	}
}
