package openai

import (
	"net/http"
	"time"

	"github.com/parley-search/parley/host/internal/base/apierr"
	"github.com/parley-search/parley/host/internal/base/apierr/chaterr"
	"github.com/parley-search/parley/host/internal/base/rawjson"
)

// The types of errors.
const (
	typeRequest   = "invalid_request_error"
	typeRateLimit = "rate_limit_error"
	typeServer    = "api_error"
	typeQuota     = "insufficient_quota" // that clients do not ask again for
)

// An Error is a failure as OpenAI's SDKs read it.
type Error struct {
	Status     int
	Type       string
	Code       string // empty: null
	Param      string // empty: null
	Message    string
	RetryAfter time.Duration // zero: nothing is said of it
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// refuse is the error for a field of a request.
func refuse(code, param, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Type: typeRequest, Code: code, Param: param, Message: message}
}

// wrongType is the error for a field of another type than wanted.
func wrongType(param, want string, got []byte) *Error {
	return refuse("invalid_type", param, "`"+param+"` must be "+want+", not "+rawjson.KindOf(got)+".")
}

// Denied is the error for a key that lacks an action.
func Denied(message string) *Error {
	return &Error{Status: http.StatusForbidden, Type: typeRequest, Code: "insufficient_permissions", Message: message}
}

// known are the codes that have other words or another status here. What is
// empty is as it is there.
var known = map[apierr.Code]Error{
	apierr.MissingAuthorizationHeader: {Status: http.StatusUnauthorized, Code: "-"},
	apierr.InvalidAPIKey:              {Status: http.StatusUnauthorized},
	apierr.NotFound:                   {Code: "unknown_url"},
	apierr.BadRequest:                 {Code: "invalid_value"},
	chaterr.ChatNotFound:              {Code: "model_not_found"},
	chaterr.InvalidChatModel:          {Status: http.StatusNotFound, Code: "model_not_found"},
	apierr.FeatureNotEnabled:          {Status: http.StatusNotFound},
	chaterr.UnimplementedNonStreaming: {Status: http.StatusBadRequest, Code: "unsupported_value"},
	chaterr.UnimplementedMultiChoice:  {Status: http.StatusBadRequest, Code: "unsupported_value"},
	chaterr.MissingChatAPIKey:         {Type: typeServer},
	chaterr.LLMProviderRateLimited:    {Type: typeRateLimit, Code: "rate_limit_exceeded"},
	apierr.TooManyRequests:            {Type: typeRateLimit, Code: "rate_limit_exceeded"},
	apierr.TokenBudgetSpent:           {Type: typeQuota, Code: typeQuota},
	chaterr.ChatProviderUnavailable:   {RetryAfter: 30 * time.Second},
	apierr.ShuttingDown:               {RetryAfter: 5 * time.Second},
}

// FromError returns e in OpenAI's words.
func FromError(e *apierr.Error) *Error {
	out := known[e.Code]
	out.Message, out.Param = e.Message, e.Param
	if e.Code == apierr.InvalidAPIKey {
		// LiteLLM knows a wrong key by these words alone.
		out.Message = "Incorrect API key provided. " + e.Message
	}
	if out.Status == 0 {
		out.Status = e.Code.Status()
	}
	switch out.Code {
	case "":
		out.Code = e.Code.String()
	case "-":
		out.Code = ""
	}
	if e.Reason != "" {
		out.Code = e.Reason
	}
	if out.Code == typeQuota {
		out.Type = typeQuota
	}
	if out.Type == "" {
		out.Type = typeRequest
		if out.Status >= http.StatusInternalServerError {
			out.Type = typeServer
		}
	}
	if e.RetryAfter > 0 {
		out.RetryAfter = e.RetryAfter
	}
	return &out
}

type errorBody struct {
	Error errorFields `json:"error"`
}

type errorFields struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Body is the body of e's answer.
func (e *Error) Body() []byte {
	return encode(errorBody{errorFields{e.Message, e.Type, orNull(e.Param), orNull(e.Code)}})
}

// Frames are the last frames of a stream that ends in e.
func (e *Error) Frames() []byte {
	b := append([]byte("data: "), e.Body()...)
	return append(b, "\n\ndata: [DONE]\n\n"...)
}
