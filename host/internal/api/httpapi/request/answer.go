package request

import (
	"bytes"
	"encoding/json"
	"io"

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

// Unreadable returns the error of a request that cannot be read; why is the reason.
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

// A Documents is an answer that documents are written into as they are found, packed at
// once as the client takes it. Nothing is sent before End: an error until then is the answer
// in its place.
type Documents struct {
	call *Call
	out  *packed
	some bool // documents of the list under way

	between, kind string // documents; the content type
}

// NewDocuments begins an answer by text, whose last byte opens a list: `{"hits":[`.
func (r *Call) NewDocuments(text string) *Documents {
	d := &Documents{call: r, out: pack(r.Get(fiber.HeaderAcceptEncoding)), between: ",", kind: contentType}
	d.out.writeText(text)
	return d
}

// NewLines begins an answer of documents alone, a line each.
func (r *Call) NewLines() *Documents {
	d := r.NewDocuments("")
	d.between, d.kind = "\n", MIMENDJSON
	return d
}

// Add adds a document, an object, with further members. They are written as they are,
// compact JSON: encoding/json would read each of them again.
func (d *Documents) Add(doc []byte, more ...Member) {
	if d.some {
		d.out.writeText(d.between)
	}
	d.some = true
	if len(more) == 0 {
		d.out.write(doc)
		return
	}
	end := bytes.LastIndexByte(doc, '}')
	inner := bytes.TrimRight(doc[:end], " \n\t\r")
	d.out.write(inner)
	for i, m := range more {
		if i > 0 || inner[len(inner)-1] != '{' {
			d.out.writeText(",")
		}
		d.out.writeText(`"` + m.Name + `":`)
		d.out.write(m.Value)
	}
	d.out.writeText("}")
}

// A Member is one of an object in JSON. Its name needs no escapes.
type Member struct {
	Name  string
	Value []byte
}

// CloseList ends the list of v, which is its first member that is null, and writes the
// members behind it.
func (d *Documents) CloseList(v any) error {
	var rest bytes.Buffer
	if err := write(&rest, v); err != nil {
		return err
	}
	_, behind, _ := bytes.Cut(bytes.TrimSuffix(rest.Bytes(), []byte("\n")), []byte(":null"))
	d.out.writeText("]")
	d.out.write(behind)
	d.some = false
	return nil
}

// Continue writes text between two lists, as NewDocuments does.
func (d *Documents) Continue(text string) { d.out.writeText(text) }

// End answers 200.
func (d *Documents) End() error {
	d.out.writeText("\n")
	d.call.Status(fiber.StatusOK).Set(fiber.HeaderContentType, d.kind)
	d.out.send(d.call.Ctx)
	return nil
}

// Answer answers with v as JSON.
func (r *Call) Answer(status int, v any) error { return Render(r.Ctx, status, v) }

// JSON answers with a body that is JSON already.
func (r *Call) JSON(body []byte) error { return SendJSON(r.Ctx, fiber.StatusOK, body) }

// SendJSON answers c with a body that is JSON already.
func SendJSON(c *fiber.Ctx, status int, body []byte) error {
	c.Status(status).Set(fiber.HeaderContentType, "application/json; charset=utf-8")
	return c.Send(body)
}

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
