package request

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/gofiber/fiber/v2"

	"github.com/parley-search/parley/host/internal/base/apierr"
)

// RouteDocs is where a person reads about the API's routes.
const RouteDocs = "https://github.com/parley-search/parley/blob/main/host/docs/reference/routes.md"

// An ErrorBody is the one shape that the API has for errors.
type ErrorBody struct {
	Message string `json:"message"`
	Code    string `json:"code"`
	Type    string `json:"type"`
	Link    string `json:"link"`
	// Error says it again as clients of OpenAI read it: they show nothing else. nil but
	// in answers about chats, which such clients ask for.
	Error *OpenAIError `json:"error,omitempty"`
}

// An OpenAIError is an error as clients of OpenAI read it.
type OpenAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Code    string  `json:"code"`
	Param   *string `json:"param"`
}

// NewErrorBody returns what a client is told of e.
func NewErrorBody(e *apierr.Error) ErrorBody {
	return ErrorBody{Message: e.Message, Code: e.Code.String(), Type: e.Code.Type(), Link: e.Code.Link()}
}

// NewChatErrorBody is NewErrorBody for clients of OpenAI, too.
func NewChatErrorBody(e *apierr.Error) ErrorBody {
	b := NewErrorBody(e)
	b.Error = &OpenAIError{Message: e.Message, Type: b.Type, Code: b.Code}
	if e.Param != "" {
		b.Error.Param = &e.Param
	}
	return b
}

// Unreadable returns the error of a request that is not read, since why.
func Unreadable(why string) *apierr.Error {
	return apierr.Newf(apierr.BadRequest, "The request is not read, since %s.", why)
}

const contentType = "application/json; charset=utf-8"

// Render answers with v as JSON, without escaping what only HTML minds.
func Render(c *fiber.Ctx, status int, v any) error {
	c.Status(status).Set(fiber.HeaderContentType, contentType)
	return write(c.Response().BodyWriter(), v)
}

// write writes v as JSON, without escaping what only HTML minds.
func write(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// WithDocuments answers 200 with v, whose first member is null and takes docs.
func (r *Call) WithDocuments(docs []json.RawMessage, v any) error {
	body, err := AppendDocuments(nil, docs, v)
	if err != nil {
		return err
	}
	return r.WithBody(body)
}

// WithBody answers 200 with a body of JSON, which is the answer's then.
func (r *Call) WithBody(body []byte) error {
	r.Status(fiber.StatusOK).Set(fiber.HeaderContentType, contentType)
	r.Response().SetBodyRaw(body)
	return nil
}

// AppendDocuments appends v as JSON, whose first member is null and takes docs. They are
// written as they are, compact JSON: encoding/json would read each of them again.
// Each is let go once it is written.
func AppendDocuments(dst []byte, docs []json.RawMessage, v any) ([]byte, error) {
	var rest bytes.Buffer
	if err := write(&rest, v); err != nil {
		return nil, err
	}
	size := rest.Len()
	for _, d := range docs {
		size += len(d) + 1
	}
	before, behind, _ := bytes.Cut(rest.Bytes(), []byte(":null"))
	body := append(append(slices.Grow(dst, size), before...), ":["...)
	for i, d := range docs {
		if i > 0 {
			body = append(body, ',')
		}
		body, docs[i] = append(body, d...), nil
	}
	return append(append(body, ']'), behind...), nil
}

// Answer answers with v as JSON.
func (r *Call) Answer(status int, v any) error { return Render(r.Ctx, status, v) }

// OK answers 200 with v.
func (r *Call) OK(v any) error { return r.Answer(fiber.StatusOK, v) }

// Gone answers 204.
func (r *Call) Gone() error {
	r.Status(fiber.StatusNoContent).Response().ResetBody()
	return nil
}

// Encode returns v, of our own types, as JSON.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only our own types of strings get here
	}
	return b
}
