// Package api is the wing of what clients speak: it reads requests, calls the
// domain, and writes answers and errors.
//
//   - httpapi: the server, the table of routes and the handlers; request is one
//     request and its answer.
//   - openai, anthropic, uistream, mcp: the formats of clients, without HTTP.
//   - console, reference: the pages for people.
//
// Only host and setup import it. Start at routes.go in httpapi.
package api
