// Package apierr defines the errors that an API client sees.
//
// Any error that is not an [Error] is ours, not the client's: the HTTP layer
// logs it whole and answers [Internal], so that no path, key or upstream body
// leaks by accident.
package apierr

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// The values of an error body's type.
const (
	TypeInvalidRequest = "invalid_request"
	TypeAuth           = "auth"
	TypeInternal       = "internal"
	TypeSystem         = "system"
)

// Docs is where codes are explained; the name of one follows.
const Docs = "https://github.com/parley-search/parley/blob/main/host/docs/reference/errors.md#error-"

// A Code names one failure, for programs to switch on. Codes are part of the
// HTTP API: never rename or reuse one.
type Code struct {
	name   string
	status int
	typ    string
}

// String is the code's name on the wire.
func (c Code) String() string { return c.name }

// Status is the code's HTTP status.
func (c Code) Status() int { return c.status }

// Type is the value of the error body's type.
func (c Code) Type() string { return c.typ }

// Link returns where a person reads what the code means.
func (c Code) Link() string { return Docs + c.name }

// NewCode returns a code, to be declared once, in this package or one below it.
func NewCode(name string, status int, typ string) Code { return Code{name, status, typ} }

// Invalid returns the code of a request that is at fault.
func Invalid(name string, status int) Code { return NewCode(name, status, TypeInvalidRequest) }

// InvalidField returns the code of a request with a fault in one field or
// parameter.
func InvalidField(name string) Code { return Invalid(name, http.StatusBadRequest) }

// An Error is a failure that is safe to show to the client.
type Error struct {
	Code    Code
	Message string // a sentence for a person; says what to do where we know
	Err     error  // the cause, for our log alone; may be nil
	// Param is the path of the field at fault; empty where there is none, or
	// Message alone names it.
	Param string
	// Reason says more than Code, in the words of OpenAI's codes; empty where
	// there is nothing more.
	Reason string
	// RetryAfter, where positive, becomes the header of that name.
	RetryAfter time.Duration
}

// Error implements error. It shows the cause: log it, don't answer with it.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Newf makes an Error without a cause.
func Newf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// From returns the Error in err's chain, or one of code [Internal] that says
// nothing of err. It returns nil for nil.
func From(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Message: "The host had an internal error; its log has the details.", Err: err}
}

// Is reports whether err is an Error of code c.
func Is(err error, c Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == c
}
